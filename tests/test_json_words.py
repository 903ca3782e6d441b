"""Words in JSON: the fast way and the slow way find the same, and errors name their place."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.asr.document import Source, texts_at
from punc.asr.json_words import JsonWords, Keys
from punc.base.errors import InputError

KEYS = Keys("words", ("word_segments",), "score")
WORDS = st.fixed_dictionaries({"word": st.text('ab"\\é ', max_size=4)}, optional={
    "start": st.floats(0, 9), "end": st.floats(0, 9), "score": st.none() | st.floats(0, 1), "speaker": st.just("A")})


def read(value):
    data = json.dumps(value).encode()
    return data, JsonWords(Source("file", data, "utf-8", False), KEYS)


@given(st.lists(st.lists(WORDS, max_size=3), max_size=3), st.booleans())
def test_words_with_and_without_other_members_of_the_name(segments, slow):
    more = {"hot": [{"word": "x", "text": "y"}]} if slow else {}
    said = [word for words in segments for word in words]
    data, found = read({"segments": [{**more, "words": words, "text": "t"} for words in segments],
                        "word_segments": said})
    for one in (found.words, found.copied):
        raw = texts_at(data, *one.spans())
        assert [json.loads(b'"%b"' % text) for text in raw] == [word["word"] for word in said]
        values = [[word.get(key) for word in said] for key in ("start", "end", "score")]
        np.testing.assert_array_equal(one.numbers(), np.array(values, float).reshape(3, -1))
        assert one.speakers == [word.get("speaker") for word in said] or (not one.speakers and b"speaker" not in data)
    assert found.words.segments().tolist() == [n for n, words in enumerate(segments) for _ in words]
    assert [data[slice(*segment.text)] for segment in found.segments] == [b"t"] * len(segments)


@pytest.mark.parametrize(("value", "said"), [
    ({"segments": [1]}, "file:1: not a segment"),
    ({"segments": [{"words": [1]}]}, 'file:1: not a word: no member "word"'),
    ({"segments": [{"words": [{"start": 1}]}]}, 'file:1: not a word: no member "word"'), (3, "file:1: neither a list")])
def test_words_that_are_none(value, said):
    with pytest.raises(InputError) as error:
        read(value)
    assert str(error.value).startswith(said)
