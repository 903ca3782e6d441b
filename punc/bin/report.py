"""`punc report`: an experiment as one HTML page: tables, plots, and a browser of the errors."""

import logging
from collections.abc import Sequence
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import atomic_file
from punc.base.options import OptionParser
from punc.results.page import Settings, missing_packages, render

logger = logging.getLogger(__name__)


def parser() -> OptionParser:
    """The options of `punc report`."""
    options = OptionParser(
        "punc report [options] EXP-DIR OUT.html",
        "Write one HTML page of all scores EXP-DIR/SYSTEM/decode_SET/score: the systems with intervals and tests, "
        "training curves, and of each set confusions, precision-recall curves, calibration, F1 by pause, recognition "
        "error, position and recording, and the text with the errors of each system. The page needs no network. "
        "Without Jinja2 or matplotlib, only says that they are missing.",
        "punc report --title 'Broadcast news' exp exp/report.html")
    options.add_argument("--title", default="Report", metavar="TEXT", help="heading of the page")
    options.add_argument("--data", metavar="DIR",
                         help="where the data directories of the sets are; default: data next to EXP-DIR")
    options.add_argument("--systems", default="", metavar="NAMES",
                         help="order of the systems; others follow. Default: that of EXP-DIR/RESULTS.tsv")
    options.add_argument("--sets", default="", metavar="NAMES", help="order of the sets, likewise")
    options.add_argument("--most-slots", type=int, default=10_000, metavar="N",
                         help="slots of a set in the error browser; of a larger set it has a sample")
    options.add_argument("--recordings", default="", metavar="NAMES",
                         help="recordings, or speakers, that the error browser shows whole")
    options.add_argument("--spoken", action="append", default=[], metavar="SET=SET",
                         help="an ASR set, and the set with the words that were spoken; default: NAME_ref for "
                              "NAME_…; can be given again")
    options.add_argument("exp", metavar="EXP-DIR", help="where the systems' directories are")
    options.add_argument("out", metavar="OUT.html", help="page to write")
    return options


def main(arguments: Sequence[str]) -> None:
    """Run `punc report`. Raises InputError for a user's mistake."""
    options = parser().parse(arguments)
    if options.most_slots < 1:
        raise InputError(f"--most-slots={options.most_slots} is too small", "give 1 or more")
    spoken = {}
    for text in options.spoken:
        recognised, equals, name = text.partition("=")
        if not (recognised and equals and name):
            raise InputError(f"--spoken={text} is not a pair", "write SET=SET, as test_asr=test_ref")
        spoken[recognised] = name
    if missing := missing_packages():
        logger.warning("punc report: no %s: %s not installed; pip install 'punc-toolkit[report]'", options.out,
                       " and ".join(missing) + (" is" if len(missing) == 1 else " are"))
        return
    page = render(Path(options.exp), Settings(
        options.title, Path(options.data) if options.data else None, options.systems.split(), options.sets.split(),
        options.most_slots, options.recordings.split(), spoken))
    with atomic_file(options.out) as file:
        file.write(page)
    logger.info("punc report: %s, %.1f MB", options.out, Path(options.out).stat().st_size / 1e6)
