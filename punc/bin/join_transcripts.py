"""`punc join-transcripts`: what the jobs of `punc transcript` made, in one directory."""

from collections.abc import Sequence
from pathlib import Path

from punc.base.options import OptionParser
from punc.decoding.transcript import join


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser("punc join-transcripts OUT-DIR PART-DIR …",
                          "Moves the parts of a transcript, of punc transcript --job 1, --job 2, …, to OUT-DIR.",
                          "punc join-transcripts transcripts transcripts/parts/1 transcripts/parts/2")
    parser.add_argument("out", metavar="OUT-DIR", help="directory to be made")
    parser.add_argument("parts", metavar="PART-DIR", nargs="+", help="what each job made, in order")
    args = parser.parse(arguments)
    join([Path(part) for part in args.parts], Path(args.out))
