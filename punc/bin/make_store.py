"""`punc make-store`: data directories to a vocabulary and flat arrays."""

import os
from collections.abc import Sequence

from punc.base.options import OptionParser
from punc.tokens.store import make_store
from punc.tokens.tokenizers import TOKENIZERS


def options() -> OptionParser:
    parser = OptionParser(
        "punc make-store --labels FILE [options] STORE-DIR DATA-DIR [DATA-DIR …]",
        "A vocabulary and flat memory-mapped arrays of data directories; each becomes a set of its name.",
        "punc make-store --labels conf/labels.txt data/store_word data/train data/dev")
    parser.add_argument("--labels", required=True, metavar="FILE", help="label set that `punct` is written in")
    parser.add_argument("--token-type", choices=tuple(TOKENIZERS), default="word",
                        help="what a token is; class: a word, but all Latin words are one token, all numbers another")
    parser.add_argument("--vocab-size", type=int, metavar="N",
                        help="most frequent tokens to keep (default: 100000, of subwords 8000)")
    parser.add_argument("--min-count", type=int, default=1, metavar="N", help="occurrences of a token to keep it")
    parser.add_argument("--vocab", metavar="FILE", help="an existing vocabulary, instead of making one; of subwords, "
                        "with its pieces.model beside it")
    parser.add_argument("--train", metavar="NAMES",
                        help="sets whose words make the vocabulary, with commas between; else the first")
    parser.add_argument("--nj", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="processes")
    parser.add_argument("store", metavar="STORE-DIR", help="store to make")
    parser.add_argument("data", metavar="DATA-DIR", nargs="+", help="data directories")
    return parser


def main(arguments: Sequence[str]) -> None:
    args = options().parse(arguments)
    make_store(args.store, args.data, args.labels, args.token_type, args.vocab_size, args.min_count, args.vocab, args.train,
               args.nj)
