"""`punc score`: score a punctuated data directory against a reference."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from punc.base.errors import InputError
from punc.base.options import OptionParser
from punc.data.datadir import DataDir, checksum
from punc.data.labels import LabelSet
from punc.scoring.collapse import merge, parse_collapse
from punc.scoring.counts import count, read_counts
from punc.scoring.metrics import compute_metrics
from punc.scoring.report import score_table, signature, write_score
from punc.scoring.significance import check_pair, compare, intervals


def parser() -> OptionParser:
    """The options of `punc score`."""
    options = OptionParser(
        "punc score [options] --labels FILE REF-DIR HYP-DIR OUT-DIR",
        "Score the labels of the data directory HYP-DIR against those of REF-DIR. If the words of a stream differ, its "
        "reference labels are first projected onto the words of HYP-DIR. Prints a table; writes counts.tsv, "
        "metrics.tsv, labels.txt and signature into OUT-DIR.",
        "punc score --labels exp/T-LSTM/labels.txt --collapse 3-class:FULLSTOP=PERIOD+QUESTION data/test_ref "
        "exp/T-LSTM/decode_test_ref exp/T-LSTM/decode_test_ref/score")
    options.add_argument("--labels", required=True, metavar="FILE", help="the label set, a labels.txt")
    options.add_argument("--block", type=int, default=0, metavar="N",
                         help="resample blocks of N slots of a stream instead of utterances; 0: utterances")
    options.add_argument("--last-slot", choices=("true", "false", "only"), default="true",
                         help="count the slot at a stream's end with the others (true), not (false), or alone (only)")
    options.add_argument("--match", choices=("utterances", "streams"), default="utterances",
                         help="what both directories must have in common; streams can be cut in any way")
    options.add_argument("--collapse", action="append", default=["2-class"], metavar="NAME:CLASS=LABEL+LABEL,…",
                         help="also score with labels taken together; NAME alone: all marks; can be given again")
    options.add_argument("--merge", default="", metavar="CLASS=LABEL+LABEL,…",
                         help="score classes of labels instead of labels, as marks without their words' capitals")
    options.add_argument("--replicates", type=int, default=2000, metavar="N",
                         help="resamplings for intervals and p; p is at least 1/(N+1)")
    options.add_argument("--seed", type=int, default=1, metavar="N", help="random seed of the resamplings")
    options.add_argument("--against", metavar="DIR", help="also test against another system's score directory")
    options.add_argument("reference", metavar="REF-DIR", help="data directory with the reference labels")
    options.add_argument("hypothesis", metavar="HYP-DIR", help="data directory with a system's labels")
    options.add_argument("out", metavar="OUT-DIR", help="score directory to write")
    return options


def main(arguments: Sequence[str]) -> None:
    """Run `punc score`. Raises InputError for a user's mistake."""
    options = parser().parse(arguments)
    for name, least in (("block", 0), ("replicates", 1), ("seed", 0)):
        if getattr(options, name) < least:
            raise InputError(f"--{name}={getattr(options, name)} is too small", f"give {least} or more")
    labels = LabelSet.read(options.labels)
    counts = count(DataDir(options.reference), DataDir(options.hypothesis), labels,
                   options.block, options.last_slot, options.match)
    if options.merge:
        confusion, labels = merge(counts.confusion, labels, options.merge)
        counts = counts._replace(confusion=confusion)
    collapses = [parse_collapse(text, labels) for text in options.collapse]
    measure = partial(compute_metrics, labels=labels, collapses=collapses)
    comparison = None
    if options.against:
        other, _ = read_counts(options.against)
        check_pair(other, counts, options.against)
        comparison = compare(counts.confusion, other.confusion, measure, options.replicates, options.seed)
    measured = intervals(counts.confusion, measure, options.replicates, options.seed)
    signed = signature(counts, labels, checksum(options.reference), options.block, options.last_slot,
                       options.replicates, options.seed)
    write_score(Path(options.out), counts, labels, measured, signed, comparison)
    print(score_table(measured, comparison), signed, sep="\n\n")
