"""JSON documents: numbers that are none, words of other texts, and a list beside the segments."""

import io
import json

import numpy as np
import pytest
from test_asr_formats import document, written

from punc.asr.document import write_document
from punc.base.errors import InputError


@pytest.mark.parametrize("value", ["x", [1]])
def test_times_that_are_no_numbers(value):
    made = json.dumps({"segments": [{"words": [{"word": "a", "start": 1}]}, {"words": [{"word": "b", "end": value}]}]},
                      indent=1)
    with pytest.raises(InputError, match=r"file:1\d: .* is not a number of seconds"):
        document(made)


def test_times_of_a_segment_stand_in_for_those_of_its_ends():
    found = document('{"segments": [{"start": 1, "end": 3, "words": [{"word": "a"}, {"word": "b", "start": NaN},'
                     '{"word": "c", "start": 2.5, "end": -Infinity}]}]}')
    np.testing.assert_array_equal(found.begins, [1, np.nan, 2.5])
    np.testing.assert_array_equal(found.ends, [np.nan, np.nan, 3])


def test_a_text_with_other_words_keeps_them():
    made = {"text": " Well, a b", "segments": [{"text": " well a c b", "words": [{"word": " a"}, {"word": " b"}]}]}
    again = json.loads(written(document(json.dumps(made)), ["A,", "b."]))
    assert (again["text"], again["segments"][0]["text"]) == (" Well, A, b.", " well A, c b.")


def test_words_beside_segments_without_words():
    """As a server's `timestamp_granularities=["word"]` gives them; the texts have marks, the words none."""
    made = {"text": "Hi, you.", "segments": [{"id": 0, "start": 0, "end": 1, "text": " Hi, you."}],
            "words": [{"word": "Hi", "start": 0, "end": 0.5}, {"word": "you", "start": 0.5, "end": 1}]}
    found = document(json.dumps(made))
    assert (found.pieces, found.ends.tolist()) == (["Hi", "you"], [0.5, 1])
    assert json.loads(written(found, ["Hi", "you!"]))["segments"][0]["text"] == " Hi you!"


def test_speakers_that_no_text_file_can_hold():
    """As words: half a surrogate pair, NUL and line ends; a name as UTF-8, and with escapes."""
    names = ["a\ud800", "b\0", "c\nd", "é"]
    for ascii_only in (True, False):
        text = json.dumps({"words": [{"word": "x", "speaker": name} for name in names]}, ensure_ascii=ascii_only)
        found = document(text.encode("utf-8", "replace").decode())
        assert found.speakers[1:] == ["b\ufffd", "c d", "é"]
        found.speakers[0].encode()


def test_speakers_that_are_no_names():
    found = document('{"segments": [{"speaker": {"id": 1}, "words": [{"word": "a"}, {"word": "b", "speaker": 2},'
                     '{"word": "c", "speaker": ""}]}]}')
    assert [found.speakers[i] if i >= 0 else None for i in found.speaker.tolist()] == ["{'id': 1}", "2", None]


def test_escapes_and_blanks_in_texts():
    found = document(r'{"text": "a\nb \u00e9\"", "segments": [{"text": "a\nb \u00e9\""}]}')
    assert found.pieces == ["a", "b", 'é"']
    assert written(found, ["A", "b", 'é."']).decode() == \
        r'{"text": "A\nb \u00e9.\"", "segments": [{"text": "A\nb \u00e9.\""}]}'


def test_segments_without_words_are_read_by_their_texts():
    """As whisperX writes a segment that it cannot align: among others with words, its text alone has them."""
    made = {"segments": [{"start": 0, "end": 1, "text": "a b", "speaker": "X", "words": [
        {"word": "a", "start": 0.5, "end": 0.6, "score": 0.5}, {"word": "b"}]},
        {"start": 2, "end": 3, "text": "10 %", "speaker": "Y", "words": []},
        {"start": 4, "end": 5, "text": "c", "speaker": "X", "words": [{"word": "c", "score": 0.5}]}]}
    found = document(json.dumps(made))
    assert found.pieces == ["a", "b", "10", "%", "c"]
    np.testing.assert_array_equal(found.begins, [0.5, np.nan, 2, np.nan, 4])
    np.testing.assert_array_equal(found.ends, [0.6, 1, np.nan, 3, 5])
    assert [found.speakers[i] for i in found.speaker.tolist()] == ["X", "X", "Y", "Y", "X"]
    file = io.BytesIO()
    write_document(file, found, ["A", "b,", "10", "%.", "C"], np.full(5, 0.5))
    again = json.loads(file.getvalue())["segments"]
    assert [one["text"] for one in again] == ["A b,", "10 %.", "C"]
    assert [["label_probability" in word for word in one["words"]] for one in again] == [[True] * 2, [], [True]]


def test_a_list_beside_the_segments_that_lacks_words_is_not_read_for_them():
    found = document('{"text": "a b c", "segments": [{"text": "a b"}, {"text": "c"}], "words": [{"word": "a"}]}')
    assert found.pieces == ["a", "b", "c"]


def test_words_that_no_text_file_can_hold():
    """Half a surrogate pair, NUL and line ends in a word; a backslash before an n is neither."""
    found = document(json.dumps({"words": [{"word": "a\ud800"}, {"word": "b\0"}, {"word": "c\nd"}, {"word": " \n"}]}))
    assert found.pieces == ["a\ufffd", "b\ufffd", "c d", ""]
    assert json.loads(written(found, ["a\ufffd.", "b\ufffd", "c d.", ""]))["words"][2] == {"word": "c d."}
    found = document(json.dumps({"text": "C:\\new it\\s"}))
    assert found.pieces == ["C:\\new", "it\\s"]


def test_number_of_thousands_of_digits():
    with pytest.raises(InputError, match=r"^file: a number of thousands of digits; "):
        document('{"segments": [{"start": ' + "9" * 5000 + ', "text": "a"}]}')


def test_broken_escape_in_a_text_beside_segments():
    with pytest.raises(InputError, match=r"^file:1: not JSON at byte "):
        document(r'{"text": "\u00e+1 a", "segments": [{"text": "\u00e9 a"}]}')
