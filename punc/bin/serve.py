"""`punc serve`: punctuate live input of many clients, by WebSocket."""

from collections.abc import Sequence
from dataclasses import fields

from punc.base.errors import InputError
from punc.base.options import OptionParser
from punc.decoding.decode import load_model
from punc.decoding.options import parse_scale
from punc.decoding.shipped import CASING, DEFAULT_LIVE, find_model, is_packed
from punc.live.server import Server, ServerOptions, run_server
from punc.live.session import LiveOptions
from punc.text.casing import Casing


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc serve [options] [MODEL]",
        "Serves a model that reads left to right to many clients, by WebSocket: words, lines of a CTM or JSON in, the "
        f"same with marks out, as punc punctuate - has them. The default MODEL is {DEFAULT_LIVE}. "
        "GET /health says how the server does.", "punc serve --max-delay 1 en-live")
    parser.add_signature(ServerOptions)
    parser.add_signature(LiveOptions)
    parser.add_argument("--scale", default="", metavar="STR",
                        help="multiply posteriors before labels are chosen: LABEL=FACTOR,…; O=0.8 gives more marks")
    parser.add_argument("directory", metavar="MODEL", nargs="?", default=DEFAULT_LIVE,
                        help="directory of a model, or the name of one that ships")
    args = parser.parse(arguments)
    server_options = ServerOptions(**{field.name: getattr(args, field.name) for field in fields(ServerOptions)})
    live = LiveOptions(args.max_delay, args.utterance_end)
    directory = find_model(args.directory)
    model = load_model(directory)
    if model.lookahead is None:
        raise InputError("this model reads whole streams", "serve one that reads left to right, as en-live",
                         args.directory)
    casing = Casing.read(model.labels, directory / CASING, is_packed(directory))
    run_server(Server(model, casing, parse_scale(args.scale, model.labels), live, server_options))
