"""usage: prepare_earnings21.py DIR LABELS OUT NAME=SYSTEM …

Writes the references of Earnings-21 (DIR/transcripts/nlp_references) as the data directory OUT/test_ref, and for each
NAME=SYSTEM, such as `test_asr=rev/kaldi`, the ASR output (DIR/output/SYSTEM/ctm) as OUT/NAME_words with its times in
OUT/NAME_ctm, all in spoken words. Pauses and labels come later, by `punc pauses` and `punc project`. A call that is
missing anywhere is left out of all sets and named.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from nlp import call_files, listed, read_nlp, to_call, utterances
from spoken import words_of

from punc.base.errors import InputError
from punc.base.files import atomic_dir
from punc.bin.script import run_script
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import LabelSet
from punc.timing.ctm import CtmIndex, TimedWord


def prepare(directory: Path, labels: LabelSet, out: Path, systems: dict[str, str]) -> None:
    """Write the sets. What is left out is printed."""
    references = call_files(directory / "transcripts" / "nlp_references")
    ctms = {name: call_files(directory / "output" / system / "ctm", ".ctm") for name, system in systems.items()}
    calls = common(references, {systems[name]: files for name, files in ctms.items()})
    total = 0

    def lines():
        nonlocal total
        for call in calls:
            done = to_call(read_nlp(references[call]), labels)
            total += len(done.words)
            yield from utterances(call, done.words, done.labels)

    write_data_dir(out / "test_ref", lines())
    print(f"test_ref: {len(calls)} calls, {total} words", file=sys.stderr)
    for name, files in ctms.items():
        write_words(out, name, {call: files[call] for call in calls})


def common(references: dict[str, Path], ctms: dict[str, dict[str, Path]]) -> list[str]:
    """The calls that the references and all systems have. Raises InputError if there is none."""
    calls = [call for call in references if all(call in files for files in ctms.values())]
    for system, files in ctms.items():
        missing, extra = [c for c in references if c not in files], [c for c in files if c not in references]
        if missing:
            print(f"{system}: no CTM of {len(missing)} calls, left out of the test: {listed(missing)}", file=sys.stderr)
        if extra:
            print(f"{system}: no reference of {len(extra)} calls, left out: {listed(extra)}", file=sys.stderr)
    if not calls:
        raise InputError("no call has a reference and all CTMs", "give the references and CTMs the same names",
                         next(iter(references.values())).parent)
    return calls


def write_words(out: Path, name: str, files: dict[str, Path]) -> None:
    """Write ASR output in spoken words as OUT/NAME_words, and as one CTM for each call in OUT/NAME_ctm."""
    def lines():
        with atomic_dir(out / f"{name}_ctm", f"{max(files)}.ctm", ["*.ctm"]) as tmp:
            for call, path in files.items():
                words = []
                with open(tmp / f"{call}.ctm", "w", encoding="utf-8") as ctm:
                    for word, said in timed_words(path):
                        share = word.duration / max(len(said), 1)
                        words += said
                        # Dropped words stay in the CTM, because their time is not silence.
                        for i, part in enumerate(said or (word.word,)):
                            ctm.write(f"{call} 1 {word.begin + i * share:.3f} {share:.3f} {part}\n")
                yield from utterances(call, words)

    write_data_dir(out / f"{name}_words", lines())


def timed_words(path: Path) -> Iterator[tuple[TimedWord, tuple[str, ...]]]:
    """The words of a CTM in time order, each with its spoken words. Raises InputError if the CTM is bad."""
    index = CtmIndex(path)
    for id in index:
        for word in index[id]().words:
            yield word, words_of(word.word)[0]


def main(directory: Path, labels: Path, out: Path, *systems: str) -> None:
    for system in systems:
        if "=" not in system:
            raise InputError(f"'{system}' is not NAME=SYSTEM", "write it as in test_asr=rev/kaldi")
    prepare(directory, LabelSet.read(labels), out, dict(system.split("=", 1) for system in systems))


if __name__ == "__main__":
    run_script(main, __doc__)
