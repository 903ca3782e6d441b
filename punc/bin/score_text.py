"""`punc score-text`: score text punctuated by any system against a reference."""

import logging
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from punc.base.errors import InputError
from punc.base.options import OptionParser, boolean
from punc.bin.score import add_scoring
from punc.data.datadir import checksum
from punc.data.labels import LabelSet
from punc.scoring.counts import Counts, join_blocks
from punc.scoring.metrics import compute_flat, parse_collapse
from punc.scoring.report import check_labels, new_score, score_table, signature, system_table, systems_json, write_score
from punc.scoring.significance import Comparison, Interval, all_flat, compare, intervals
from punc.scoring.texts import ENGLISH, Side, count_sides, read_side, text_reader

logger = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser(
        "punc score-text [options] REF HYP …",
        "Scores the marks of punctuated text against the marks of a reference. REF and each HYP are a text file (one "
        "recording or text per line, or a single text) or a data directory with labels. Words may differ: both sides "
        "are aligned, ignoring case, the reference's marks move to the aligned words, and word errors are counted. "
        "Each further HYP is tested against the first one. Intervals and tests resample lines or, if there are fewer "
        "than ten, blocks of words.",
        "punc score-text reference.txt ours.txt theirs.txt")
    parser.add_argument("--labels", metavar="FILE",
                        help="the label set, a labels.txt; default: COMMA (also : - –), PERIOD (also ; ! …), QUESTION")
    parser.add_argument("--characters", type=boolean, default=False, metavar="BOOL",
                        help="characters are words: for text without spaces between words, such as Japanese")
    add_scoring(parser)
    parser.add_argument("--out", metavar="DIR",
                        help="also write a score directory, such as EXP/SYSTEM/decode_SET/score for punc results; "
                             "with one HYP only")
    parser.add_argument("reference", metavar="REF", help="reference: a text file or a data directory")
    parser.add_argument("hypotheses", metavar="HYP", nargs="+", help="a system's output: text files, data directories")
    options = parser.parse(arguments)
    if options.out and len(options.hypotheses) > 1:
        raise InputError("--out cannot be used with several HYP", "score one at a time with --out")
    if options.out and options.labels:
        check_labels(options.out, options.labels)
    labels = LabelSet.read(options.labels) if options.labels else ENGLISH
    collapses = [parse_collapse(text, labels) for text in options.collapse]
    measure = partial(compute_flat, labels=labels, collapses=collapses)
    reference, counted = count_all(options, labels)
    known = checksum(reference.path) if reference.named else reference.checksum
    signed = {name: signature(counts, labels, known, "true") for name, counts in counted.items()}
    measured = {name: intervals(counts.flat, measure) for name, counts in counted.items()}
    first, *others = counted
    numbers = dict(zip(counted, all_flat(list(counted.values()))))
    # The same units are resampled for all systems, because the units depend only on the reference.
    tests = {name: compare(numbers[name], numbers[first], measure) for name in others}
    if options.out:
        with new_score(options.out) as tmp:
            write_score(tmp, counted[first], labels, measured[first], signed[first])
    show(options.output, measured, signed, tests)


def show(output: str, measured: dict[str, dict[str, Interval]], signed: dict[str, str],
         tests: dict[str, dict[str, Comparison]]) -> None:
    if output == "json":
        print(systems_json(measured, signed, tests))
    elif tests:
        print(system_table(measured, tests), "", *(f"{name}: {text}" for name, text in signed.items()), sep="\n")
    else:
        for name, of_system in measured.items():  # `measured` has only one system
            print(score_table(of_system), signed[name], sep="\n\n")


def count_all(options: Namespace, labels: LabelSet) -> tuple[Side, dict[str, Counts]]:
    """Return the reference, and a dictionary from each system's name to its counts, one row per resampling unit. Logs
    the word errors."""
    read = text_reader(labels, options.characters)
    reference = read_side(Path(options.reference), labels, read)
    sides = {name: read_side(Path(name), labels, read) for name in options.hypotheses}
    paired = reference
    if any(len(side.streams) != len(reference.streams) for side in sides.values()):
        logger.info("punc score-text: the files have different numbers of lines, so each file is scored as one text")
        paired = reference.as_whole
        sides = {name: side.as_whole for name, side in sides.items()}
    counted = {}
    for name, side in sides.items():
        counts = count_sides(paired, side, labels)
        assert counts.words is not None, "words are counted in texts"
        correct, substituted, deleted, inserted = counts.words[:, 0].sum(0).tolist()
        logger.info("punc score-text: %s: %d words, the reference has %d; WER %.2f %%: %d substituted, %d deleted, "
                    "%d inserted", name, side.words, reference.words,
                    100 * (substituted + deleted + inserted) / max(correct + substituted + deleted, 1), substituted,
                    deleted, inserted)
        counted[name] = join_blocks(counts)
    return reference, counted
