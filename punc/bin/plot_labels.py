"""`punc plot-labels`: plot how frequent the marks are in each set, and how many words are between two marks."""

import logging
from collections.abc import Sequence

from punc.base.options import OptionParser
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.results.figures import count_labels, describe_labels, missing_packages, plot_labels

logger = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc plot-labels --labels FILE [options] DATA-DIR [DATA-DIR …] OUT.png",
        "Plots the share of each mark in the slots of data directories, and how many words are between two marks; "
        "prints one line about each. Pauses are not needed. Without matplotlib, this only prints the lines.",
        "punc plot-labels --labels conf/labels.txt data/train data/test_ref exp/results/labels.png")
    parser.add_argument("--labels", required=True, metavar="FILE", help="label set of the data directories")
    parser.add_argument("data", nargs="+", metavar="DATA-DIR", help="data directories with labels")
    parser.add_output("out", metavar="OUT.png", help="picture to write")
    options = parser.parse(arguments)
    labels = LabelSet.read(options.labels)
    directories = [DataDir(path, needs=["punct"]) for path in options.data]
    sets = {data.path.name: count_labels(data, labels) for data in directories}
    for name, counts in sets.items():
        logger.info("punc plot-labels: %s", describe_labels(name, counts))
    if missing_packages("matplotlib"):
        logger.warning("punc plot-labels: no %s: matplotlib is not installed; pip install 'punc-toolkit[plot]'",
                       options.out)
        return
    plot_labels(sets, options.out)
