#!/usr/bin/env python3
"""usage: utils/learn_casing.py LABELS-FILE CASED-DATA-DIR OUT [TABLE]

Learns from a cased text how words with more capitals than the first letter's are written (punc.text.casing), and adds
the lines of a table.
"""

import sys
from pathlib import Path

from punc.bin.script import run_script
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.text.casing import learn, read_casing, write_casing


def main(labels: Path, cased: Path, out: Path, table: str = "") -> None:
    learned = learn([DataDir(cased)], LabelSet.read(labels)) | (read_casing(table) if table else {})
    write_casing(out, learned)
    print(f"{out}: {len(learned)} words", file=sys.stderr)


if __name__ == "__main__":
    run_script(main, __doc__)
