"""Counts of several streams at once: the same as stream by stream; no pair and no mark crosses a stream's end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.scoring import stream_counts
from punc.scoring.stream_counts import Words, count_streams, counted_slots

MARKS = ("", ",", ".")
side = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), max_size=8)


def words(pairs):
    return Words([word for word, _ in pairs], np.array([slot for _, slot in pairs], np.int64))


@settings(max_examples=40)
@given(st.lists(st.tuples(side, side), min_size=1, max_size=5), st.integers(0, 4),
       st.sampled_from(["true", "false", "only"]))
def test_count_streams_together_is_one_by_one(streams, block, last_slot):
    pairs = [(words(ref), words(hyp)) for ref, hyp in streams]
    together = count_streams(pairs, MARKS, block, last_slot)
    single = [count_streams([pair], MARKS, block, last_slot) for pair in pairs]
    np.testing.assert_array_equal(together.confusion, np.concatenate([one.confusion for one in single]))
    np.testing.assert_array_equal(together.words, np.concatenate([one.words for one in single]))
    np.testing.assert_array_equal(together.slots, np.concatenate([one.slots for one in single]))
    assert together.blocks == [one.blocks[0] for one in single]
    assert together.aligned == sum(one.aligned for one in single)


@settings(max_examples=40)
@given(side, side, st.integers(1, 4))
def test_count_streams_blocks_sum_to_the_stream(ref, hyp, block):
    pair = words(ref), words(hyp)
    whole, cut = count_streams([pair], MARKS), count_streams([pair], MARKS, block)
    assert len(cut.confusion) == cut.blocks[0] == max(1, -(-len(ref) // block))
    np.testing.assert_array_equal(cut.confusion.sum(0), whole.confusion[0])
    np.testing.assert_array_equal(cut.words.sum(0), whole.words[0])
    assert whole.words[0, 0, :3].sum() == len(ref)  # correct, substituted, deleted
    assert whole.words[0, 0, [0, 1, 3]].sum() == len(hyp)  # correct, substituted, inserted


def test_count_streams_mark_without_a_slot_is_lost_and_not_given_to_the_stream_before():
    first = words([("a", 0), ("b", 0)])
    found = count_streams([(first, first), (words([("x", 2), ("c", 1)]), words([("c", 1)]))], MARKS)
    assert found.slots.tolist() == [0, 0, 1]
    assert found.aligned == 1


def test_count_streams_forms():
    ref = Words(["a", "b", "c"], np.array([0, 1, 2]), ["A", "b", "C"])
    hyp = Words(["a", "b", "c"], np.array([0, 2, 2]), ["A", "B", "C"])
    found = count_streams([(ref, hyp)], MARKS)
    assert found.words[0].tolist() == [[3, 0, 0, 0], [2, 1, 0, 0], [2, 1, 0, 0]]
    assert count_streams([(ref, hyp)], ("", ".", ".")).words[0, 2].tolist() == [2, 1, 0, 0]  # B, not the mark
    found = count_streams([(ref._replace(cased=None), hyp)], MARKS)
    assert found.words[0].tolist() == [[3, 0, 0, 0], [0, 0, 0, 0], [2, 1, 0, 0]]


def test_count_streams_long_ones_are_cut_without_cost(monkeypatch):
    """Streams of 3,000 words with errors, aligned again in parts and as a whole: the same word errors."""
    rng = np.random.default_rng(1)

    def side(words):
        cased = [word.upper() if rng.random() < 0.1 else word for word in words]
        return Words(words, rng.integers(0, 3, len(words)), cased)

    pairs = []
    for _ in range(2):
        ref = [f"w{i}" for i in rng.zipf(1.3, 3000) % 500]
        hyp = [word for word in ref for _ in range(int(rng.choice(3, p=[0.05, 0.9, 0.05])))]
        pairs.append((side(ref), side(hyp)))
    parts = count_streams(pairs, MARKS, 100)
    monkeypatch.setattr(stream_counts, "CUT", 10**6)
    whole = count_streams(pairs, MARKS, 100)
    assert parts.words[:, :, 1:].sum() > 1000
    errors = [found.words[:, :, 1:].sum((0, 2)) for found in (parts, whole)]
    np.testing.assert_array_equal(*errors)


@pytest.mark.parametrize(("last_slot", "expected"), [("true", [1, 1, 1]), ("false", [1, 0, 0]), ("only", [0, 1, 1])])
def test_counted_slots(last_slot, expected):
    assert counted_slots([2, 0, 1], last_slot).tolist() == expected
    assert counted_slots([], last_slot).tolist() == []
