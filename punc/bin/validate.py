"""`punc validate`: check a data directory."""

import logging
from collections.abc import Sequence

from punc.base.options import OptionParser
from punc.data.labels import LabelSet
from punc.data.validate import validate

logger = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser("punc validate [--labels FILE] DIR", "Checks a data directory and reports the first mistake.",
                          "punc validate --labels conf/labels.txt data/train2012")
    parser.add_argument("--labels", metavar="FILE", help="label set that all labels must belong to")
    parser.add_argument("directory", metavar="DIR", help="data directory")
    args = parser.parse(arguments)
    counts = validate(args.directory, LabelSet.read(args.labels) if args.labels else None)
    empty = counts.pop("empty utterances")
    sizes = ", ".join(f"{counts[what]:,} {what}" for what in ("streams", "utterances", "words"))
    logger.info("punc validate: %s: %s: valid", args.directory, sizes)
    if empty:
        logger.warning("punc validate: %s: %s utterances have no words", args.directory, f"{empty:,}")
