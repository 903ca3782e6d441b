"""usage: prepare_engines.py DIR REF-DIR LABELS OUT ENGINE …

Converts the output of commercial engines for the test calls (DIR/output/ENGINE/*.nlp). For each engine, OUT/ENGINE is a
data directory with the engine's words and punctuation, and with pauses that are computed from its word times.
OUT/ENGINE_words contains the same words and pauses without the punctuation. Calls that are not in the data directory
REF-DIR are left out, and their names are printed. All words are in spoken form, as in the references.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from nlp import call_files, listed, percents, read_nlp, to_call, utterances

from punc.base.errors import InputError
from punc.bin.script import run_script
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import LabelSet


def prepare(directory: Path, reference: Path, labels: LabelSet, out: Path, engines: Sequence[str]) -> None:
    """Write the sets. Raises InputError if an engine's transcript is missing for a call in `reference`."""
    wanted = [stream for stream, _ in DataDir(reference).streams()]
    for engine in engines:
        files = call_files(directory / "output" / engine)
        extra, missing = [c for c in files if c not in wanted], [c for c in wanted if c not in files]
        if missing:
            raise InputError(f"no transcript of {len(missing)} calls of the test: {listed(missing)}",
                             "leave the engine out, or get its complete output", directory / "output" / engine)
        if extra:
            print(f"{engine}: no reference of {len(extra)} calls, left out: {listed(extra)}", file=sys.stderr)
        write_data_dir(out / engine, punctuated({call: files[call] for call in wanted}, labels))
        bare = (u._replace(labels=None) for u in DataDir(out / engine).utterances())
        write_data_dir(out / f"{engine}_words", bare)


def punctuated(files: dict[str, Path], labels: LabelSet) -> Iterator[Utterance]:
    for call, path in files.items():
        done = to_call(percents(read_nlp(path)), labels)
        yield from utterances(call, done.words, done.labels, done.pauses)


def main(directory: Path, reference: Path, labels: Path, out: Path, *engines: str) -> None:
    prepare(directory, reference, LabelSet.read(labels), out, engines)


if __name__ == "__main__":
    run_script(main, __doc__)
