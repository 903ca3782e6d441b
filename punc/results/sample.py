"""The slots that the error browser of a report shows: all of a small set, a sample of a large one."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from punc.results.slot_table import SlotTable

MOST_STREAMS = 50  # that a sample takes slots from
PASSAGE = 60  # slots of a paragraph
UNKNOWN = "--"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def choose(begins: np.ndarray, most: int, wanted: Sequence[int] = (), seed: int = 1) -> list[tuple[int, int]]:
    """Which slots are shown: ranges in order, each in one stream.

    begins   int64 (streams + 1,): the slots of each stream
    most     slots in all. If there are more, up to MOST_STREAMS streams are drawn, and a stretch at a random place of
             each, in proportion to its length
    wanted   streams that are shown whole, besides
    """
    sizes = np.diff(begins)
    if begins[-1] <= most:
        return [(int(begin), int(begin + size)) for begin, size in zip(begins, sizes) if size]
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.flatnonzero(sizes))
    # Short streams are taken whole until there are enough; of long ones MOST_STREAMS have a part.
    fit = int(np.searchsorted(np.cumsum(sizes[order]), most, side="right"))
    drawn = order[:max(fit, min(MOST_STREAMS, most))]
    share = min(1.0, most / sizes[drawn].sum())
    ranges = {}
    for stream in sorted(drawn.tolist()):
        size = max(1, int(sizes[stream] * share))
        begin = int(begins[stream]) + int(rng.integers(0, sizes[stream] - size + 1))
        ranges[stream] = begin, begin + size
    for stream in wanted:
        ranges[stream] = int(begins[stream]), int(begins[stream + 1])
    return [ranges[stream] for stream in sorted(ranges)]


def encode(table: SlotTable, ranges: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """The slots of ranges as passages of up to PASSAGE slots, for the page's script.

    A passage has stream, at (the number of its first slot in the stream, from 1), words, and strings with a fixed
    number of characters a slot: ref and hyp (one character: 48 + the number of the label), post (two digits: the
    posterior of the system's label in percent, at most 99) and pause (two digits of base 36: hundredths of a second, at
    most 12.95 s).
    `--` is not known. `wrong` and `missing` are the recognition errors, by slot.
    """
    passages = []
    stream_of = table.stream_of
    for begin, end in (part for whole in ranges for part in _cut(*whole)):
        stream = int(stream_of[begin])
        passage: dict[str, Any] = {
            "stream": table.streams[stream], "at": begin - int(table.begins[stream]) + 1,
            "words": " ".join(table.words[begin:end]), "ref": _labels(table.reference[begin:end]),
            "pause": "".join(map(_pause, table.pauses[begin:end].tolist())),
            "hyp": [_labels(one.labels[begin:end]) for one in table.hypotheses.values()],
            "post": ["" if one.posteriors is None else _percent(one.posteriors[begin:end], one.labels[begin:end])
                     for one in table.hypotheses.values()]}
        if (found := table.recognition) is not None:
            passage["wrong"] = {i - begin: found.spoken.get(i, "") for i in range(begin, end) if found.wrong[i]}
            passage["missing"] = {i - begin: found.missing[i] for i in range(begin, end) if i in found.missing}
        passages.append(passage)
    return passages


def _cut(begin: int, end: int) -> Iterator[tuple[int, int]]:
    for at in range(begin, end, PASSAGE):
        yield at, min(at + PASSAGE, end)


def _labels(labels: np.ndarray) -> str:
    return "".join(chr(48 + label) for label in labels.tolist())


def _percent(posteriors: np.ndarray, labels: np.ndarray) -> str:
    chosen = posteriors[np.arange(len(labels)), labels.astype(np.int64)]
    return "".join(f"{min(99, round(100 * value)):02}" for value in chosen.tolist())


def _pause(seconds: float) -> str:
    if np.isnan(seconds):
        return UNKNOWN
    number = max(0, min(36 * 36 - 1, round(100 * seconds)))
    return DIGITS[number // 36] + DIGITS[number % 36]
