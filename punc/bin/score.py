"""`punc score`: score a punctuated data directory against a reference."""

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from punc.base.errors import InputError
from punc.base.jobs import Part, Share, add_job_options, new_part
from punc.base.options import OptionParser
from punc.data.datadir import DataDir, checksum
from punc.data.labels import LabelSet
from punc.scoring.collapse import merge, parse_collapse
from punc.scoring.counts import Counts, add_up, count, read_counts, write_counts
from punc.scoring.metrics import compute_metrics
from punc.scoring.report import METRICS, new_score, score_table, signature, write_score
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
    add_job_options(options)
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
    check_classes(options, labels)  # before the work
    reference, hypothesis, share = DataDir(options.reference), DataDir(options.hypothesis), Share.parsed(options)
    settings = options.block, options.last_slot, options.match
    if not share:
        with new_score(options.out) as out:
            finish(options, labels, count(reference, hypothesis, labels, *settings), out)
        return
    files = [Path(options.labels), *(data.path / name for data in (reference, hypothesis) for name in data.tables)]
    files += [Path(options.against) / "counts.tsv"] if options.against else []
    with new_part(Path(options.out), "score", share, options, "out", files) as (part, result):
        counts = count(reference, hypothesis, labels, *settings, share=share)
        write_counts(part / "counts.tsv", counts, labels)
        labels.write(part / "labels.txt")
        result.update(streams=counts.streams, aligned=counts.aligned)


def join(parts: Sequence[Part], out: Path) -> None:
    """Join the counts of all jobs, and score them, for `punc join`."""
    shares = [read_counts(part.path)[0]._replace(**part.result) for part in parts if part.result["streams"]]
    options = parts[0].parsed()
    labels = LabelSet.read(options.labels)
    with new_score(out) as tmp:
        finish(options, labels, add_up(shares, options.reference), tmp)


def check_classes(options: Namespace, labels: LabelSet) -> None:
    """Raise InputError for a class of labels that is wrong."""
    if options.merge:
        _, labels = merge(np.zeros((len(labels), len(labels)), np.int64), labels, options.merge)
    for text in options.collapse:
        parse_collapse(text, labels)


def finish(options: Namespace, labels: LabelSet, counts: Counts, out: Path) -> None:
    """Print and write the metrics of all counts. Raises InputError if --against has counted other slots."""
    if options.merge:
        confusion, labels = merge(counts.confusion, labels, options.merge)
        counts = counts._replace(confusion=confusion)
    measure = partial(compute_metrics, labels=labels,
                      collapses=[parse_collapse(text, labels) for text in options.collapse])
    comparison = None
    if options.against:
        if not Path(options.against, METRICS).is_file():
            raise InputError("no such file", "name a score directory: punc score writes it",
                             Path(options.against, METRICS))
        other, _ = read_counts(options.against)
        check_pair(other, counts, options.against)
        comparison = compare(counts.confusion, other.confusion, measure, options.replicates, options.seed)
    measured = intervals(counts.confusion, measure, options.replicates, options.seed)
    signed = signature(counts, labels, checksum(options.reference), options.block, options.last_slot,
                       options.replicates, options.seed)
    write_score(out, counts, labels, measured, signed, comparison)
    print(score_table(measured, comparison), signed, sep="\n\n")
