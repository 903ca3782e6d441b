"""`punc make-store`: data directories to a vocabulary and flat arrays."""

from collections.abc import Sequence

from punc.options import OptionParser
from punc.store import UNITS, make_store


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc make-store [options] STORE-DIR DATA-DIR …",
        "Make a vocabulary and flat memory-mapped arrays of data directories; each becomes a set of its name.",
        "punc make-store --labels conf/labels.txt data/store_word data/train data/dev")
    parser.add_argument("--unit", choices=UNITS, default="word", help="what a token is")
    parser.add_argument("--vocab-size", type=int, default=100000, help="words besides <unk> and </s>")
    parser.add_argument("--vocab", metavar="FILE", help="an existing vocabulary, instead of making one")
    parser.add_argument("--train", metavar="NAME", help="the set whose words make the vocabulary; else the first")
    parser.add_argument("--labels", metavar="FILE", default="labels.txt", help="the label set")
    parser.add_argument("--nj", type=int, default=2, help="processes; the result does not depend on it")
    parser.add_argument("store", metavar="STORE-DIR")
    parser.add_argument("data", metavar="DATA-DIR", nargs="+")
    options = parser.parse(arguments)
    make_store(options.store, options.data, options.labels, options.unit, options.vocab_size, options.vocab,
               options.train, options.nj)
