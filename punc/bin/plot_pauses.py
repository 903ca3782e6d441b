"""`punc plot-pauses`: pictures of pauses, by label, and against a system's posteriors."""

import sys
from collections.abc import Sequence

from punc.base.errors import InputError
from punc.base.options import OptionParser
from punc.data.datadir import DataDir
from punc.scoring.plots import available, plot_pauses, plot_posteriors, posteriors, slots


def options() -> OptionParser:
    parser = OptionParser("punc plot-pauses [options] DATA-DIR OUT.png",
                          "The distribution of the pauses of each label, on a logarithmic axis; with --decode, a "
                          "system's posterior of one label against the pause. Without matplotlib it only says so.",
                          "punc plot-pauses --title 'Broadcast news' data/train data/pauses.png")
    parser.add_argument("--title", default="", metavar="TEXT", help="above the picture")
    parser.add_argument("--decode", metavar="DIR", help="punc punctuate's output for DATA-DIR, in its system's folder")
    parser.add_argument("--label", default="PERIOD", metavar="NAME", help="with --decode: whose posterior")
    parser.add_argument("--thresholds", default="", metavar="SECONDS",
                        help="with --decode: vertical lines, blanks between")
    parser.add_argument("data", metavar="DATA-DIR", help="a data directory with labels and pauses")
    parser.add_argument("out", metavar="OUT.png", help="picture to write")
    return parser


def main(arguments: Sequence[str]) -> None:
    args = options().parse(arguments)
    try:
        thresholds = [float(value) for value in args.thresholds.split()]
    except ValueError:
        raise InputError(f"--thresholds '{args.thresholds}' are not numbers", "write seconds, blanks between") from None
    if not available():
        print(f"punc plot-pauses: no {args.out}: matplotlib is not installed; pip install 'punc[plot]'",
              file=sys.stderr)
        return
    data = DataDir(args.data)
    by_label = slots(data)
    if args.decode:
        found = posteriors(data, args.decode, args.label)
        plot_posteriors(*found, args.out, args.label, thresholds, args.title)
    else:
        plot_pauses(by_label, args.out, args.title)
