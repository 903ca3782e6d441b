"""Counts of several streams at once: the same as word by word; no pair and no mark crosses a stream's end."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from punc.scoring import stream_counts
from punc.scoring.stream_counts import Words, count_streams, counted_slots
from punc.timing.align import align_words, project_labels

MARKS = ("", ",", ".")
side = st.lists(st.tuples(st.sampled_from("abcA"), st.integers(0, 2)), max_size=8)


def words(pairs):
    return Words([word for word, _ in pairs], np.array([slot for _, slot in pairs], np.int64))


def counts_by_hand(ref, hyp, marks, block, last_slot):
    """`count_streams` of one stream, word by word: block -> confusion, block -> word errors, reference labels."""
    size = block or max(len(ref.plain), 1)
    blocks = max(1, -(-len(ref.plain) // size))
    tables, errors = np.zeros((blocks, 3, 3), int), np.zeros((blocks, 3, 4), int)

    def block_of(pairs, hyp_word):
        before = [i for i, j in enumerate(pairs) if 0 <= j <= hyp_word]
        return before[-1] // size if before else 0

    def count_errors(form, ref_words, hyp_words):
        pairs = align_words(ref_words, hyp_words).ref_to_hyp.tolist()
        for i, j in enumerate(pairs):
            errors[i // size, form, 2 if j < 0 else int(ref_words[i] != hyp_words[j])] += 1
        for j in set(range(len(hyp_words))) - set(pairs):
            errors[block_of(pairs, j), form, 3] += 1
        return pairs

    pairs = count_errors(0, ref.plain, hyp.plain)
    if ref.cased is not None and hyp.cased is not None:
        count_errors(1, ref.cased, hyp.cased)
    else:
        ref, hyp = ref._replace(cased=ref.plain), hyp._replace(cased=hyp.plain)
    count_errors(2, *([(word, marks[slot]) for word, slot in zip(side.cased, side.slots)] for side in (ref, hyp)))
    expected = project_labels(align_words(ref.plain, hyp.plain), ref.slots)
    for j, label in enumerate(expected):
        is_last = j == len(expected) - 1
        if {"true": True, "false": not is_last, "only": is_last}[last_slot]:
            tables[block_of(pairs, j), label, hyp.slots[j]] += 1
    return tables, errors, expected


@settings(max_examples=100)
@given(st.lists(st.tuples(side, side), min_size=1, max_size=3), st.integers(0, 4),
       st.sampled_from(["true", "false", "only"]), st.tuples(st.booleans(), st.booleans()),
       st.sampled_from([("", ",", "."), ("", ".", ".")]))
def test_count_streams_word_by_word(streams, block, last_slot, cased, marks):
    def words_of(pairs, cased):
        side = words([(word.lower(), slot) for word, slot in pairs])
        return side._replace(cased=[word for word, _ in pairs] if cased else None)

    pairs = [(words_of(ref, cased[0]), words_of(hyp, cased[1])) for ref, hyp in streams]
    found = count_streams(pairs, marks, block, last_slot)
    longest = max((len(ref.plain) for ref, _ in pairs), default=0)
    expected = [counts_by_hand(ref, hyp, marks, block or longest, last_slot) for ref, hyp in pairs]
    assert found.blocks == [len(errors) for _, errors, _ in expected]
    np.testing.assert_array_equal(found.confusion, np.concatenate([*(one[0] for one in expected), np.zeros((0, 3, 3))]))
    np.testing.assert_array_equal(found.words, np.concatenate([*(one[1] for one in expected), np.zeros((0, 3, 4))]))
    assert found.slots.tolist() == [label for one in expected for label in one[2]]
    assert found.aligned == sum(ref.plain != hyp.plain for ref, hyp in pairs)


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


def test_count_streams_first_word_is_in_the_block_of_its_pair():
    found = count_streams([(words([("x", 0), ("a", 2)]), words([("a", 2)]))], MARKS, 1)
    assert found.confusion.sum((1, 2)).tolist() == [0, 1]


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


@settings(max_examples=60)
@given(st.lists(st.lists(st.sampled_from("=====+-xX"), max_size=40), min_size=1, max_size=3), st.integers(1, 12),
       st.integers(1, 4))
@example(["-===="], 1, 1)
@example(["=" * 13, "=" * 13], 3, 2)
@example(["=", "-="], 1, 1)
def test_count_streams_cuts_where_words_are_equal(edits, cut, run):
    """Where streams are cut to align them again, against a walk through each: = + - x X are edits of a word."""
    pairs, cuts, first, hyp_first = [], [], 0, 0
    for number, stream in enumerate(edits):
        names = [f"{number}.{i}" for i in range(len(stream))]
        ref = [name for name, edit in zip(names, stream) if edit != "+"]
        hyp = [name + "x" if edit == "x" else name for name, edit in zip(names, stream) if edit != "-"]
        cased = [f"{name}X" if edit == "X" else name for name, edit in zip(names, stream) if edit != "-"]
        pairs.append((Words(ref, np.zeros(len(ref), int), ref), Words(hyp, np.zeros(len(hyp), int), cased)))
        at = {word: j for j, word in enumerate(cased)}
        # A word in a run is equal on both sides, and so close to the word before it as on the other side.
        good = [i > 0 and ref[i] in at and aligned_before(ref, hyp, i, at[ref[i]]) for i in range(len(ref))]
        begins = {}
        for i in range(run // 2, len(ref) - run + run // 2 + 1):
            if all(good[i - run // 2:i - run // 2 + run]):
                begins.setdefault(i // cut, i)
        cuts += [(first + i, hyp_first + at[ref[i]]) for i in begins.values() if i >= cut]
        first, hyp_first = first + len(ref), hyp_first + len(hyp)
        cuts.append((first, hyp_first))
    with mock.patch.multiple(stream_counts, CUT=cut, RUN=run), \
            mock.patch.object(stream_counts, "align_streams", wraps=stream_counts.align_streams) as align:
        count_streams(pairs, MARKS)
    assert list(zip(*align.call_args_list[1].args[2:])) == cuts


def aligned_before(ref, hyp, i, j):
    pairs = align_words(ref, hyp).ref_to_hyp
    return pairs[i] == j and pairs[i - 1] == j - 1 >= 0


@pytest.mark.parametrize(("last_slot", "expected"), [("true", [1, 1, 1]), ("false", [1, 0, 0]), ("only", [0, 1, 1])])
def test_counted_slots(last_slot, expected):
    assert counted_slots([2, 0, 1], last_slot).tolist() == expected
    assert counted_slots([], last_slot).tolist() == []
