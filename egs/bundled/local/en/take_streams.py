"""usage: take_streams.py DATA OUT KEEP N [WITHOUT]

Divides the streams of the data directory DATA into groups of N neighbouring streams, and copies the first KEEP of each
group to the data directory OUT. So OUT has streams from every part of DATA. Streams that are also in the data directory
WITHOUT are left out before the other streams are divided into groups.
"""

import sys
from itertools import groupby
from pathlib import Path

from punc.base.errors import InputError
from punc.bin.script import run_script
from punc.data.datadir import DataDir, write_data_dir


def main(source: Path, out: Path, keep: int, of: int, without: str = "") -> None:
    """Write OUT completely or not at all. Print how many streams and words it contains."""
    if not 0 < keep <= of:
        raise InputError(f"cannot keep {keep} of every {of} streams", "give a KEEP from 1 to N")
    left_out = {utterance.stream for utterance in DataDir(without).utterances()} if without else set()
    streams = words = number = 0

    def chosen():
        nonlocal streams, words, number
        for stream, utterances in groupby(DataDir(source).utterances(), lambda utterance: utterance.stream):
            if stream in left_out:
                continue
            number += 1
            if (number - 1) % of >= keep:
                continue
            streams += 1
            for utterance in utterances:
                words += len(utterance.words)
                yield utterance

    write_data_dir(out, chosen())
    print(f"{out.name}: {streams} streams, {words} words", file=sys.stderr)


if __name__ == "__main__":
    run_script(main, __doc__)
