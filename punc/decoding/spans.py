"""Cuts long streams into spans, so that memory need not hold a whole stream. The labels do not depend on these cuts.

A short stream is one span. A long stream is cut between utterances. To decode a span, the model also reads some tokens
before and after the span. It starts and stops reading where `decode` would cut the whole stream into chunks.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import NamedTuple, TypeVar

import numpy as np

from punc.data.block_reader import at_slots
from punc.data.datadir import DataDir, Utterance
from punc.tokens.tokenizer import Tokenizer
from punc.tokens.vocabulary import END

T = TypeVar("T")

GROUP = 1 << 17  # the size of a group in tokens; with the default chunk and batch sizes, a group fills whole batches


class Span(NamedTuple):
    """Consecutive utterances of a stream, and the N tokens that the model reads to punctuate them."""

    utterances: list[Utterance]
    ids: np.ndarray
    # (N,), a word's pause at its last token, NaN at all others; None if the data has no pauses
    pauses: np.ndarray | None
    slots: np.ndarray  # int64 (S,): for each of the S words in `utterances`, the index of its last token in `ids`
    begins: bool  # whether the stream begins here; false if the span continues an earlier span
    # (N,), a word's turn at its last token, False at all others; None if the data has no turns
    turns: np.ndarray | None


def spans(utterances: Iterable[Utterance], tokenizer: Tokenizer, chunk_size: int, context: int) -> Iterator[Span]:
    """Cut a stream between utterances into spans of about GROUP tokens. With chunk_size=0, the stream is one span."""
    margin = -(-max(chunk_size, context) // chunk_size) * chunk_size if chunk_size else 0
    size = max(GROUP, 8 * margin)
    waiting: list[Utterance] = []
    lengths: list[int] = []
    slots, ids, pauses, turns = [], [], [], []
    start = done = total = 0  # positions in tokens: the start of `ids`, the end of the last span, the end of `ids`
    for utterance in utterances:
        encoding = tokenizer.encode_input(utterance.words)
        waiting.append(utterance)
        lengths.append(len(encoding.ids))
        slots.append(encoding.slots + total)
        ids.append(encoding.ids)
        pauses.append(at_slots(utterance.pauses, encoding.slots, len(encoding.ids), np.nan))
        turns.append(at_slots(utterance.turns, encoding.slots, len(encoding.ids), False))
        total += len(encoding.ids)
        while chunk_size and total > start + size:  # more tokens follow, so this span does not end the stream
            ends = done + np.cumsum(lengths)
            needed = -(-ends // chunk_size) * chunk_size + margin
            if needed[0] >= total:
                break
            n = int(np.searchsorted(needed, max(start + size, needed[0]), "right"))
            end, read = int(ends[n - 1]), int(needed[n - 1])
            known, silences, changes = np.concatenate(ids), joined(pauses), joined(turns)
            to = slice(read - start)
            yield Span(waiting[:n], known[to], _part(silences, to), np.concatenate(slots[:n]) - start, done == 0,
                       _part(changes, to))
            waiting, lengths, slots, done, before = waiting[n:], lengths[n:], slots[n:], end, start
            start = max(start, done // chunk_size * chunk_size - margin)
            rest = slice(start - before, None)
            ids, pauses, turns = [known[rest]], [_part(silences, rest)], [_part(changes, rest)]
    if waiting:
        known = np.concatenate(ids)
        if tokenizer.ends_with_end:
            known[-1:] = END
        yield Span(waiting, known, joined(pauses), np.concatenate(slots) - start, done == 0, joined(turns))


def _part(array: np.ndarray | None, of: slice) -> np.ndarray | None:
    return None if array is None else array[of]


def joined(arrays: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """Concatenate arrays; return None if any of them is None."""
    known = [array for array in arrays if array is not None]
    return np.concatenate(known) if len(known) == len(arrays) else None


def span_groups(data: DataDir, tokenizer: Tokenizer, chunk_size: int, context: int) -> Iterator[list[Span]]:
    """Yield all spans of all streams in groups of up to GROUP tokens. A longer span is a group by itself."""
    streams = (stream for _, stream in groupby(data.utterances(), key=lambda utterance: utterance.stream))
    all_spans = chain.from_iterable(spans(stream, tokenizer, chunk_size, context) for stream in streams)
    return grouped(all_spans, lambda span: len(span.ids), chunk_size)


def grouped(items: Iterable[T], tokens: Callable[[T], int], chunk_size: int) -> Iterator[list[T]]:
    """Yield groups of items with up to GROUP `tokens` in total. A longer item is a group by itself. A group may stop
    short of GROUP tokens if its chunks fill whole batches."""
    group: list[T] = []
    size = chunks = 0
    for item in items:
        length = tokens(item)
        more = -(-length // chunk_size) if chunk_size else 0
        # A batch of a few chunks takes nearly as long as a full one, so a group ends early if it fills whole batches.
        enough = chunk_size and size > GROUP // 2 and (chunks + more) * chunk_size > GROUP
        if group and (enough or size + length > GROUP):
            yield group
            group, size, chunks = [], 0, 0
        group.append(item)
        size, chunks = size + length, chunks + more
    if group:
        yield group
