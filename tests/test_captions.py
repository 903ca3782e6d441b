"""Captions: cues, and rolling captions, whose lines are read once and written wherever they are shown."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.asr.captions import by_speaker, cues
from punc.asr.document import Source, write_document
from punc.asr.formats import srt, webvtt
from punc.asr.segments import Segment
from punc.base.errors import InputError


def found(text, to_blank_line=False):
    data = text.encode()
    return [(cue.begin, cue.end, data[cue.start:cue.stop].decode())
            for cue in cues(Source("file", data, "utf-8", False), to_blank_line)]


def test_cues_numbers_blank_lines_and_line_ends():
    text = ("1\n00:00:01,000 --> 00:00:02,500\na\n\nb\n\n2\r\n00:00:03,000 --> 00:00:04,000 X1:1\r\nc\r\n2020\r\n\r\n"
            "3\n0:00:05.0 --> 0:00:06.0")
    assert found(text) == [(1, 2.5, "a\n\nb\n"), (3, 4, "c\r\n2020\r\n\r"), (5, 6, "")]
    assert found(text, to_blank_line=True)[0] == (1, 2.5, "a\n")


@pytest.mark.parametrize(("text", "words"), [
    (" \nso it\n\n", " \nso it\n"), (" \nso it", " \nso it"), ("so\n \nit\n\n", "so\n \nit\n"), ("\nso\n", ""),
    ("so\n \n", "so\n"), ("so \r\n\t\r\nit\r\n", "so \r\n"), ("so\n \n2\n00:03.000 --> 00:04.000\n", "so\n")])
def test_cues_an_empty_line_ends_a_text_and_one_of_blanks_below_words_if_there_is_none(text, words):
    """YouTube has a line of a blank above the first words."""
    assert found(f"WEBVTT\n\n00:01.000 --> 00:02.000\n{text}", to_blank_line=True)[0][2] == words


@pytest.mark.parametrize(("line", "said"), [
    ("00:00:xx,000 --> 00:00:03,000", "file:5: no times of a cue; write: 00:00:01,500"),
    ("00:00:01,000 -->", "file:5: no times"), ("00:00:03,000 --> 00:00:02,000", "file:5: a cue from 3 to 2 s; fix")])
def test_cues_times_that_are_none(line, said):
    with pytest.raises(InputError, match=said):
        found(f"1\n00:00:00,000 --> 00:00:01,000\nso a --> b\n2\n{line}\nx\n".replace("so a --> b\n2", "so\n"))


@pytest.mark.parametrize("line", ["00:00:01.000 | --> 00:00:03.000", "9" * 5000 + ":00:01.000 --> 00:00:03.000"])
@pytest.mark.parametrize("to_blank_line", [False, True])
def test_cues_times_with_more_or_too_many_digits(line, to_blank_line):
    """The words below such a line would be lost, or those of the cue before."""
    with pytest.raises(InputError, match=r"^file:5: no times of a cue; "):
        found(f"1\n00:00:00,000 --> 00:00:01,000\nso\n\n{line}\nx\n", to_blank_line)


@pytest.mark.parametrize("settings", ["", " ", " align:start position:50%,line-left\t", "  X1:40 X2:600 Y1:20 Y2:50"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_cues_settings_behind_times(settings, end):
    assert found(f"1\n0:01,5 --> 0:02,5{settings}{end}it is\n\n", to_blank_line=True) == [(1.5, 2.5, "it is\n")]


@pytest.mark.parametrize("words", ["it is", " it", " align:start it", " :a", " a:"])
def test_cues_words_behind_times(words):
    with pytest.raises(InputError, match=r"file:2: words in the line of a cue's times; begin a new line before them"):
        found(f"1\n0:01,5 --> 0:02,5{words}\nit is\n")


def test_cues_an_arrow_in_a_text_is_no_time():
    assert found("1\n00:00:00,000 --> 00:00:01,000\nwe go a --> b\n") == [(0, 1, "we go a --> b\n")]


def test_by_speaker_cuts_and_names():
    data = b"a\nJo Smith: b\n- [X_1]: c\nhe said: d\nNote:e"
    cut, names = by_speaker(data, [Segment(0, 14, 1.0, 2.0), Segment(14, len(data), 3.0, 4.0)])
    assert [data[start:stop] for start, stop in names] == [b"Jo Smith:", b"[X_1]:"]
    assert [(data[one.start:one.stop].strip(), one.speaker) for one in cut] == [
        (b"a", ""), (b"b", "Jo Smith"), (b"c\nhe said: d\nNote:e", "X_1")]
    assert by_speaker(b"none", [Segment(0, 4)]) == ([Segment(0, 4)], [])


# The lines of a real track, as YouTube's automatic captions have them: said with times of words, held, and shown again.
SAID = ["so<00:00:00.480><c> it</c><00:00:00.640><c> begins</c>",
        "as<00:00:02.480><c> it</c><00:00:02.800><c> must</c>",
        "does<00:00:04.880><c> it</c><00:00:05.000><c> end</c>"]
WORDS = st.sampled_from(["no", "so", "it's", "R&B", "<b", "["])
LINES = st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), min_size=2, max_size=8)


def clock(seconds, comma):
    return f"00:{seconds // 60:02.0f}:{seconds % 60:06.3f}".replace(".", comma)


def rolling_cues(texts, module, gap=0.0):
    """A file of cues, three seconds each."""
    comma = "," if module is srt else "."
    return ("" if module is srt else "WEBVTT\nKind: captions\n\n") + "".join(
        f"{number}\n{clock(3 * number, comma)} --> {clock(3 * number + 3 - gap, comma)}\n{text}\n\n"
        for number, text in enumerate(texts))


def youtube(said, shown):
    """Each line as it is said, held, and above the next one; a line of a blank is where nothing is shown."""
    texts = [f" \n{said[0]}"]
    for before, line in zip(shown, said[1:]):
        texts += [f"{before}\n ", f"{before}\n{line}"]
    return [*texts, f"{shown[-1]}\n "]


def television(lines):
    """Three lines at a time, with the newest below."""
    return ["\n".join(lines[max(0, i - 2):i + 1]) for i in range(len(lines))]


def read(text, module):
    return module.read(Source("file", text.encode(), "utf-8", False))


def written(document, texts):
    file = io.BytesIO()
    write_document(file, document, texts)
    return file.getvalue().decode()


def test_youtube_words_are_read_once_and_written_everywhere(caplog):
    caplog.set_level("INFO")
    shown = ["so it begins", "as it must", "does it end"]
    text = rolling_cues(youtube(SAID, shown), webvtt)
    document = read(text, webvtt)
    assert document.pieces == " ".join(shown).split()
    assert [record.getMessage() for record in caplog.records] == [
        "file: rolling captions: 5 lines that are shown again are read once"]
    assert document.begins[[0, 1, 2, 3, 4]].tolist() == [0, 0.48, 0.64, 6, 2.48]  # a cue's begin, or a word's own
    assert document.ends[[2, 5, 8]].tolist() == [3, 9, 15]
    expected = text.replace("so", "So").replace("must", "must.").replace("does", "Does").replace("end", "end?")
    assert written(document, ["So", "it", "begins", "as", "it", "must.", "Does", "it", "end?"]) == expected
    assert written(document, document.pieces) == text


@pytest.mark.parametrize("module", [srt, webvtt])
@pytest.mark.parametrize("shape", [television, lambda lines: youtube(lines, lines)])
@given(LINES)
def test_rolling_lines_are_those_said(module, shape, lines):
    """Words that differ in each line, so that no line is said twice."""
    lines = [" ".join(f"{word}{number}" for word in line.split()) for number, line in enumerate(lines)]
    shown = [line.replace("&", "&amp;").replace("<", "&lt;") if module is webvtt else line for line in lines]
    text = rolling_cues(shape(shown), module)
    document = read(text, module)
    said = " ".join(lines).split()
    repeating = sum(cue.split("\n")[0].strip() in shown for cue in shape(shown)[1:])
    if repeating < 3:
        assert len(document.copies.starts) == 0
        return
    assert document.pieces == said
    new = [f"{word}," for word in said]
    everywhere = text
    for line in shown:
        everywhere = everywhere.replace(line, " ".join(f"{word}," for word in line.split()))
    assert written(document, new) == everywhere
    assert np.array_equal(document.starts, np.sort(document.starts))


@pytest.mark.parametrize("texts", [
    ["no", "no", "no", "yes", "so it is", "well", "if you say so"],  # people say it again
    ["no", "no", "no"], ["a", "b", "c", "d"], ["a\nb", "a\nc", "a\nd", "a\ne"], ["", "", "", ""]])
@pytest.mark.parametrize("module", [srt, webvtt])
def test_captions_that_do_not_roll(module, texts):
    document = read(rolling_cues(texts, module), module)
    assert document.pieces == " ".join(texts).split()
    assert len(document.copies.starts) == 0


def test_lines_said_again_after_a_silence_are_words():
    texts = television(["a b", "c d", "e f", "g h"])
    assert read(rolling_cues(texts, srt), srt).pieces == list("abcdefgh")
    assert read(rolling_cues(texts, srt, gap=0.2), srt).pieces == " ".join(texts).split()


def test_a_line_whose_word_is_divided_stays_as_it_is():
    texts = television(["so it", "<i>be</i>gins", "as it", "must end"])
    document = read(rolling_cues(texts, srt), srt)
    assert document.pieces == ["so", "it", "be", "gins", "as", "it", "must", "end"]
    out = written(document, ["So", "it", "be", "gins,", "as", "it", "must", "end."])
    assert out == rolling_cues(television(["So it", "<i>be</i>gins", "as it", "must end."]), srt).replace(
        "<i>be</i>gins", "<i>be</i>gins,", 1)


def test_speakers_names_are_no_words():
    document = read(rolling_cues(television(["JOHN: so it is", "ANN: it is", "why", "no"]), srt), srt)
    assert document.pieces == ["so", "it", "is", "it", "is", "why", "no"]
    assert written(document, [word.upper() for word in document.pieces]) == rolling_cues(
        television(["JOHN: SO IT IS", "ANN: IT IS", "WHY", "NO"]), srt)
