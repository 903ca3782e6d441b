"""Documents of recognisers: what is read, words, times and pauses, and other formats that are written."""

import gc
import io
import json
from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_asr_formats import MAKERS, document, make_whisper

from punc.asr.document import Source, read_source, texts_at, write_document
from punc.asr.formats import srt, text
from punc.asr.matching import matched, word_bounds, word_texts
from punc.asr.places import word_places
from punc.asr.read import format_modules, read_document
from punc.asr.segments import Segment, segments_document
from punc.text.word_parts import TokenReader
from punc.text.marked_words import take_apart
from punc.base.errors import InputError
from punc.decoding.document_output import WRITERS
from punc.decoding.document_times import filled_times, shown_words, timed
from punc.decoding.documents import punctuate_document, word_pauses
from punc.decoding.options import DecodingOptions
from punc.decoding.shipped import find_model


@pytest.mark.parametrize(("encoding", "bom"), [("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"),
                                               ("utf-16-be", b"\xfe\xff")])
def test_read_source_encodings_come_back(tmp_path, encoding, bom):
    raw = bom + "1\r\n00:00:01,000 --> 00:00:02,000\nhé you\r\n".encode(encoding)
    (tmp_path / "a").write_bytes(raw)
    found = srt.read(read_source(tmp_path / "a"))
    assert (found.pieces, found.bom) == (["hé", "you"], bool(bom))
    file = io.BytesIO()
    write_document(file, found, found.pieces)
    assert file.getvalue() == raw
    file = io.BytesIO()
    write_document(file, found, ["Hé,", "you."])
    assert file.getvalue()[len(bom):].decode(encoding).endswith("\nHé, you.\r\n")


@pytest.mark.parametrize(("raw", "said"), [
    (b"a\nb \xe9\n", "a:2: not UTF-8; convert it: iconv"), (b"\xff\xfea", "a:1: not UTF-16; convert it"),
    (b"a\nb\0c", "a:2: a NUL byte; remove it")])
def test_read_source_bytes_that_are_no_text(tmp_path, raw, said):
    (tmp_path / "a").write_bytes(raw)
    with pytest.raises(InputError, match=said):
        read_source(tmp_path / "a")


@given(st.text("ab \n\té", max_size=30), st.data())
def test_write_document_changes_only_words(content, data):
    found = document(content) if text.recognises(content.encode()) else document("a")
    new = [data.draw(st.sampled_from([piece, piece + ".", "x"])) for piece in found.pieces]
    file = io.BytesIO()
    write_document(file, found, new)
    assert file.getvalue().decode().split() == new
    assert "".join(file.getvalue().decode().split(" ")).count("\n") == found.data.count(b"\n")
    assert texts_at(found.data, found.starts, found.stops) == [piece.encode() for piece in found.pieces]


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


WORDS = document("one two, three")


def places(texts, found=WORDS):
    at = np.arange(len(texts))
    result = matched(texts, at, at + 1, found)
    return list(zip(result.starts.tolist(), result.first.tolist(), result.last.tolist()))


def test_matched_equal_texts_and_others():
    assert places(["one", "two,", "three"]) == [(0, 0, 1), (1, 1, 2), (2, 2, 3)]
    assert places(["One", "two", "more", "three!"]) == [(0, 0, 1), (1, 1, 2), (3, 2, 3)]
    assert places(["four"]) == places([]) == []


def test_matched_words_of_several_pieces():
    joined = WORDS._replace(pieces=["one", "two", "-three"], joined=np.array([False, False, True]))
    assert word_texts(joined.pieces, *word_bounds(joined.joined)) == ["one", "two-three"]
    assert places(["one", "two-three"], joined) == [(0, 0, 1), (1, 1, 3)]
    assert places(["one", "two", "-three"], joined) == [(0, 0, 1), (1, 1, 2), (2, 2, 3)]


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


def test_segments_are_read_by_stream_and_begin():
    source = Source("file", b"a b|c|d e", "utf-8", False)
    found = segments_document(source, "x", [Segment(0, 3, 4.0, 5.0, 1, "r", "B"), Segment(4, 5, 9.0, 9.5, 0, "r", "A"),
                                            Segment(6, 9, 1.0, 2.0, 1, "s")])
    assert found.pieces == ["c", "d", "e", "a", "b"]
    assert found.streams.tolist() == [0, 1, 1, 1, 1]
    np.testing.assert_array_equal(found.begins, [9, 1, np.nan, 4, np.nan])
    np.testing.assert_array_equal(found.ends, [9.5, np.nan, 2, np.nan, 5])
    assert [found.recordings[i] for i in found.recording.tolist()] == ["r", "s", "s", "r", "r"]
    assert [found.speakers[i] if i >= 0 else "" for i in found.speaker.tolist()] == ["A", "", "", "B", "B"]


SEGMENTS = [[("so", 0.5, 1.0), ("it", 1.0, 1.25)], [("begins", 2.0, 2.5)]]


@pytest.mark.parametrize("name", MAKERS)
def test_one_format_knows_a_file(name, tmp_path):
    (tmp_path / "file").write_text(MAKERS[name](SEGMENTS))
    assert read_document(tmp_path / "file").format == name
    assert gc.isenabled()
    modules = format_modules()
    knowing = [other for other, module in modules.items() if module.recognises((tmp_path / "file").read_bytes())]
    assert knowing[0] == name
    assert set(knowing) - {name} <= {after for after in modules if name in modules[after].AFTER}


def test_formats_have_a_docstring_with_their_source():
    for module in format_modules().values():
        assert "Source:" in module.__doc__ or module.__name__.endswith(".text")


@pytest.mark.parametrize(("text", "said"), [("", "the file is empty"), (" \n", "the file is empty"),
                                            ('{"a": 1}', "not a format that punc reads; give one of")])
def test_files_of_no_format(tmp_path, text, said):
    (tmp_path / "file").write_text(text)
    with pytest.raises(InputError, match=said):
        read_document(tmp_path / "file")
