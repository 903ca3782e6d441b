"""`punc validate`: check a data directory."""

import sys
from collections.abc import Sequence

from punc.base.options import OptionParser
from punc.data.labels import LabelSet
from punc.data.validate import validate


def main(arguments: Sequence[str]) -> int:
    parser = OptionParser("punc validate [--labels FILE] DIR", "Check a data directory; the first mistake is told.",
                          "punc validate --labels conf/labels.txt data/train2012")
    parser.add_argument("--labels", metavar="FILE", help="require the labels to be of this set")
    parser.add_argument("directory", metavar="DIR", help="data directory")
    args = parser.parse(arguments)
    counts = validate(args.directory, LabelSet.read(args.labels) if args.labels else None)
    empty = counts.pop("empty utterances")
    sizes = ", ".join(f"{counts[what]:,} {what}" for what in ("streams", "utterances", "words"))
    print(f"punc validate: {args.directory}: {sizes}: valid", file=sys.stderr)
    if empty:
        print(f"punc validate: {args.directory}: {empty:,} utterances have no words", file=sys.stderr)
    return 0
