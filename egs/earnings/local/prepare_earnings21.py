"""usage: prepare_earnings21.py DIR LABELS OUT NAME=SYSTEM …

Writes the references of Earnings-21 (DIR/transcripts/nlp_references) as the data directory OUT/test_ref. For each
NAME=SYSTEM, such as `test_asr=rev/kaldi`, writes the words of the ASR output (DIR/output/SYSTEM/ctm) as the data
directory OUT/NAME_words, and the words with their times as CTMs in OUT/NAME_ctm. All words are in spoken form. Later,
`punc pauses` adds pauses, and `punc project` adds labels to the ASR output. A call that has no reference, or no output
of one of the SYSTEMs, is left out of all sets, and its name is printed.
"""

import sys
from pathlib import Path

from asr_words import common, write_words
from nlp import call_files, read_nlp, to_call, utterances

from punc.base.errors import InputError
from punc.bin.script import run_script
from punc.data.datadir import write_data_dir
from punc.data.labels import LabelSet


def prepare(directory: Path, labels: LabelSet, out: Path, systems: dict[str, str]) -> None:
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


def main(directory: Path, labels: Path, out: Path, *systems: str) -> None:
    for system in systems:
        if "=" not in system:
            raise InputError(f"'{system}' is not NAME=SYSTEM", "write it as in test_asr=rev/kaldi")
    prepare(directory, LabelSet.read(labels), out, dict(system.split("=", 1) for system in systems))


if __name__ == "__main__":
    run_script(main, __doc__)
