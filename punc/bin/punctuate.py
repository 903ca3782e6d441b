"""`punc punctuate`: restore punctuation with a model."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from punc.base.errors import InputError
from punc.base.options import OptionParser, boolean, kebab
from punc.data.datadir import DataDir
from punc.decoding.options import DecodingOptions, parse_scale
from punc.decoding.punctuate import punctuate
from punc.decoding.punctuated_text import OutputOptions

# Options that apply to a data directory, not to standard input.
DIRECTORY_ONLY = {"nj", "jobs", "job",
                  *(field.name for field in (*fields(DecodingOptions), *fields(OutputOptions)))} - {"scale"}


def options() -> OptionParser:
    parser = OptionParser(
        "punc punctuate [options] EXP-DIR DATA-DIR OUT-DIR | punc punctuate [--scale …] [--characters …] EXP-DIR -",
        "Punctuates a data directory with a trained model. OUT-DIR is a data directory with the labels as punct. It "
        "also has text_punct (the punctuated text), post.ark and post.scp (the posteriors) and, if there is a CTM, "
        "ctm_punct. With - instead of DATA-DIR, punctuates words from standard input as they arrive; an empty line "
        "ends a stream, other line ends mean nothing. With --jobs, OUT-DIR is the part of one of several jobs; "
        "punc join-punctuated joins the parts.",
        "punc punctuate --scale O=0.5 exp/T-LSTM data/test_asr exp/T-LSTM/decode_test_asr")
    parser.add_signature(DecodingOptions)
    parser.add_signature(OutputOptions)
    parser.add_signature(punctuate)
    parser.add_argument("--characters", type=boolean, default=False, metavar="BOOL",
                        help="only with -: each line is a text without blanks between words, as in Japanese; all but "
                             "its marks stays as it is")
    parser.add_argument("directory", metavar="EXP-DIR", help="directory of the model")
    parser.add_argument("data", metavar="DATA-DIR", help="data directory, or - for standard input")
    parser.add_argument("out", metavar="OUT-DIR", nargs="?", help="data directory to make")
    return parser


def main(arguments: Sequence[str]) -> None:
    parser = options()
    args = parser.parse(arguments)
    if (args.data == "-") != (args.out is None):
        raise InputError("give OUT-DIR with a DATA-DIR, and not with -", "see punc punctuate --help")
    if args.out is None:
        for name in sorted(DIRECTORY_ONLY):
            if getattr(args, name) != parser.get_default(name):
                raise InputError(f"{kebab(name)} with -", "leave it out: only --scale and --characters go with -")
        punctuate_standard_input(args)
        return
    if args.characters:
        raise InputError("--characters with a DATA-DIR", "leave it out: the tokens of the model decide")
    output = OutputOptions(args.posteriors, args.casing, args.clitics, args.ctm)
    punctuate(Path(args.directory), DataDir(args.data), Path(args.out), DecodingOptions.parsed(args), output, args.nj,
              args.jobs, args.job)


def punctuate_standard_input(args: Namespace) -> None:
    """Write the words of standard input with their marks to standard output."""
    import torch  # slow to load: not for --help, nor in a parent that only reads and writes

    from punc.decoding.streaming import punctuate_streaming
    from punc.decoding.streaming_chars import punctuate_lines
    from punc.models.base import load
    torch.set_num_threads(1)
    model = load(args.directory)
    run = punctuate_lines if args.characters else punctuate_streaming
    run(model, sys.stdin.fileno(), sys.stdout.buffer, parse_scale(args.scale, model.labels))
