"""`punc serve`: punctuate texts, transcripts and live words for many clients, over HTTP, WebSocket and a web page."""

from collections.abc import Sequence

from punc.base.options import OptionParser, from_args
from punc.live.server import run_server
from punc.live.session import LiveOptions, ServerOptions

DEFAULT = ("en", "en-live")


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc serve [options] [MODEL …]",
        "Serves models to many clients: texts and transcripts by HTTP, live words by WebSocket in the formats of "
        "punc live, and a page for people. A request that names no model uses the first MODEL; live words use the "
        f"first MODEL that reads left to right. The default MODELs are {' and '.join(DEFAULT)}. GET /openapi.json "
        "describes "
        "the interface.", "punc serve --max-delay 1 --workers 2 en en-live")
    parser.add_signature(ServerOptions)
    parser.add_signature(LiveOptions)
    parser.add_argument("--scale", default="", metavar="STR",
                        help="multiply posteriors before labels are chosen: LABEL=FACTOR,…; O=0.8 gives more marks")
    parser.add_argument("models", metavar="MODEL", nargs="*", default=DEFAULT,
                        help="directory of a model, or the name of a bundled one")
    args = parser.parse(arguments)
    run_server(args.models, args.scale, from_args(LiveOptions, args), from_args(ServerOptions, args))
