"""JSON documents: numbers that are none, words of other texts, and a list beside the segments."""

import json

import numpy as np
import pytest
from test_asr_formats import document, written

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


def test_speakers_that_are_no_names():
    found = document('{"segments": [{"speaker": {"id": 1}, "words": [{"word": "a"}, {"word": "b", "speaker": 2},'
                     '{"word": "c", "speaker": ""}]}]}')
    assert [found.speakers[i] if i >= 0 else None for i in found.speaker.tolist()] == ["{'id': 1}", "2", None]


def test_escapes_and_blanks_in_texts():
    found = document(r'{"text": "a\nb \u00e9\"", "segments": [{"text": "a\nb \u00e9\""}]}')
    assert found.pieces == ["a", "b", 'é"']
    assert written(found, ["A", "b", 'é."']).decode() == \
        r'{"text": "A\nb \u00e9.\"", "segments": [{"text": "A\nb \u00e9.\""}]}'
