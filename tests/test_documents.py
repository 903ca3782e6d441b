"""Labels of documents: pauses, words of several pieces."""

import numpy as np
import pytest
from test_asr_formats import document, make_ctm

from punc.asr.tokens import TokenReader
from punc.asr.written import take_apart
from punc.decoding.documents import punctuate_document, word_pauses
from punc.decoding.options import DecodingOptions
from punc.decoding.shipped import find_model


def pauses(found):
    return word_pauses(found, take_apart(found, TokenReader())).round(6).tolist()


def test_word_pauses_tags_are_silence():
    found = document("r 1 0 .5 a\nr 1 .75 .25 <noise>\nr 1 1.5 .5 b\nr 1 1.9 .1 c\nr 2 0 1 d\n")
    np.testing.assert_array_equal(pauses(found), [1.0, np.nan, 0.0, np.nan, np.nan])


def test_word_pauses_of_cues_are_between_them():
    found = document("1\n00:00:01,000 --> 00:00:02,000\na b\n\n2\n00:00:02,500 --> 00:00:03,000\nc\n")
    np.testing.assert_array_equal(pauses(found), [np.nan, 0.5, np.nan])


def test_pieces_of_a_word_get_the_marks_at_its_end():
    said = [" so", " it", " is", " state", "-of", "-the", "-art"]
    words = ", ".join(f'{{"word": "{word}", "start": {n}, "end": {n + 1}}}' for n, word in enumerate(said))
    found = document(f'{{"segments": [{{"start": 0, "end": 7, "words": [{words}]}}]}}')
    result = punctuate_document(find_model("en"), found, DecodingOptions())
    texts, probabilities = result.pieces(found)
    assert texts == ["So", "it", "is", "state", "-of", "-the", "-art."]
    assert np.isnan(probabilities).tolist() == [False, False, False, True, True, True, False]
    assert len(result.texts) == 4


@pytest.mark.parametrize("words", [["x"], ["<noise>"], []])
def test_few_words(words):
    found = document(make_ctm([[(word, 0.0, 1.0) for word in words]]) if words else "WEBVTT\n")
    result = punctuate_document(find_model("en-live"), found, DecodingOptions())
    assert [text.lower().rstrip(".?") for text in result.texts] == words
