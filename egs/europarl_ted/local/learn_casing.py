#!/usr/bin/env python3
"""usage: local/learn_casing.py LABELS-FILE CASED-DATA-DIR OUT

Learns from a cased text how words with more capitals than the first letter's are written (punc.text.casing).
"""

import sys
from pathlib import Path

from punc.bin.script import run_script
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.text.casing import learn, write_casing


def main(labels: Path, cased: Path, out: Path) -> None:
    table = learn([DataDir(cased)], LabelSet.read(labels))
    write_casing(out, table)
    print(f"{out}: {len(table)} words", file=sys.stderr)


if __name__ == "__main__":
    run_script(main, __doc__)
