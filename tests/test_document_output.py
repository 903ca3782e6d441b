"""Documents in other formats: closed forms, and programs of others that read them."""

import json
from datetime import timedelta

import pytest
from test_asr_formats import document, make_whisper

from punc.decoding.document_output import WRITERS
from punc.decoding.documents import punctuate_document
from punc.decoding.options import DecodingOptions
from punc.decoding.shipped import find_model

TWO = ("WEBVTT\n\n00:00.000 --> 00:01.000\n<v Ann & Co>how are you\n\n00:01.500 --> 00:03.000\n"
       "<v Bob>i am fine <unk> thank you\n")


def write(text, form):
    found = document(text)
    return WRITERS[form](found, punctuate_document(find_model("en"), found, DecodingOptions()))


def test_formats_of_two_speakers():
    assert write(TWO, "text") == "Ann & Co: How are you?\nBob: I am fine. Thank you.\n"
    assert write(TWO, "paragraphs") == "Ann & Co: How are you?\n\nBob: I am fine. Thank you.\n"
    assert write(TWO, "vtt").startswith("WEBVTT\n\n00:00:00.000 --> 00:00:01.")
    assert "\n<v Ann &amp; Co>How are you?\n" in write(TWO, "vtt")
    assert "\n<v Bob>I am fine." in write(TWO, "vtt")
    assert "<" not in write(TWO, "srt")
    found = json.loads(write(TWO, "json"))
    assert [(one["speaker"], one["text"]) for one in found["segments"]] == [
        ("Ann & Co", " How are you?"), ("Bob", " I am fine."), ("Bob", " <unk> Thank you.")]
    assert found["segments"][0]["start"] == 0.0
    assert found["segments"][2]["end"] == 3.0


def test_ctm_keeps_confidences_and_recordings():
    ctm = "r2 1 0.50 0.25 yes 0.75\nr1 1 0.00 0.50 no\n"
    assert write(ctm, "ctm").lower().replace(".\n", "\n").replace("yes.", "yes").replace("no.", "no") == ctm


@pytest.mark.filterwarnings("error")
def test_json_has_confidences_as_they_are():
    words = json.loads(write("r1 1 0 1 yes 1e308\nr1 1 1 1 no 0.12345678\n", "json"))["segments"]
    assert [word["probability"] for one in words for word in one["words"]] == [1e308, 0.12345678]


def test_ctm_of_a_word_with_a_blank_has_two():
    found = json.dumps({"words": [{"word": "10 %", "start": 1, "end": 2, "probability": 0.5}]})
    assert write(found, "ctm") == "1 1 1.00 0.50 10 0.50\n1 1 1.50 0.50 %. 0.50\n"


def test_text_of_several_recordings_and_of_no_times():
    assert write("r1 1 0 1 yes\nr2 1 0 1 yes\n", "text") == "r1 Yes.\nr2 Yes.\n"
    assert write("how are you\n\nhow are you", "text") == "How are you?\nHow are you?\n"
    assert "start" not in json.loads(write("how are you", "json"))["segments"][0]


WHISPER = make_whisper([[(word, begin + 0.4 * n, begin + 0.4 * n + 0.3) for n, word in enumerate(text.split())]
                        for begin, text in ((0, "how are you i am fine thank you"), (9, "do you & i"))])


def test_srt_is_read_by_srt_and_pysubs2():
    text = write(WHISPER, "srt")
    found = list(pytest.importorskip("srt").parse(text))
    said = " ".join(" ".join(cue.content for cue in found).split())
    assert said.startswith("How are you")
    assert said.split()[3:10] == ["I", "am", "fine.", "Thank", "you.", "Do", "you"]
    assert found[0].start == timedelta(0)
    pysubs2 = pytest.importorskip("pysubs2")
    assert len(pysubs2.SSAFile.from_string(text)) == len(found)


def test_vtt_is_read_by_webvtt():
    webvtt = pytest.importorskip("webvtt")
    found = webvtt.from_string(write(TWO, "vtt"))
    assert (found[0].voice, found[0].text) == ("Ann &amp; Co", "How are you?")
    assert found[-1].voice == "Bob"
