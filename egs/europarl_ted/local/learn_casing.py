#!/usr/bin/env python3
"""usage: local/learn_casing.py LABELS-FILE CASED-DATA-DIR OUT

How words are written that have more capitals than the first letter's (punc.casing), of a text with its case.
"""

import sys

from punc.casing import learn, write_casing
from punc.datadir import DataDir
from punc.errors import InputError
from punc.labels import LabelSet

if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    try:
        table = learn([DataDir(sys.argv[2])], LabelSet.read(sys.argv[1]))
        write_casing(sys.argv[3], table)
        print(f"{sys.argv[3]}: {len(table)} words", file=sys.stderr)
    except InputError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
