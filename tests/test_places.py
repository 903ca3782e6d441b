"""Words in bytes: what blanks separate, in ranges, without markup."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.asr import places as places_module
from punc.asr.places import no_words, same_bytes, word_places


def words(data, ranges, left_out=()):
    found = word_places(data, *(np.array(column, np.int64) for column in zip(*ranges)), left_out)
    return [(data[start:stop], joined, number) for start, stop, joined, number in zip(
        found.starts.tolist(), found.stops.tolist(), found.joined.tolist(), found.ranges.tolist())]


@given(st.text("ab \t\r\n", min_size=1, max_size=30), st.data())
def test_words_are_those_of_split_in_each_range(text, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=6)))  # some ranges are empty
    ranges = list(pairwise(cuts))[data.draw(st.integers(0, 1)):] or [(0, len(text))]
    expected = [(word.encode(), number) for number, (begin, end) in enumerate(ranges)
                for word in text[begin:end].split()]
    assert [(word, number) for word, _, number in words(text.encode(), ranges)] == expected


def test_markup_joins_words_or_not():
    data = b"<i>a</i>b <font color=red>c</font> <b>d</b>"
    found = words(data, [(0, len(data))], [match.span() for match in re.finditer(rb"<[^>]*>", data)])
    assert [(word, joined) for word, joined, _ in found] == [(b"a", False), (b"b", True), (b"c", False), (b"d", False)]
    data = b"a<font color=red>b"
    assert [joined for _, joined, _ in words(data, [(0, len(data))], [(1, 17)])] == [False, True]


def test_empty_range_between_words_without_a_blank():
    assert words(b"ab", [(0, 1), (1, 1), (1, 2)]) == [(b"a", False, 0), (b"b", False, 2)]


def test_no_words():
    assert len(no_words().starts) == 0
    assert words(b"  ", [(0, 2)]) == []


@given(st.lists(st.sampled_from(["a", "bc", "é", ""]), max_size=8), st.integers(-1, 7), st.sampled_from([1, 3, 100]))
def test_same_bytes_are_those_of_each_place(words, changed, batch):
    others = [word + "b"[:len(word)] if at == changed else word for at, word in enumerate(words)]
    others = [word.replace("a", "e") if at == changed - 1 else word for at, word in enumerate(others)]
    texts = [text.encode() for text in words + others]
    stops = np.cumsum([len(text) + 1 for text in texts], dtype=np.int64) - 1
    starts, half = stops - [len(text) for text in texts], len(words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places_module, "BATCH", batch)
        found = same_bytes(b"|".join(texts), starts[:half], stops[:half], starts[half:], stops[half:])
    assert found == (words == others)
