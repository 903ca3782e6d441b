"""Counts of a reference and a hypothesis: their slots by pairs of labels, and their word errors, unit by unit.

A *unit* is what intervals and tests resample: a stream, that is a recording or a text; or, where a set has too few
streams, a block of one. A unit's counts are a confusion matrix, reference × hypothesis, over the labels of the set, and
its word errors. Every metric is a function of sums of these, so resampling units (`significance`) or adding up sets
needs no second scoring.

Utterances of one recording are not independent, so they are no units. Below MIN_STREAMS streams nothing can be said of
how recordings differ: then the units are blocks, and the intervals are of other passages of the same recordings.
"""

import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import atomic_file, decode_line, open_input
from punc.base.jobs import Share
from punc.data.datadir import DataDir, Utterance, label_numbers
from punc.data.labels import LabelSet, with_capital
from punc.data.tables import count_blanks
from punc.scoring.posteriors import Posteriors
from punc.scoring.stream_counts import FORMS, OUTCOMES, Words, count_streams, counted_slots

BLOCK = 100  # reference words in a block, if nothing else is said
BATCH = 1 << 16  # words of streams that are aligned together
MIN_STREAMS = 10  # that are resampled as they are
WORD_COLUMNS = tuple(f"{form}:{outcome}" for form in ("WER", "WER_C", "WER_PC") for outcome in "CSDI")


class Counts(NamedTuple):
    """Counts of some units.

    units       the units' names: ids of streams, or STREAM:NUMBER for blocks
    confusion   (units, labels, labels) int64: slots, by reference and by hypothesis label
    streams     how many streams were scored
    aligned     how many of them have different words in reference and hypothesis
    words       (units, FORMS, OUTCOMES) int64: word errors; None if they are not known
    block       reference words per block; 0: the units are streams
    """

    units: list[str]
    confusion: np.ndarray
    streams: int = 0
    aligned: int = 0
    words: np.ndarray | None = None
    block: int = 0

    @property
    def flat(self) -> np.ndarray:
        """All numbers of each unit, (units, numbers), as `metrics.compute_flat` reads them."""
        tables = [self.confusion] + ([] if self.words is None else [self.words])
        return np.concatenate([table.reshape(len(self.units), -1) for table in tables], axis=1)


def count(reference: DataDir, hypothesis: DataDir, labels: LabelSet, block: int = BLOCK, last_slot: str = "true",
          match: str = "utterances", share: Share | None = None, posteriors: Posteriors | None = None) -> Counts:
    """Count slots by reference and hypothesis label, and word errors, one stream at a time; the units are blocks.

    block       reference words per block. A block does not cross streams
    last_slot   the slot at a stream's end: "true" counts it, "false" leaves it out, "only" counts nothing else
    match       what both must have: the same "utterances", or only the same "streams", cut in any way
    share       count this share of the streams only
    posteriors  of the hypothesis; they are counted too

    Raises InputError if ids differ, if labels are missing or not in the set, or if no slot is left of the whole.
    """
    for data in (reference, hypothesis):
        if not data.has_labels:
            raise InputError("no labels to score", "the data directory needs a file punct", data.path)
    streams = _streams_of_both(reference, hypothesis, match)
    if share:
        streams = share.of(streams, _words, count_blanks(reference.path / "text"))
    marks, parts = [label.mark for label in labels], [no_counts(labels, block)]
    for some in _batches(streams):
        sides = [(side_of(ref, labels, reference.path), side_of(hyp, labels, hypothesis.path)) for _, ref, hyp in some]
        done = count_streams(sides, marks, block, last_slot)
        if posteriors:
            posteriors.add([utterance for _, _, hyp in some for utterance in hyp], done.slots,
                           counted_slots([len(hyp.plain) for _, hyp in sides], last_slot))
        parts.append(Counts(block_names([stream for stream, _, _ in some], done.blocks), done.confusion, len(some),
                            done.aligned, done.words, block))
    return add_up(parts) if share else check_slots(add_up(parts), reference.path)


def no_counts(labels: LabelSet, block: int) -> Counts:
    """The counts of no stream."""
    return Counts([], np.zeros((0, len(labels), len(labels)), np.int64), 0, 0, np.zeros((0, FORMS, OUTCOMES), np.int64),
                  block)


def _batches(streams: Iterator[tuple[str, list[Utterance], list[Utterance]]]) -> Iterator[list]:
    """Streams in lists of about BATCH words: short ones take less time together."""
    batch, words = [], 0
    for stream in streams:
        batch.append(stream)
        words += _words(stream)
        if words >= BATCH:
            yield batch
            batch, words = [], 0
    if batch:
        yield batch


def side_of(utterances: Sequence[Utterance], labels: LabelSet, path: Path) -> Words:
    """A stream's utterances as words with label numbers; a label with a capital gives its word one.

    Raises InputError, which names the data directory `path`, for a label that is not in the set.
    """
    plain = [word for utterance in utterances for word in utterance.words]
    slots = label_numbers(utterances, labels, path)
    if not labels.cased:
        return Words(plain, slots)
    capital = np.array([label.capital for label in labels])[slots].tolist()
    return Words(plain, slots, [with_capital(word) if big else word for word, big in zip(plain, capital)])


