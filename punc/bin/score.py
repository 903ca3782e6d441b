"""`punc score`: score a punctuated data directory against a reference."""

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from punc.base.files import open_input
from punc.base.options import OptionParser
from punc.data.datadir import DataDir, checksum
from punc.data.labels import LabelSet, check_record
from punc.scoring.counts import LAST_SLOTS, Counts, join_blocks, read_counts
from punc.scoring.metrics import Collapse, compute_flat, compute_metrics, merge_counts, merged_labels, parse_collapse
from punc.scoring.posteriors import Posteriors
from punc.scoring.report import METRICS, check_labels, new_score, score_json, score_table, signature, write_score
from punc.scoring.significance import Interval, all_flat, check_pair, compare, intervals
from punc.scoring.texts import count


def add_scoring(options: OptionParser, collapses: Sequence[str] = ()) -> None:
    options.add_argument("--collapse", action="append", default=[*collapses], metavar="NAME:CLASS=LABEL+LABEL,…",
                         help="also score with labels merged into classes; NAME alone: all marks are one class; can be "
                             "repeated")
    options.add_argument("--output", choices=("text", "json"), default="text", help="what to print: a table, or JSON")


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc score [options] --labels FILE REF-DIR HYP-DIR OUT-DIR",
        "Scores the labels of the data directory HYP-DIR against those of REF-DIR. If the words of a stream differ, "
        "its reference labels are first projected onto the words of HYP-DIR, and word errors are counted. Intervals "
        "and tests resample streams (recordings, or texts) or, if there are fewer than ten, blocks of words. Prints a "
        "table; writes counts.tsv, metrics.tsv, labels.txt and signature into OUT-DIR.",
        "punc score --labels exp/T-LSTM/labels.txt --collapse 3-class:FULLSTOP=PERIOD+QUESTION data/test_ref "
        "exp/T-LSTM/decode_test_ref exp/T-LSTM/decode_test_ref/score")
    parser.add_argument("--labels", required=True, metavar="FILE", help="the label set, a labels.txt")
    parser.add_argument("--last-slot", choices=LAST_SLOTS, default="true",
                        help="whether to count the last slot of each stream: true, false, or only (count no other "
                             "slots)")
    parser.add_argument("--match", choices=("utterances", "streams"), default="utterances",
                        help="which ids must be the same in both directories; with streams, the utterances may differ")
    parser.add_argument("--merge", default="", metavar="CLASS=LABEL+LABEL,…",
                        help="score these classes instead of single labels, for example to ignore capitals")
    add_scoring(parser, ["2-class"])
    parser.add_argument("--against", metavar="DIR", help="also test against another system's score directory")
    parser.add_argument("reference", metavar="REF-DIR", help="data directory with the reference labels")
    parser.add_argument("hypothesis", metavar="HYP-DIR", help="data directory with a system's labels")
    parser.add_output("out", metavar="OUT-DIR", help="score directory to write")
    options = parser.parse(arguments)
    check_labels(options.out, options.labels)
    labels = LabelSet.read(options.labels)
    scored, class_of = merged_labels(labels, options.merge) if options.merge else (labels, None)
    collapses = [parse_collapse(text, scored) for text in options.collapse]
    reference, hypothesis = (DataDir(path, needs=["punct"]) for path in (options.reference, options.hypothesis))
    check_record(reference.path, labels)
    check_record(hypothesis.path, labels, "punctuate it with a model of that label set")
    posteriors = None if options.merge else Posteriors.of(options.hypothesis, labels)
    with new_score(options.out) as out:
        counts = count(reference, hypothesis, labels, last_slot=options.last_slot, match=options.match,
                       posteriors=posteriors)
        if not counts.aligned:  # both sides have the same words, so word errors are not reported
            counts = counts._replace(words=None)
        if class_of is not None:
            counts = counts._replace(confusion=merge_counts(counts.confusion, class_of, len(scored)))
        finish(options, scored, collapses, join_blocks(counts), posteriors, out)


def finish(options: Namespace, labels: LabelSet, collapses: Sequence[Collapse], counts: Counts,
           posteriors: Posteriors | None, out: Path) -> None:
    """Print and write all metrics. Raises InputError if the --against score was computed on different slots."""
    measure = partial(compute_flat, labels=labels, collapses=collapses)
    comparison = None
    if options.against:
        with open_input(Path(options.against, METRICS), "give a score directory: punc score writes it"):
            other, _ = read_counts(options.against)
        check_pair(other, counts, options.against)
        this, theirs = all_flat([counts, other])
        comparison = compare(this, theirs, measure)
    measured = intervals(counts.flat, measure)
    if posteriors:
        words = None if counts.words is None else counts.words.sum(0)
        areas = compute_metrics(counts.confusion.sum(0), labels, collapses, words, posteriors.histograms)
        measured = {name: measured.get(name, Interval(float(value), np.nan, np.nan)) for name, value in areas.items()}
    signed = signature(counts, labels, checksum(options.reference), options.last_slot)
    write_score(out, counts, labels, measured, signed, comparison)
    if options.output == "json":
        print(score_json(measured, signed, comparison))
    else:
        print(score_table(measured, comparison), signed, sep="\n\n")
