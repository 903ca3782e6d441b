"""`punc join-punctuated`: join the punctuated parts of several jobs."""

from collections.abc import Sequence
from pathlib import Path

from punc.base.options import OptionParser
from punc.decoding.punctuated_parts import join_punctuated


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser("punc join-punctuated OUT-DIR PART-DIR …",
                          "Joins the parts that punc punctuate --jobs N --job 1, --job 2, … made to the data directory "
                          "OUT-DIR, which is the same as that of one job; removes the parts.",
                          "punc join-punctuated exp/T-LSTM/decode_test parts/1 parts/2")
    parser.add_argument("out", metavar="OUT-DIR", help="data directory to make")
    parser.add_argument("parts", metavar="PART-DIR", nargs="+", help="the directory that each job made, in order")
    args = parser.parse(arguments)
    join_punctuated([Path(part) for part in args.parts], Path(args.out))