def without_words(counts: Counts) -> Counts:
    """Counts without word errors, if all words are the same: then they say nothing that labels do not."""
    return counts if counts.aligned else counts._replace(words=None)


def block_names(streams: Iterable[str], blocks: Iterable[int]) -> list[str]:
    """The names of the blocks of streams: STREAM:NUMBER."""
    return [f"{stream}:{i:06}" for stream, number in zip(streams, blocks) for i in range(number)]


def join_blocks(counts: Counts, resample: str = "auto") -> Counts:
    """Counts of blocks, at least one, as what is resampled.

    resample   "streams" adds up the blocks of each stream, "blocks" leaves them, "auto" is "streams" if there are at
               least MIN_STREAMS of them
    """
    if resample == "blocks" or (resample == "auto" and counts.streams < MIN_STREAMS):
        return counts
    names = [name.rpartition(":")[0] for name in counts.units]
    first = [i for i, name in enumerate(names) if not i or name != names[i - 1]]

    def added(values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values, first)

    return counts._replace(block=0, units=[names[i] for i in first], confusion=added(counts.confusion),
                           words=None if counts.words is None else added(counts.words))


def add_up(shares: Sequence[Counts]) -> Counts:
    """The counts of all shares, in their order, as one."""
    words = [counts.words for counts in shares if counts.words is not None]
    return Counts([unit for counts in shares for unit in counts.units],
                  np.concatenate([counts.confusion for counts in shares]),
                  sum(counts.streams for counts in shares), sum(counts.aligned for counts in shares),
                  np.concatenate(words) if len(words) == len(shares) else None, shares[0].block)


def check_slots(counts: Counts, reference: str | os.PathLike) -> Counts:
    """The counts. Raises InputError about `reference` if they have no slot."""
    if not counts.confusion.any():
        raise InputError("no slot to score", "the data directories have no words, or --last-slot leaves them all out",
                         reference)
    return counts


def _words(stream: tuple[str, list[Utterance], list[Utterance]]) -> int:
    """The words of the reference in a stream."""
    return sum(len(utterance.words) for utterance in stream[1])


def _streams_of_both(reference: DataDir, hypothesis: DataDir,
                     match: str) -> Iterator[tuple[str, list[Utterance], list[Utterance]]]:
    """The streams of two directories in step. Raises InputError at the first difference in ids."""
    remedy = "score the output of the same data directory"
    for ref, hyp in itertools.zip_longest(reference.streams(), hypothesis.streams()):
        ref_stream, hyp_stream = ("nothing" if side is None else f"stream '{side[0]}'" for side in (ref, hyp))
        if ref_stream != hyp_stream:
            raise InputError(f"{hyp_stream} where {reference.path} has {ref_stream}", remedy, hypothesis.path)
        for one, other in itertools.zip_longest(ref[1], hyp[1]) if match == "utterances" else ():
            ref_id, hyp_id = ("nothing" if side is None else f"utterance '{side.id}'" for side in (one, other))
            if ref_id != hyp_id:
                raise InputError(f"{hyp_id} where {reference.path} has {ref_id}",
                                 f"{remedy}, or give --match streams if only the cuts differ", hypothesis.path)
        yield ref[0], ref[1], hyp[1]


def write_counts(path: str | os.PathLike, counts: Counts, labels: LabelSet) -> None:
    """Write counts as a table: one line per unit, one column REFERENCE>HYPOTHESIS per pair of labels.

    Word errors, if they are known, follow in WORD_COLUMNS: words that are correct, substituted, deleted, inserted.
    """
    table = counts.confusion.reshape(len(counts.units), len(labels) ** 2)
    header = ["unit", *(f"{r}>{h}" for r in labels.names for h in labels.names)]
    if counts.words is not None:
        table = np.concatenate([table, counts.words.reshape(len(table), FORMS * OUTCOMES)], axis=1)
        header += WORD_COLUMNS
    with atomic_file(path) as file:
        file.write("\t".join(header) + "\n")
        for unit, row in zip(counts.units, table.tolist()):
            file.write(unit + "\t" + "\t".join(map(str, row)) + "\n")


def read_counts(path: str | os.PathLike) -> tuple[Counts, LabelSet]:
    """Read the counts and the label set of a score directory. Raises InputError if it is not one."""
    path = Path(path)
    labels = LabelSet.read(path / "labels.txt")
    pairs, width = len(labels) ** 2, 0
    units, rows, table = [], [], path / "counts.tsv"
    with open_input(table) as file:
        for number, line in enumerate(file, 1):
            unit, *row = decode_line(line, table, number).split("\t")
            try:
                width = width or len(row)
                if len(row) != width or width not in (pairs, pairs + len(WORD_COLUMNS)):
                    raise ValueError
                if number > 1:
                    rows.append(np.array(row, np.int64))
                    units.append(unit)
                    if rows[-1].min() < 0:
                        raise ValueError
            except (ValueError, OverflowError):
                raise InputError("not the counts of a unit", "score again", table, number) from None
    if not units:
        raise InputError("no counts", "score again", table)
    found = np.array(rows)
    words = found[:, pairs:].reshape(-1, FORMS, OUTCOMES) if width > pairs else None
    return Counts(units, found[:, :pairs].reshape(-1, len(labels), len(labels)), words=words), labels
