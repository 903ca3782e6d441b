"""`punc corrupt`: simulate a recogniser's errors in a data directory."""

import logging
from collections.abc import Sequence

from punc.base.errors import check_at_least, check_probability
from punc.base.options import OptionParser
from punc.data.labels import LabelSet
from punc.noise.confusions import read_confusions
from punc.noise.draw import corrupt

logger = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc corrupt --labels FILE --confusions FILE [options] IN-DIR OUT-DIR",
        "Writes a data directory with words substituted, deleted and inserted as by a recogniser. Labels are "
        "projected as by `punc project`; the pauses of deleted words are added to the pauses before them.",
        "punc corrupt --labels conf/labels.txt --confusions data/confusions.txt --wer 0.15 data/dev data/dev_noisy")
    parser.add_argument("--labels", required=True, metavar="FILE", help="label set, weakest label first")
    parser.add_argument("--confusions", required=True, metavar="FILE", help="a file that punc confusions wrote")
    parser.add_argument("--wer", type=float, default=0.1, metavar="FLOAT", help="word error rate to expect, 0 to 1")
    parser.add_argument("--draws", type=int, default=1, metavar="N",
                        help="how often each wrong word is drawn; the draw that forms the most word pairs seen in the "
                             "text is used")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the errors")
    parser.add_argument("input", metavar="IN-DIR", help="data directory with labels")
    parser.add_output("out", metavar="OUT-DIR", help="data directory to write")
    options = parser.parse(arguments)
    check_probability(wer=options.wer)
    check_at_least(1, draws=options.draws)
    sums, deleted, inserted = corrupt(options.input, options.out, read_confusions(options.confusions),
                                      LabelSet.read(options.labels), options.wer, options.seed, options.draws)
    logger.info("punc corrupt: %s: %d streams, %d words, %d deleted, %d inserted: %d words, WER %.2f %%; %d marks: "
                "%d moved, %d merged, %d lost", options.out, sums.streams, sums.words, deleted, inserted,
                sums.words - deleted + inserted, 100 * sums.wer, sums.marks, sums.moved, sums.merged,
                sums.lost)
