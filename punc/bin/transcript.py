"""`punc transcript`: a recogniser's output, punctuated."""

from collections.abc import Sequence
from pathlib import Path

from punc.base.options import OptionParser
from punc.decoding.transcript import transcript


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc transcript [options] EXP-DIR DATA-DIR OUT-DIR",
        "Punctuates a recogniser's output: OUT-DIR gets text, txt/<recording>.txt in paragraphs and, with --ctm, ctm "
        "and subtitles as srt/<recording>.srt and vtt/<recording>.vtt. DATA-DIR is the Kaldi data directory that was "
        "decoded. The scripts utils/punctuate_*.sh run it in parallel.",
        "punc transcript --ctm exp/tri3/decode_test/score_10/test.ctm exp/TA-LSTM-p data/test transcripts")
    parser.add_signature(transcript)
    parser.add_argument("directory", metavar="EXP-DIR", help="directory of the model")
    parser.add_argument("data", metavar="DATA-DIR", help="Kaldi data directory")
    parser.add_argument("out", metavar="OUT-DIR", help="directory to be made")
    args = vars(parser.parse(arguments))
    transcript(*(Path(args[name]) for name in ("directory", "data", "out")),
               **{name: args[name] for name in transcript.__kwdefaults__})
