"""Lookup of tokens in bytes, against str.split and a dictionary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from punc.base.lookup import Lookup, split_lines, strings

tokens = st.text(st.characters(exclude_categories=("Cs",), exclude_characters=" \t\n\r\0"), min_size=1, max_size=20)
# Many tokens that begin alike, of lengths about the 8 and 16 bytes at which the comparison changes.
alike = st.integers(1, 18).flatmap(lambda n: st.sampled_from(["a" * n, "a" * (n - 1) + "b", "b" + "a" * (n - 1)]))


@given(st.lists(st.lists(tokens, min_size=1, max_size=5), min_size=1, max_size=5))
def test_split_lines(lines):
    text = "".join(" ".join(line) + "\n" for line in lines).encode()
    first, others, counts = split_lines(text)
    assert [token.decode() for token in strings(first)] == [line[0] for line in lines]
    assert [token.decode() for token in strings(others)] == [token for line in lines for token in line[1:]]
    assert counts.tolist() == [len(line) - 1 for line in lines]


@given(st.lists(tokens | alike, unique=True), st.lists(tokens | alike))
def test_indices_are_those_of_a_dictionary(known, asked):
    lookup = Lookup(known, -7)
    asked = asked + known
    found = lookup.indices(split_lines(" ".join(["key", *asked, "\n"]).replace(" \n", "\n").encode())[1])
    index = {token: i for i, token in enumerate(known)}
    assert found.dtype == np.int32
    assert found.tolist() == [index.get(token, -7) for token in asked]
    assert len(lookup) == len(known)


def test_indices_of_many_tokens_that_share_slots():
    """All of a table that is a quarter full, and as many that are not in it."""
    rng = np.random.default_rng(0)
    words = [f"{n:x}" for n in np.unique(rng.integers(1 << 40, size=20000))]
    known = [word.encode() for word in words[::2]]
    lookup = Lookup(known, -1)
    text = " ".join(["key", *words]).encode() + b"\n"
    expected = np.full(len(words), -1)
    expected[::2] = np.arange(len(known))
    np.testing.assert_array_equal(lookup.indices(split_lines(text)[1]), expected)
