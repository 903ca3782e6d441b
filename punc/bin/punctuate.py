"""`punc punctuate`: restore punctuation with a model."""

import sys
from collections.abc import Sequence
from pathlib import Path

from punc.base.errors import InputError
from punc.base.options import OptionParser, boolean
from punc.data.datadir import DataDir
from punc.decoding.punctuate import parse_scale, punctuate


def options() -> OptionParser:
    parser = OptionParser(
        "punc punctuate [options] EXP-DIR DATA-DIR OUT-DIR | punc punctuate [--scale …] [--characters …] EXP-DIR -",
        "Punctuates a data directory with a trained model: OUT-DIR is a data directory with the labels as punct, and "
        "has text_punct, post.ark and post.scp, and ctm_punct where there is a CTM. With - for DATA-DIR, punctuates "
        "words from standard input as they come; an empty line ends a stream, other line ends mean nothing.",
        "punc punctuate --scale O=0.5 exp/T-LSTM data/test_asr exp/T-LSTM/decode_test_asr")
    parser.add_signature(punctuate)
    parser.add_argument("--characters", type=boolean, default=False, metavar="BOOL",
                        help="with -: every line is a text without blanks between words, as Japanese, and comes out as "
                             "it was but for its marks")
    parser.add_argument("directory", metavar="EXP-DIR", help="directory of the model")
    parser.add_argument("data", metavar="DATA-DIR", help="data directory, or - for words from standard input")
    parser.add_argument("out", metavar="OUT-DIR", nargs="?", help="data directory to be made")
    return parser


def main(arguments: Sequence[str]) -> None:
    args = vars(options().parse(arguments))
    directory, data, out = Path(args["directory"]), args["data"], args["out"]
    if (data == "-") != (out is None):
        raise InputError("OUT-DIR goes with a DATA-DIR, and not with -", "see punc punctuate --help")
    if args["characters"] and out is not None:
        raise InputError("--characters with a DATA-DIR", "leave it out: words are characters there, or are not")
    if out is not None:
        punctuate(directory, DataDir(data), Path(out), **{name: args[name] for name in punctuate.__kwdefaults__})
        return
    import torch  # slow to load: not for --help, nor for a parent that only reads and writes

    from punc.decoding.streaming import punctuate_live
    from punc.decoding.streaming_chars import punctuate_lines
    from punc.models.base import load
    torch.set_num_threads(1)
    model = load(directory)
    run = punctuate_lines if args["characters"] else punctuate_live
    run(model, sys.stdin.fileno(), sys.stdout.buffer, parse_scale(args["scale"], model.labels))
