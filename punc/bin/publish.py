"""`punc publish`: copy the result pages of an experiment to a recipe's directory."""

import logging
from collections.abc import Sequence

from punc.base.options import OptionParser
from punc.results.page_data import publish

logger = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc publish [options] EXP-DIR TARGET-DIR",
        "Copies EXP-DIR/RESULTS.md, EXP-DIR/RESULTS.tsv and EXP-DIR/results, which punc results wrote, to TARGET-DIR. "
        "Removes files of TARGET-DIR/results that are not in EXP-DIR/results, but no directories.",
        "punc publish exp .")
    parser.add_argument("exp", metavar="EXP-DIR", help="where punc results wrote its pages")
    parser.add_argument("target", metavar="TARGET-DIR", help="the recipe's directory")
    options = parser.parse(arguments)
    names = publish(options.exp, options.target)
    logger.info("punc publish: %d files in %s", len(names), options.target)
