"""`punc find-ctm`: the CTM of a Kaldi decode directory."""

from collections.abc import Sequence
from pathlib import Path

from punc.base.options import OptionParser
from punc.timing.decode_dir import find_ctm


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser("punc find-ctm [options] DATA-DIR DECODE-DIR",
                          "Prints the path of the CTM of a Kaldi decode directory: the one that the options name, the "
                          "only one, or the one with the best WER (scoring_kaldi/best_wer).",
                          "punc find-ctm --lmwt 10 data/test exp/tri3/decode_test")
    parser.add_signature(find_ctm, skip=("name",))
    parser.add_argument("data", metavar="DATA-DIR", help="Kaldi data directory")
    parser.add_argument("decode", metavar="DECODE-DIR", help="its decode directory")
    args = parser.parse(arguments)
    print(find_ctm(Path(args.decode), Path(args.data).resolve().name, lmwt=args.lmwt, wip=args.wip,
                   score_dir=args.score_dir))
