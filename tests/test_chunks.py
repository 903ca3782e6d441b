"""Streams in chunks: how they are cut and grouped. tests/test_batches.py compares what a chunk reads, step by step."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.tokens.chunks import by_length, cut, gather_arrays, padding
from punc.tokens.store_set import StoreSet


def offsets(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


@pytest.mark.parametrize("lookahead", [None, 0, 2])
def test_cut_text_not_longer_than_a_chunk_is_one_chunk(lookahead):
    chunks = cut(offsets([3, 5, 4]), lookahead, 5, 2)
    assert chunks.begin.tolist() == [0, 0, 0]
    assert chunks.end.tolist() == [3, 5, 4]
    assert chunks.first.tolist() == [-(lookahead or 0)] * 3


@pytest.mark.parametrize("lookahead", [None, 1])
def test_cut_depends_only_on_the_length_of_a_stream(lookahead):
    """So decoding a recording alone gives the same labels as decoding it with others."""
    alone = [a.tolist() for a in cut(offsets([23]), lookahead, 5, 2)][1:]
    among = cut(offsets([9, 23, 1]), lookahead, 5, 2)
    assert [a[among.stream == 1].tolist() for a in among][1:] == alone


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 200), min_size=1, max_size=40), st.integers(1, 9), st.none() | st.integers(0, 99))
def test_by_length_groups_have_similar_lengths(lengths, batch_size, seed):
    """All chunks once. They are sorted by length, so the differences of all lengths bound the padding."""
    chunks = cut(offsets(lengths), 0, 1000, 0)
    groups = by_length(chunks, batch_size, None if seed is None else np.random.default_rng(seed))
    assert sorted(k for group in groups for k in group.tolist()) == list(range(len(lengths)))
    assert all(1 <= len(group) <= batch_size for group in groups)
    read = chunks.last - chunks.first
    padded = sum(int((read[group].max() - read[group]).sum()) for group in groups)
    assert padded <= (batch_size - 1) * (max(lengths) - min(lengths))
    assert padding(chunks, batch_size) == pytest.approx(padded / (padded + int(read.sum())))


@pytest.mark.parametrize(("lookahead", "context"), [(None, 2), (0, 3), (2, 1)])
@pytest.mark.parametrize("batch_size", [1, 3, 100])
def test_padding_of_chunks_with_context(lookahead, context, batch_size):
    chunks = cut(offsets([23, 4, 11]), lookahead, 5, context)
    read = (chunks.last - chunks.first).tolist()
    rows = [[read[k] for k in group] for group in by_length(chunks, batch_size)]
    steps = sum(len(row) * max(row) for row in rows)
    assert padding(chunks, batch_size) == pytest.approx(1 - sum(read) / steps)


def test_by_length_order_is_random_and_depends_on_the_seed():
    chunks = cut(offsets([5] * 40), 0, 1000, 0)
    orders = [np.concatenate(by_length(chunks, 4, np.random.default_rng(seed))).tolist() for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert np.concatenate(by_length(chunks, 4)).tolist() == list(range(40))


def test_gather_arrays_of_a_chunk():
    ids, seconds = np.arange(10, 18, dtype=np.int32), np.arange(8, dtype=np.float32)
    data = StoreSet(ids, None, seconds, ["a", "b"], offsets([5, 3]))
    chunks = cut(data.offsets, 1, 3, 1)
    tokens, pauses, labels = gather_arrays(data, chunks, np.array([1, 2]), 1)
    assert tokens.tolist() == [[12, 13, 14, 1], [15, 16, 17, 1]]  # 1 is END
    np.testing.assert_array_equal(pauses, [[1, 2, 3, 4], [np.nan, 5, 6, 7]])
    assert (labels == -1).all()
    both = gather_arrays(data._replace(pauses=np.stack([seconds, -seconds], 1)), chunks, np.array([1, 2]), 1)[1]
    np.testing.assert_array_equal(both, np.stack([pauses, -pauses], 2))  # with turns


def test_chunks_do_not_import_torch():
    code = "import sys, punc.tokens.chunks; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
