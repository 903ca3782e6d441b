"""Cues: times, texts, names of speakers, and what are no times."""

import pytest

from punc.asr.captions import by_speaker, cues, seconds
from punc.asr.document import Source
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


def test_seconds():
    assert seconds(b"01:02:03,500") == 3723.5
    assert seconds(b"00:03.250") == 3.25


def test_by_speaker_cuts_and_names():
    data = b"a\nJo Smith: b\n- [X_1]: c\nhe said: d\nNote:e"
    cut, names = by_speaker(data, [Segment(0, 14, 1.0, 2.0), Segment(14, len(data), 3.0, 4.0)])
    assert [data[start:stop] for start, stop in names] == [b"Jo Smith:", b"[X_1]:"]
    assert [(data[one.start:one.stop].strip(), one.speaker) for one in cut] == [
        (b"a", ""), (b"b", "Jo Smith"), (b"c\nhe said: d\nNote:e", "X_1")]
    assert by_speaker(b"none", [Segment(0, 4)]) == ([Segment(0, 4)], [])
