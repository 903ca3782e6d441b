"""`punc plot-pauses`: plot the pauses of each label, or a system's posteriors against the pause."""

import logging
from collections.abc import Sequence

from punc.base.errors import InputError
from punc.base.options import OptionParser
from punc.data.datadir import DataDir
from punc.results.figures import missing_packages, plot_pauses, plot_posteriors, posteriors
from punc.timing.pauses import pauses_by_label

logger = logging.getLogger(__name__)
LABEL = "PERIOD"  # the label whose posterior is plotted


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc plot-pauses [options] DATA-DIR OUT.png",
        "Plots the distribution of the pauses of each label on a logarithmic axis; with --decode, a system's posterior "
        f"of {LABEL} against the pause. Without matplotlib, this only says that it is missing.",
        "punc plot-pauses --title 'Broadcast news' data/train exp/results/pauses.png")
    parser.add_argument("--title", default="", metavar="TEXT", help="title of the picture")
    parser.add_argument("--decode", metavar="DIR",
                        help="the output of punc punctuate for DATA-DIR, in its system's directory")
    parser.add_argument("--thresholds", default="", metavar="SECONDS",
                        help="with --decode: positions of vertical lines, separated by spaces")
    parser.add_argument("data", metavar="DATA-DIR", help="a data directory with labels and pauses")
    parser.add_output("out", metavar="OUT.png", help="picture to write")
    options = parser.parse(arguments)
    try:
        thresholds = [float(value) for value in options.thresholds.split()]
    except ValueError:
        raise InputError(f"--thresholds '{options.thresholds}' are not numbers",
                         "write seconds, separated by spaces") from None
    if missing_packages("matplotlib"):
        logger.warning("punc plot-pauses: no %s: matplotlib is not installed; pip install 'punc-toolkit[plot]'",
                       options.out)
        return
    data = DataDir(options.data, needs=["punct", "pauses.scp"])
    if options.decode:
        found = posteriors(data, options.decode, LABEL)
        plot_posteriors(*found, options.out, LABEL, thresholds, options.title)
    else:
        plot_pauses(pauses_by_label(data.utterances()), options.out, options.title)
