"""`punc confusions`: count what a recogniser writes in place of each word."""

import logging
from collections.abc import Sequence

from punc.base.errors import InputError
from punc.base.options import OptionParser
from punc.data.labels import LabelSet
from punc.noise.confusions import learn

logger = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc confusions --labels FILE REF-DIR ASR-DIR [REF-DIR ASR-DIR …] OUT-FILE",
        "Counts the substitutions, deletions and insertions in the ASR output of a training set, against its reference "
        "transcripts. Never use a test set. `punc corrupt` and `punc train --asr-noise` simulate such errors.",
        "punc confusions --labels conf/labels.txt data/train data/train_asr data/confusions.txt")
    parser.add_argument("--labels", required=True, metavar="FILE", help="label set of the references")
    parser.add_argument("inputs", nargs="+", metavar="DIR", help="a reference, and the ASR output of the same streams")
    parser.add_output("out", metavar="OUT-FILE", help="text file to write, with one count per line")
    options = parser.parse(arguments)
    if len(options.inputs) % 2:
        raise InputError(f"{len(options.inputs)} data directories", "give pairs: REF-DIR ASR-DIR, then OUT-FILE")
    found, left_out = learn(list(zip(options.inputs[::2], options.inputs[1::2])), LabelSet.read(options.labels))
    found.write(options.out)
    errors = found.replaced.total()
    substituted = sum(count for (_, words), count in found.replaced.items() if words)
    logger.info("punc confusions: %s: %s reference words, WER %.2f %%: %s substituted, %s deleted, %s "
                "insertions; %s more words left out, in long regions", options.out, f"{found.seen.total():,}",
                100 * found.wer, f"{substituted:,}", f"{errors - substituted:,}", f"{found.inserted.total():,}",
                f"{left_out:,}")
