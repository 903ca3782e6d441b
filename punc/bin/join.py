"""`punc join`: join the outputs of several jobs of a command."""

import importlib
import logging
from collections.abc import Sequence
from pathlib import Path

from punc.base.errors import InputError
from punc.base.jobs import FILE, finish_joining, joining
from punc.base.options import OptionParser

logger = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc join OUT-DIR PART-DIR …",
        "Joins the parts that punctuate or transcript made with --jobs N --job 1, --job 2, …. OUT-DIR is identical "
        "to the output without --jobs. Removes the parts.",
        "punc join exp/T-LSTM/decode_test parts/1 parts/2")
    parser.add_output("out", metavar="OUT-DIR", help="directory to make")
    parser.add_argument("parts", metavar="PART-DIR", nargs="+", help="the directory that each job made, in order")
    args = parser.parse(arguments)
    out = Path(args.out)
    paths = [Path(part) for part in args.parts]
    if finish_joining(paths):
        logger.info("%s: was already made from these parts; removed what was left of them", out)
        return
    with joining(paths) as parts:
        try:
            command = importlib.import_module(f"punc.bin.{parts[0].command.replace('-', '_')}").join
        except (ImportError, AttributeError):
            raise InputError(f"'{parts[0].command}' is not a command that jobs can share", "run all jobs again",
                             paths[0] / FILE) from None
        command(parts, out)
