"""A data directory in parts that are decoded on their own, to the same labels as in one go.

Streams are decoded whole. A long one is read in parts that begin and end where the pieces do that
`punc.decoding.decode` cuts streams into, with whole pieces of the stream around what is punctuated.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby
from typing import NamedTuple, TypeVar

import numpy as np

from punc.data.block_reader import at_slots
from punc.data.datadir import DataDir, Utterance
from punc.tokens.tokenizer import Tokenizer
from punc.tokens.vocabulary import END

T = TypeVar("T")

# A long stream is decoded in pieces side by side, each with some tokens before it (and after it, for a model
# that reads both ways) to bring the model into its state. How a stream is cut is fixed, so that labels do
# not depend on the batch. What the cuts cost is measured in the recipes: `--chunk-size 0` decodes without any.
CHUNK_SIZE = 1024  # tokens
CONTEXT = 256  # tokens
BATCH_SIZE = 32  # pieces in a batch; with 128, BLSTM-CRF takes 1.5 times as long
GROUP = 1 << 18  # tokens that are decoded at once: whole batches, for pieces and batches of the default sizes


class Part(NamedTuple):
    """Whole utterances that follow one another in a stream, and the tokens that are read to punctuate them.

    utterances   what is punctuated
    ids          int32 (N,)
    pauses       float32 (N,) seconds, NaN unknown; None where there are none
    slots        int64 (words of the utterances,): after which of the N tokens their slots are
    begins       whether no word of the stream is before them
    """

    utterances: list[Utterance]
    ids: np.ndarray
    pauses: np.ndarray | None
    slots: np.ndarray
    begins: bool


def parts(utterances: Iterable[Utterance], tokenizer: Tokenizer, chunk_size: int, context: int) -> Iterator[Part]:
    """Cut a stream between utterances into parts of about GROUP tokens; without pieces it is one part."""
    margin = -(-max(chunk_size, context) // chunk_size) * chunk_size if chunk_size else 0
    size = max(GROUP, 8 * margin)
    waiting, lengths, slots, ids, pauses = [], [], [], [], []
    start = done = total = 0  # in tokens of the stream: where `ids` begin, those given out, those read
    for utterance in utterances:
        encoding = tokenizer.encode(utterance.words)
        waiting.append(utterance)
        lengths.append(len(encoding.ids))
        slots.append(encoding.slots + total)
        ids.append(encoding.ids)
        pauses.append(at_slots(utterance.pauses, encoding.slots, len(encoding.ids), np.nan))
        total += len(encoding.ids)
        while chunk_size and total > start + size:  # so a token follows, and the last one is not the stream's
            ends = done + np.cumsum(lengths)
            needed = -(-ends // chunk_size) * chunk_size + margin
            if needed[0] >= total:
                break
            n = int(np.searchsorted(needed, max(start + size, needed[0]), "right"))
            end, read = int(ends[n - 1]), int(needed[n - 1])
            known, silences = joined(ids), joined(pauses)
            yield Part(waiting[:n], known[:read - start], None if silences is None else silences[:read - start],
                       np.concatenate(slots[:n]) - start, done == 0)
            waiting, lengths, slots, done, before = waiting[n:], lengths[n:], slots[n:], end, start
            start = max(start, done // chunk_size * chunk_size - margin)
            ids, pauses = [known[start - before:]], [None if silences is None else silences[start - before:]]
    if waiting:
        known = joined(ids)
        if tokenizer.ends_with_end:
            known[-1:] = END
        yield Part(waiting, known, joined(pauses), np.concatenate(slots) - start, done == 0)


def joined(arrays: list[np.ndarray | None]) -> np.ndarray | None:
    """Arrays end to end; None where there are none."""
    return None if arrays[0] is None else np.concatenate(arrays)


def groups(data: DataDir, tokenizer: Tokenizer, chunk_size: int, context: int) -> Iterator[list[Part]]:
    """All parts of all streams, some at a time: up to GROUP tokens, or one part."""
    streams = (stream for _, stream in groupby(data.utterances(), key=lambda utterance: utterance.stream))
    all_parts = chain.from_iterable(parts(stream, tokenizer, chunk_size, context) for stream in streams)
    return grouped(all_parts, lambda part: len(part.ids), chunk_size)


def grouped(items: Iterable[T], tokens: Callable[[T], int], chunk_size: int) -> Iterator[list[T]]:
    """Items, some at a time, that have up to GROUP tokens together, or one item; full batches where they are long."""
    group, size, chunks = [], 0, 0
    for item in items:
        length = tokens(item)
        more = -(-length // chunk_size) if chunk_size else 0
        # A batch of a few pieces takes nearly as long as a full one, so those that fill batches are enough.
        enough = chunk_size and size > GROUP // 2 and (chunks + more) * chunk_size > GROUP
        if group and (enough or size + length > GROUP):
            yield group
            group, size, chunks = [], 0, 0
        group.append(item)
        size, chunks = size + length, chunks + more
    if group:
        yield group
