"""`punc soft-targets`: a teacher's posteriors as the soft targets of a set, for punc train --teacher."""

from collections.abc import Sequence
from pathlib import Path

from punc.base.options import OptionParser
from punc.data.labels import LabelSet
from punc.decoding.shipped import find_model
from punc.tokens.soft_targets import make_targets
from punc.tokens.store import Store


def options() -> OptionParser:
    parser = OptionParser(
        "punc soft-targets [options] TEACHER STORE-DIR SET OUT-DIR PUNCTUATED-DIR [PUNCTUATED-DIR …]",
        "Writes the posteriors of a teacher as the soft targets of a set of a store: OUT-DIR, for punc train --teacher "
        "OUT-DIR. PUNCTUATED-DIR is what punc punctuate made of the data directory of the set, with post.ark; of a "
        "joined set name those of its members, in order. TEACHER is the directory of the model that has punctuated, "
        "or its name if it ships with punc. Finished targets are not made again.",
        "punc soft-targets exp/wide data/store train exp/wide/targets_train exp/wide/decode_train")
    parser.add_argument("teacher", metavar="TEACHER", help="directory of the teacher, or the name of one that ships")
    parser.add_argument("store", metavar="STORE-DIR", help="store of the student")
    parser.add_argument("set", metavar="SET", help="set of the store")
    parser.add_argument("out", metavar="OUT-DIR", help="directory of soft targets to make")
    parser.add_argument("punctuated", metavar="PUNCTUATED-DIR", nargs="+", help="what the teacher has punctuated")
    return parser


def main(arguments: Sequence[str]) -> None:
    args = options().parse(arguments)
    labels = LabelSet.read(find_model(args.teacher) / "labels.txt")
    make_targets(Path(args.out), Store(args.store), args.set, labels, [Path(path) for path in args.punctuated])
