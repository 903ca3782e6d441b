"""Counts beyond memory: the same as a Counter's, whatever is in the file; few words in memory."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from punc.base.spilled_counts import SpilledCounts

WORDS = st.sampled_from([b"a", b"b", b"A", b"aa", "ä".encode(), b"z!", b"a,"])


@given(st.lists(st.lists(WORDS, max_size=12), max_size=8), st.integers(0, 4), st.integers(1, 8))
def test_spilled_counts_are_those_of_a_counter(blocks, limit, size):
    spilled, exact = SpilledCounts(limit), Counter()
    for block in blocks:
        spilled.add(Counter(block))
        exact.update(block)
    assert list(spilled.items()) == sorted(exact.items())
    best = sorted((pair for pair in exact.items() if pair[0] != b"b"), key=lambda pair: (-pair[1], pair[0]))[:size]
    assert spilled.most_frequent(size, lambda word: word != b"b") == dict(best)


def test_spilled_counts_keep_few_words_in_memory(monkeypatch):
    monkeypatch.setattr("punc.base.spilled_counts.READ", 50)  # lines are cut anywhere
    spilled = SpilledCounts(100)
    for i in range(0, 3000, 30):
        spilled.add({b"word%d" % (j % 1000): 1 + (j == 5) for j in range(i, i + 30)})
        assert len(spilled._counts) <= 130
    assert dict(spilled.items()) == {b"word%d" % j: 3 + (j == 5) for j in range(1000)}
    assert spilled.most_frequent(2, bool) == {b"word5": 4, b"word0": 3}
