"""Counts of what was found, with examples: exact sums, few lines, bounded memory."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from punc.text import examples
from punc.text.examples import bound, found, note


def test_found_shows_the_most_frequent_examples():
    counts = Counter(words=7)
    for number in range(30):
        note(counts, "brackets", f"[{number:02}]", 30 - number)
    note(counts, "a", "x\n y" + "z" * 100)
    (what, total, forms), (other, sum_, shown) = found(counts)
    assert (what, total, forms) == ("a", 1, "x y" + "z" * 35 + "… 1")
    assert (other, sum_) == ("brackets", 465)
    assert shown.startswith("[00] 30, [01] 29, ")
    assert shown.endswith("[09] 21, …")
    assert shown.count(",") == 10


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 50))))
def test_bound_keeps_sums(pairs):
    counts, most = Counter(words=3), examples.MOST
    examples.MOST = 10
    try:
        for what, number in pairs:
            note(counts, what, str(number))
            bound(counts)
            assert len(counts) <= 10 + 3
    finally:
        examples.MOST = most
    assert {what: total for what, total, _ in found(counts)} == Counter(what for what, _ in pairs)
    assert counts["words"] == 3
