"""`punc report`: show an experiment on one HTML page: tables, plots, and a browser of the errors."""

import logging
from collections.abc import Sequence
from pathlib import Path

from punc.base.files import atomic_file
from punc.base.options import OptionParser
from punc.results.figures import missing_packages
from punc.results.page import render

logger = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc report [options] EXP-DIR OUT.html",
        "Writes one HTML page of all scores EXP-DIR/SYSTEM/decode_SET/score: the systems with intervals and tests, "
        "training curves, and for each set confusions, precision-recall curves, calibration, F1 by pause, "
        "recognition error, position and recording, and the text with the errors of each system. Sets of more than "
        "10,000 slots are sampled. For an ASR set NAME_…, the set NAME_ref has the spoken words. The page works "
        "offline. Without Jinja2 or matplotlib, punc report only says that they are missing.",
        "punc report --title 'Broadcast news' exp exp/report.html")
    parser.add_argument("--title", default="Report", metavar="TEXT", help="heading of the page")
    parser.add_argument("--data", metavar="DIR",
                        help="where the data directories of the sets are; default: data next to EXP-DIR")
    parser.add_argument("--recordings", default="", metavar="NAMES",
                        help="recordings or speakers to show in full in the error browser")
    parser.add_argument("exp", metavar="EXP-DIR", help="where the systems' directories are")
    parser.add_output("out", metavar="OUT.html", help="page to write")
    options = parser.parse(arguments)
    if missing := missing_packages("jinja2", "matplotlib"):
        logger.warning("punc report: no %s: %s not installed; pip install 'punc-toolkit[report]'", options.out,
                       " and ".join(missing) + (" is" if len(missing) == 1 else " are"))
        return
    page = render(Path(options.exp), options.title, Path(options.data) if options.data else None,
                  options.recordings.split())
    with atomic_file(options.out) as file:
        file.write(page)
    logger.info("punc report: %s, %.1f MB", options.out, Path(options.out).stat().st_size / 1e6)
