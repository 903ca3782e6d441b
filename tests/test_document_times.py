"""Which words of a document are shown in another format, in which order, and when."""

import numpy as np
import pytest
from test_asr_formats import document

from punc.asr.matching import word_bounds
from punc.base.errors import InputError
from punc.decoding.document_times import filled_times, shown_words, timed
from punc.decoding.documents import punctuate_document
from punc.decoding.options import DecodingOptions
from punc.decoding.shipped import find_model


def shown(text, **options):
    found = document(text)
    return shown_words(found, punctuate_document(find_model("en-live"), found, DecodingOptions()), **options)


def test_filled_times_are_in_proportion_to_characters():
    found = document("1\n00:00:01,000 --> 00:00:02,000\nabc d\n\n2\n00:00:02,500 --> 00:00:03,000\nef\n")
    begins, ends = filled_times(found, *word_bounds(found.joined))
    np.testing.assert_allclose(begins, [1, 1 + 4 / 6, 2.5])
    np.testing.assert_allclose(ends, [1 + 4 / 6, 2, 3])
    found = document("a b")
    assert np.isnan(filled_times(found, *word_bounds(found.joined))).all()


def test_shown_words_without_tags_for_programs():
    text = "r 1 0 1 yes\nr 1 1 1 <unk>\nr 1 2 1 [Music]\nr 1 3 1 <eps>\nr 1 4 1 <noise>\nr 1 5 1 no\n"
    assert [word.lower().rstrip(".,?") for word in shown(text).texts] == ["yes", "[music]", "no"]
    assert [word.lower().rstrip(".,?") for word in shown(text, tags=True).texts] == [
        "yes", "<unk>", "[music]", "<noise>", "no"]


def test_shown_words_of_two_speakers_come_in_time_order():
    lines = [f"call {channel} {begin + 0.4 * n:.1f} 0.3 {word}" for channel, begin, text in [
        ("A", 0, "how are you"), ("B", 2, "i am fine"), ("A", 5, "do you like it"), ("B", 7, "yes i do")]
        for n, word in enumerate(text.split())]
    found = shown("\n".join(sorted(lines)) + "\n")
    said = "".join(char for char in " ".join(found.texts).lower() if char not in ",.?")
    assert said == "how are you i am fine do you like it yes i do"
    assert (np.flatnonzero(found.turns) + 1).tolist() == [3, 6, 10]
    assert (found.recordings.tolist(), found.names, found.starts.tolist()) == ([13], ["call"], [0])


def test_timed_without_times():
    with pytest.raises(InputError, match="no times for --to srt; use --to text or --to paragraphs"):
        timed(shown("how are you"), "srt")
