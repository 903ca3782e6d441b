"""`punc project`: project reference labels onto other words by edit distance."""

import logging
from collections.abc import Sequence

from punc.base.options import OptionParser
from punc.data.labels import LabelSet
from punc.scoring.project import project

logger = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc project --labels FILE REF-DIR HYP-DIR OUT-DIR",
        "Writes the data directory HYP-DIR with the labels of REF-DIR, aligned per stream by minimum edit distance.",
        "punc project --labels conf/labels.txt data/test_ref data/test_asr_words data/test_asr")
    parser.add_argument("--labels", required=True, metavar="FILE", help="label set, weakest label first")
    parser.add_argument("ref", metavar="REF-DIR", help="data directory with the labels")
    parser.add_argument("hyp", metavar="HYP-DIR", help="data directory with the other words; its labels are not read")
    parser.add_output("out", metavar="OUT-DIR", help="data directory to write: HYP-DIR with labels")
    options = parser.parse(arguments)
    done = project(options.ref, options.hyp, options.out, LabelSet.read(options.labels))
    logger.info("punc project: %d streams, %d reference words, WER %.2f %%; %d marks: %d moved, %d merged, %d lost",
                done.streams, done.words, 100 * done.wer, done.marks, done.moved, done.merged, done.lost)
