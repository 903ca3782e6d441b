"""Data directories with ASR noise: the words as a recogniser might have written them, with their labels and pauses."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from punc.base.runs import bounds_of
from punc.data.datadir import DataDir, Utterance, label_numbers
from punc.data.datadir_writer import write_data_dir
from punc.data.labels import LabelSet
from punc.noise.confusions import Confusions
from punc.noise.draw import Drawn, Fluency, draw, drawn_pauses
from punc.noise.table import NoiseTable, make_table
from punc.scoring.project import Projection, project_stream


def corrupt(data_dir: str | os.PathLike, out_dir: str | os.PathLike, confusions: Confusions, labels: LabelSet,
            wer: float, seed: int = 1, draws: int = 1) -> tuple[Projection, int, int]:
    """Write `out_dir`: the data directory with the errors of a recogniser, as `StoreNoise` draws them for a store.

    Labels are those that `punc project` puts onto these words. Memory: one stream, and the different words. Returns
    sums over streams: what became of the labels, and how many words were deleted and inserted.

    Raises InputError if the directory has no labels, for a label that is not in the set, and if the confusions cannot
    give so many errors.
    """
    data = DataDir(data_dir, needs=["punct"])
    words: Counter[str] = Counter()
    marks = 0
    for _, stream in data.streams():
        words.update(word for utterance in stream for word in utterance.words)
        marks += int(_marks(stream, labels, data).sum())
    types = {word: number for number, word in enumerate(dict.fromkeys([*confusions.words, *sorted(words)]), 1)}
    names = ["", *types]
    counts = np.array([words[name] for name in names])
    table = make_table(confusions, types, words).at_wer(wer, counts, marks / max(words.total(), 1))
    fluency = _fluency(data, types, draws) if draws > 1 else None
    sums = np.zeros(len(Projection._fields) + 2, np.int64)
    write_data_dir(out_dir, _utterances(data, table, types, names, labels, seed, sums, fluency), like=data)
    *projected, deleted, inserted = sums.tolist()
    return Projection(*projected), deleted, inserted


def _fluency(data: DataDir, types: Mapping[str, int], draws: int) -> Fluency:
    """The pairs of words of a data directory."""
    fluency = Fluency(draws)
    for _, stream in data.streams():
        words = _types(stream, types)
        fluency.add(words, np.zeros(len(words), bool))
    return fluency


def _marks(stream: Sequence[Utterance], labels: LabelSet, data: DataDir) -> np.ndarray:
    """Whether a mark follows each word of a stream, bool."""
    return np.array([bool(label.mark) for label in labels])[label_numbers(stream, labels, data.path)]


def _types(stream: Sequence[Utterance], types: Mapping[str, int]) -> np.ndarray:
    """The types of the words of a stream, int64."""
    return np.array([types[word] for utterance in stream for word in utterance.words], np.int64)


def _utterances(data: DataDir, table: NoiseTable, types: Mapping[str, int], names: Sequence[str], labels: LabelSet,
                seed: int, sums: np.ndarray, fluency: Fluency | None) -> Iterator[Utterance]:
    """The utterances with errors, stream by stream; adds to the sums."""
    rng = np.random.default_rng(seed)
    for _, stream in data.streams():
        words = _types(stream, types)
        drawn = draw(table, words, _marks(stream, labels, data), np.arange(len(words)) == 0, rng, fluency=fluency)
        heard = _cut(stream, drawn, names)
        projected, counts = project_stream(stream, heard, labels, data.path)
        sums += (*counts, drawn.deleted, drawn.inserted)
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
