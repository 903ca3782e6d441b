"""`punc soft-targets`: compute a teacher's posteriors for sets of a store, as soft targets for punc train --teacher."""

from collections.abc import Sequence
from pathlib import Path

import torch

from punc.base.errors import check_at_least
from punc.base.options import OptionParser
from punc.base.processor import find_device
from punc.decoding.shipped import find_model
from punc.decoding.soft_targets import make_targets
from punc.tokens.store import Store


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc soft-targets [options] TEACHER STORE-DIR OUT-DIR SET [SET …]",
        "Writes the posteriors of a teacher for sets of a store, for punc train --teacher OUT-DIR. TEACHER is the "
        "directory of a model, or the name of a bundled one. STORE-DIR is a store with the teacher's tokens; a student "
        "with other tokens has its own store of the same data directories. A joined set uses the targets of its "
        "members. Finished targets are not made again.",
        "punc soft-targets exp/wide data/store exp/wide/targets text calls")
    parser.add_argument("--context", type=int, metavar="TOKENS",
                        help="tokens read before each chunk (and after it, by a bidirectional model); "
                             "default: 256, or 32 for packed models and encoders")
    parser.add_argument("--device", default="auto", metavar="NAME",
                        help="auto, cpu, cuda or cuda:N; auto: a GPU if PyTorch sees one")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of PyTorch")
    parser.add_argument("teacher", metavar="TEACHER", help="directory of the teacher, or the name of a bundled one")
    parser.add_argument("store", metavar="STORE-DIR", help="store of the teacher's tokens")
    parser.add_output("out", metavar="OUT-DIR", help="directory of soft targets to make")
    parser.add_argument("sets", metavar="SET", nargs="+", help="set of the store, not a joined one")
    args = parser.parse(arguments)
    check_at_least(1, threads=args.threads)
    check_at_least(0, context=args.context or 0)
    torch.set_num_threads(args.threads)
    make_targets(find_model(args.teacher), Store(args.store), Path(args.out), args.sets, args.context,
                 find_device(args.device))
