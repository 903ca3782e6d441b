"""Data directories with ASR noise: the words as a recogniser might have written them, with their labels and pauses."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from punc.base.runs import bounds_of
from punc.data.datadir import DataDir, Utterance
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import LabelSet
from punc.noise.confusions import Confusions
from punc.noise.draw import Drawn, Fluency, draw, drawn_pauses
from punc.noise.table import NoiseTable, make_table
from punc.scoring.project import Projection, project_stream


@dataclass
class Corrupted:
    """Sums over streams: of the words that were drawn, and of the labels that were projected onto them."""

    deleted: int = 0
    inserted: int = 0
    sums: np.ndarray = field(default_factory=lambda: np.zeros(len(Projection._fields), np.int64))

    @property
    def projection(self) -> Projection:
        return Projection(*self.sums.tolist())


def corrupt(data_dir: str | os.PathLike, out_dir: str | os.PathLike, confusions: Confusions, labels: LabelSet,
            wer: float, seed: int = 1, draws: int = 1) -> Corrupted:
    """Write `out_dir`: the data directory with the errors of a recogniser.

    wer    the word error rate to expect
    seed   of the errors; the same one gives the same directory
    draws  how often a wrong word is drawn, to take the draw that fits best into the text

    Labels are those that `punc project` puts onto these words. Memory: one stream, and the different words.

    Raises InputError if the directory has no labels, for a label that is not in the set, and if the confusions cannot
    give so many errors.
    """
    data = DataDir(data_dir, needs=["punct"])
    is_marked = {label.name: bool(label.mark) for label in labels}
    words: Counter[str] = Counter()
    marks = 0
    for utterance in data.utterances():
        words.update(utterance.words)
        marks += sum(is_marked.get(label, False) for label in utterance.labels or ())
    types = {word: number for number, word in enumerate(dict.fromkeys([*confusions.words, *sorted(words)]), 1)}
    names = ["", *types]
    counts = np.array([words[name] for name in names])
    table = make_table(confusions, types, words).at_wer(wer, counts, marks / max(words.total(), 1))
    fluency = _fluency(data, types, draws) if draws > 1 else None
    done = Corrupted()
    write_data_dir(out_dir, _utterances(data, table, types, names, labels, seed, done, fluency), like=data)
    return done


def _fluency(data: DataDir, types: Mapping[str, int], draws: int) -> Fluency:
    """The pairs of words of a data directory."""
    fluency = Fluency(draws)
    for _, stream in data.streams():
        words = _types(stream, types)
        fluency.add(words, np.zeros(len(words), bool))
    return fluency


def _types(stream: Sequence[Utterance], types: Mapping[str, int]) -> np.ndarray:
    """The types of the words of a stream, int64."""
    return np.array([types[word] for utterance in stream for word in utterance.words], np.int64)


def _utterances(data: DataDir, table: NoiseTable, types: Mapping[str, int], names: Sequence[str], labels: LabelSet,
                seed: int, done: Corrupted, fluency: Fluency | None) -> Iterator[Utterance]:
    """The utterances with errors, stream by stream; adds to the sums."""
    rng = np.random.default_rng(seed)
    has_mark = {label.name: bool(label.mark) for label in labels}
    for _, stream in data.streams():
        words = _types(stream, types)
        marks = np.array([has_mark.get(label, False) for utterance in stream for label in utterance.labels or ()], bool)
        drawn = draw(table, words, marks, np.arange(len(words)) == 0, rng, fluency=fluency)
        heard = _cut(stream, drawn, names)
        projected, counts = project_stream(stream, heard, labels, data.path)
        done.deleted += drawn.deleted
        done.inserted += drawn.inserted
        done.sums += counts
        numbers = iter(projected.tolist())
        for utterance in heard:
            yield utterance._replace(labels=[labels.names[next(numbers)] for _ in utterance.words])


def _cut(stream: Sequence[Utterance], drawn: Drawn, names: Sequence[str]) -> list[Utterance]:
    """The words of a stream with errors as its utterances, with their pauses."""
    bounds = bounds_of(len(utterance.words) for utterance in stream)
    places = np.searchsorted(drawn.source, bounds).tolist()
    pauses = None
    if stream[0].pauses is not None:
        known = [utterance.pauses for utterance in stream if utterance.pauses is not None]
        pauses = drawn_pauses(np.concatenate(known), drawn)
    return [utterance._replace(words=[names[word] for word in drawn.words[begin:end].tolist()], labels=None,
                               pauses=None if pauses is None else pauses[begin:end])
            for utterance, (begin, end) in zip(stream, pairwise(places))]
