"""`punc live`: punctuate words from standard input as they arrive."""

import sys
from collections.abc import Sequence

from punc.base.errors import InputError
from punc.base.options import OptionParser, from_args, kebab
from punc.decoding.decode import load_model
from punc.decoding.options import parse_scale
from punc.decoding.shipped import CASING, DEFAULT_LIVE, find_model, is_packed
from punc.live.session import LiveOptions
from punc.live.streaming import LiveFormat, punctuate_lines, punctuate_streaming
from punc.text.casing import Casing


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc live [options] [MODEL]",
        "Punctuates words, a CTM or JSON lines from standard input as they arrive; an empty line ends a stream. "
        f"MODEL is a directory or the name of a bundled model; default: {DEFAULT_LIVE}.",
        "recogniser | punc live --output json en-live",
        ["A model that reads characters, such as ja, punctuates lines of text; only --scale applies."])
    parser.add_argument("--scale", default="", metavar="LABEL=FACTOR,…",
                        help="multiply posteriors before labels are chosen; O=0.8 gives more marks, O=1.2 fewer")
    for kind in (LiveFormat, LiveOptions):
        parser.add_signature(kind)
    parser.add_argument("directory", metavar="MODEL", nargs="?", default=DEFAULT_LIVE,
                        help="directory of a model, or the name of a bundled one")
    args = parser.parse(arguments)
    live, form = from_args(LiveOptions, args), from_args(LiveFormat, args)
    directory = find_model(args.directory)
    model = load_model(directory)
    for name in ("input", "output", "max_delay", "utterance_end") if model.tokenizer.by_character else ():
        if getattr(args, name) != parser.get_default(name):
            raise InputError(f"{kebab(name)} does not apply to a model that reads characters",
                             "leave it out: the model reads lines")
    source, sink, scale = sys.stdin.fileno(), sys.stdout.buffer, parse_scale(args.scale, model.labels)
    if model.tokenizer.by_character:
        punctuate_lines(model, source, sink, scale)
        return
    casing = Casing.read(model.labels, directory / CASING, is_packed(directory))
    punctuate_streaming(model, source, sink, scale, casing, live, form)
