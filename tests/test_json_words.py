"""Words in JSON: the fast way and the slow way find the same, and errors name their place."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.asr import json_words
from punc.asr.document import Source, texts_at
from punc.asr.json_words import JsonWords, Keys, has_list, is_object_with
from punc.base.errors import InputError

KEYS = Keys("words", ("word_segments",), "score")
WORDS = st.fixed_dictionaries({"word": st.text('ab"\\é ', max_size=4)}, optional={
    "start": st.floats(0, 9), "end": st.floats(0, 9), "score": st.none() | st.floats(0, 1), "speaker": st.just("A")})


def read(value):
    data = json.dumps(value).encode()
    return data, JsonWords(Source("file", data, "utf-8", False), KEYS)


@pytest.mark.parametrize("block", [1, 60, 1 << 20])
@given(segments=st.lists(st.tuples(st.lists(WORDS, max_size=3), st.booleans(), st.booleans()), max_size=4))
def test_words_with_and_without_other_members_of_the_name(block, segments):
    """Segments are read many at once, in blocks of bytes; those with other members of these names are read alone."""
    said = [word for words, _, _ in segments for word in words]
    hot = {"hot": [{"word": "x", "text": "y"}]}
    whole = [(hot if more else {}) | {"words": words} | ({"text": "t"} if text else {})
             for words, more, text in segments]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_words, "BLOCK", block)
        data, found = read({"segments": whole, "word_segments": said})
    for one in (found.words, found.copied):
        raw = texts_at(data, *one.spans())
        assert [json.loads(b'"%b"' % text) for text in raw] == [word["word"] for word in said]
        values = [[word.get(key) for word in said] for key in ("start", "end", "score")]
        np.testing.assert_array_equal(one.numbers(), np.array(values, float).reshape(3, -1))
        assert one.speakers == [word.get("speaker") for word in said] or (not one.speakers and b"speaker" not in data)
    assert found.words.segments().tolist() == [n for n, (words, _, _) in enumerate(segments) for _ in words]
    assert [segment.text and data[slice(*segment.text)] for segment in found.segments] == [
        b"t" if text else None for _, _, text in segments]


def test_a_number_that_no_float_holds_is_no_time():
    _, found = read({"segments": [{"words": [{"word": "a", "start": 10 ** 400, "end": None, "score": 1}]}]})
    np.testing.assert_array_equal(found.words.numbers(), [[np.nan], [np.nan], [1]])


def test_segments_of_several_documents():
    """The words of lists beside the segments of one document are not those of the segments of the one before."""
    documents = [[{"words": [{"word": "a"}]}], {"word_segments": [{"word": "b"}], "segments": [{"words": []}]}]
    data = "\n".join(map(json.dumps, documents)).encode()
    found = JsonWords(Source("file", data, "utf-8", False), KEYS)
    assert [texts_at(data, *one.spans()) for one in (found.words, found.copied)] == [[b"a"], [b"b"]]


@pytest.mark.parametrize(("value", "said"), [
    ({"segments": [1]}, "file:1: not a segment"),
    ({"segments": [{"words": [1]}]}, 'file:1: not a word: no member "word"'),
    ({"segments": [{"words": [{"start": 1}]}]}, 'file:1: not a word: no member "word"'), (3, "file:1: neither a list")])
def test_words_that_are_none(value, said):
    with pytest.raises(InputError) as error:
        read(value)
    assert str(error.value).startswith(said)


def test_members_that_an_object_has():
    data = b' {"a": ["b:"], "c" :\n1}'
    assert is_object_with(data, "a", "c")
    assert not is_object_with(data, "a", "b")
    assert not is_object_with(b"[%b]" % data, "a")
    assert has_list(data, "a")
    assert not has_list(data, "c")
