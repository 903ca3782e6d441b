"""`punc make-store`: convert data directories to a store."""

import os
from collections.abc import Sequence

from punc.base.options import OptionParser
from punc.tokens.store import make_store
from punc.tokens.tokenizer import token_types, tokenizer_class


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc make-store --labels FILE [options] STORE-DIR DATA-DIR [DATA-DIR …]",
        "Turns data directories into a store: a vocabulary and memory-mapped arrays. Each directory becomes a set.",
        "punc make-store --labels conf/labels.txt data/store_word data/train data/dev")
    parser.add_argument("--labels", required=True, metavar="FILE", help="label set of the files `punct`")
    kinds = {name: tokenizer_class(name) for name in token_types()}
    sizes = ", ".join(f"{name} {kind.vocab_size}" for name, kind in kinds.items())
    parser.add_argument("--token-type", choices=tuple(kinds), default="word", help="what a token is; "
                        + "; ".join(f"{name}: {kind.meaning}" for name, kind in kinds.items()))
    parser.add_argument("--vocab-size", type=int, metavar="N",
                        help=f"how many of the most frequent tokens to keep (default: {sizes})")
    parser.add_argument("--min-count", type=int, default=1, metavar="N", help="leave out tokens that occur less often")
    parser.add_argument("--vocab", metavar="FILE",
                        help="use this vocabulary instead of a new one; for subwords, keep pieces.model next to it")
    parser.add_argument("--train", metavar="NAMES",
                        help="make the vocabulary from these sets, separated by commas (default: the first)")
    parser.add_argument("--join", action="append", default=[], metavar="NAME=SET,SET,…",
                        help="add a set that joins other sets, to train on all of them; can be repeated")
    parser.add_argument("--clitics", default="", metavar="FILE",
                        help="the rules that split the words of the data directories, as for punc prepare; models "
                             "trained on the store split their input by the same rules")
    parser.add_argument("--nj", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="number of processes")
    parser.add_output("store", metavar="STORE-DIR", help="store to make")
    parser.add_argument("data", metavar="DATA-DIR", nargs="+", help="data directories")
    args = parser.parse(arguments)
    make_store(args.store, args.data, args.labels, args.token_type, args.vocab_size, args.min_count, args.vocab,
               args.train, args.nj, args.join, args.clitics)
