"""`punc transcript`: ASR output to punctuated text and subtitles."""

from collections.abc import Sequence
from pathlib import Path

from punc.base.options import OptionParser
from punc.decoding.options import DecodingOptions
from punc.decoding.transcript import DECODING, transcript


def options() -> OptionParser:
    parser = OptionParser(
        "punc transcript [options] EXP-DIR DATA-DIR OUT-DIR",
        "Punctuates ASR output. DATA-DIR is the Kaldi data directory that was decoded, --ctm what decoding wrote. "
        "OUT-DIR gets text, ctm, txt/<recording>.txt in paragraphs, and subtitles as srt/<recording>.srt and "
        "vtt/<recording>.vtt. Without --ctm, DATA-DIR/text is punctuated, and OUT-DIR gets text and txt. The scripts "
        "utils/punctuate_*.sh run this in parallel.",
        "punc transcript --ctm exp/tri3/decode_test/score_10/test.ctm exp/TA-LSTM-p data/test transcripts")
    parser.add_signature(DecodingOptions)
    parser.set_defaults(chunk_size=DECODING.chunk_size)
    parser.add_signature(transcript, skip=("decoding",))
    parser.add_argument("directory", metavar="EXP-DIR", help="directory of the model")
    parser.add_argument("data", metavar="DATA-DIR", help="Kaldi data directory")
    parser.add_argument("out", metavar="OUT-DIR", help="directory to make")
    return parser


def main(arguments: Sequence[str]) -> None:
    args = options().parse(arguments)
    transcript(Path(args.directory), Path(args.data), Path(args.out), DecodingOptions.parsed(args), ctm=args.ctm,
               lowercase=args.lowercase, job=args.job, nj=args.nj)
