"""`punc join-transcripts`: join the transcripts of several jobs."""

from collections.abc import Sequence
from pathlib import Path

from punc.base.options import OptionParser
from punc.decoding.transcript import join_transcripts


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser("punc join-transcripts OUT-DIR PART-DIR …",
                          "Moves the transcripts that punc transcript --job 1, --job 2, … made into OUT-DIR.",
                          "punc join-transcripts transcripts transcripts/parts/1 transcripts/parts/2")
    parser.add_argument("out", metavar="OUT-DIR", help="directory to make")
    parser.add_argument("parts", metavar="PART-DIR", nargs="+", help="the directory that each job made, in order")
    args = parser.parse(arguments)
    join_transcripts([Path(part) for part in args.parts], Path(args.out))
