"""`punc project`: carry reference slots onto other words by edit distance."""

import sys
from collections.abc import Sequence

from punc.base.options import OptionParser
from punc.data.labels import LabelSet
from punc.scoring.project import project


def options() -> OptionParser:
    parser = OptionParser(
        "punc project --labels FILE REF-DIR HYP-DIR OUT-DIR",
        "The labels of REF-DIR on the words of HYP-DIR, stream by stream, by minimum edit distance.",
        "punc project --labels conf/labels.txt data/test_ref data/test_asr_words data/test_asr")
    parser.add_argument("--labels", required=True, metavar="FILE", help="label set, weakest first")
    parser.add_argument("ref", metavar="REF-DIR", help="data directory with the labels")
    parser.add_argument("hyp", metavar="HYP-DIR", help="data directory with the other words; its labels are not read")
    parser.add_argument("out", metavar="OUT-DIR", help="data directory to write: HYP-DIR with labels")
    return parser


def main(arguments: Sequence[str]) -> None:
    args = options().parse(arguments)
    done = project(args.ref, args.hyp, args.out, LabelSet.read(args.labels))
    print(f"punc project: {done.streams} streams, {done.words} reference words, WER {100 * done.wer:.2f} %; "
          f"{done.marks} marks: {done.moved} moved, {done.merged} merged, {done.lost} lost", file=sys.stderr)
