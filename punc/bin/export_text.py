"""`punc export-text`: write a data directory as plain text, to be punctuated by another system or to be scored."""

import logging
from collections.abc import Sequence
from itertools import chain

from punc.base.files import atomic_file
from punc.base.options import OptionParser, boolean
from punc.data.datadir import DataDir, label_numbers
from punc.data.labels import LabelSet
from punc.text.prose import written

logger = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc export-text [options] DATA-DIR TEXT",
        "Writes the words of a data directory to the text file TEXT, one stream (a recording or a text) per line, in "
        "the order of the streams' names. punc score-text scores the output of another system for this file.",
        "punc export-text data/test_ref words.txt")
    parser.add_argument("--labels", metavar="FILE",
                        help="also write the marks and capitals, by this label set (a labels.txt)")
    parser.add_argument("--characters", type=boolean, default=False, metavar="BOOL",
                        help="no spaces between words: for data directories whose words are characters")
    parser.add_argument("data", metavar="DATA-DIR", help="data directory to read")
    parser.add_output("text", metavar="TEXT", help="text file to write; - is standard output")
    options = parser.parse(arguments)
    data = DataDir(options.data, needs=["punct"] if options.labels else [])
    labels = LabelSet.read(options.labels) if options.labels else None
    blank, lines, total = "" if options.characters else " ", 0, 0
    with atomic_file(options.text) as file:
        for _, utterances in data.streams():
            words = list(chain.from_iterable(utterance.words for utterance in utterances))
            if labels:
                numbers = label_numbers(utterances, labels, data.path)
                words = written(words, map(labels.names.__getitem__, numbers), labels)
            file.write(blank.join(words) + "\n")
            lines += 1
            total += len(words)
    logger.info("punc export-text: %d lines, %d words in %s", lines, total, options.text)
