#!/usr/bin/env python3
"""usage: local/learn_casing.py LABELS-FILE CASED-DATA-DIR OUT [TABLE]

Learns from a cased text how words with more capitals than the first letter's are written (punc.text.casing), and adds
the lines of a table.
"""

import sys

from punc.base.errors import InputError
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.text.casing import learn, read_casing, write_casing

if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    try:
        table = learn([DataDir(sys.argv[2])], LabelSet.read(sys.argv[1]))
        table |= read_casing(sys.argv[4]) if sys.argv[4:] else {}
        write_casing(sys.argv[3], table)
        print(f"{sys.argv[3]}: {len(table)} words", file=sys.stderr)
    except InputError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
