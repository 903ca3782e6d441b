"""`punc make-store`: data directories to a store."""

import os
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from punc.base.errors import InputError
from punc.base.jobs import Part, Share, add_job_options, new_part
from punc.base.options import OptionParser
from punc.tokens.store import StorePlan, make_store, plan_store
from punc.tokens.store_parts import join_counts, join_store, read_counted, write_store_share
from punc.tokens.tokenizer import token_types, tokenizer_class


def options() -> OptionParser:
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
                        help="use this vocabulary instead of a new one; for subwords, pieces.model is next to it")
    parser.add_argument("--train", metavar="NAMES",
                        help="make the vocabulary from these sets, with commas between (default: the first)")
    parser.add_argument("--join", action="append", default=[], metavar="NAME=SET,SET,…",
                        help="make one more set of sets end to end, to train on all of them; can be given again")
    parser.add_argument("--clitics", default="", metavar="FILE",
                        help="the rules by which the words of the data directories were split, as for punc prepare: "
                             "models keep them, and split the words that they get in the same way")
    parser.add_argument("--nj", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="number of processes")
    add_job_options(parser)
    parser.add_argument("--only", choices=("count", "check"), metavar="WHAT",
                        help="count: with --jobs, count the words of a share; punc join makes a vocabulary of the "
                             "counts. check: make nothing; the exit status says whether the store is finished")
    parser.add_argument("--counted", metavar="DIR",
                        help="with --jobs, use the vocabulary that punc join made of counts")
    parser.add_argument("store", metavar="STORE-DIR", help="store to make")
    parser.add_argument("data", metavar="DATA-DIR", nargs="+", help="data directories")
    return parser


def main(arguments: Sequence[str]) -> int:
    args = options().parse(arguments)
    share, path = Share.parsed(args), Path(args.store)
    if args.only == "check":
        return 0 if planned(args, path).finished(path) else 1
    if not share:
        if args.only or args.counted:
            raise InputError(f"--{'only count' if args.only else 'counted'} without --jobs", "give --jobs and --job")
        make_store(path, args.data, args.labels, args.token_type, args.vocab_size, args.min_count, args.vocab,
                   args.train, args.nj, args.join, args.clitics)
        return 0
    if bool(args.vocab) + bool(args.counted) + (args.only == "count") != 1:
        raise InputError("--jobs needs a vocabulary", "give --only count, or --counted with what was made of the "
                         "counts, or --vocab")
    plan = planned(args, None)
    with new_part(path, "make-store", share, args, "store", files(args, plan)) as (part, result):
        if args.only:
            plan.kind.write_counts(part, plan.train, args.nj, share)
        else:
            tokenizer = plan.tokenizer or read_counted(plan, Path(args.counted))
            result |= write_store_share(plan, tokenizer, part, args.nj, share)
    return 0


def planned(args: Namespace, path: Path | None) -> StorePlan:
    """The store of a command line; `path`: its directory, to be checked."""
    return plan_store(path, args.data, args.labels, args.token_type, args.vocab_size, args.min_count, args.vocab,
                      args.train, args.join, args.clitics)


def files(args: Namespace, plan: StorePlan) -> list[Path]:
    """All files that the store is made from."""
    tables = [data.path / name for data in plan.sets.values() for name in data.tables]
    vocabularies = [Path(args.vocab)] if args.vocab else []
    if args.counted:
        vocabularies.append(Path(args.counted) / "vocab")
    clitics = [Path(args.clitics)] if args.clitics else []
    given = [Path(args.labels), *clitics, *vocabularies]
    return [*given, *(path.with_name("pieces.model") for path in vocabularies), *tables]


def join(parts: Sequence[Part], out: Path) -> None:
    """Join counts to a vocabulary, or encoded parts to a store, for `punc join`."""
    args = parts[0].parsed()
    plan = planned(args, out)
    if args.only:
        join_counts(plan, [part.path for part in parts], out)
    else:
        join_store(plan, parts, out)
