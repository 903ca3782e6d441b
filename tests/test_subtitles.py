"""SRT, WebVTT and paragraphs: closed forms, and what holds for any cues."""

import re

import numpy as np
from hypothesis import given, settings
from test_cues import CUTS, SPOKEN, cut, spoken_words, timed

from punc.subtitles.cues import LONG, Cues, make_cues
from punc.subtitles.paragraphs import capitalized, cue_texts, paragraphs, srt, vtt


def test_srt_and_vtt_to_the_letter():
    words, found = cut("rock & roll <b> x is it? it is, he says, what it was in all those years.", pauses={5: 3600.0})
    written = list(cue_texts(words, found))
    assert srt(written) == ("1\n00:00:00,000 --> 00:00:01,800\nrock & roll <b> x is\n\n2\n01:00:01,800 --> "
                            "01:00:05,400\nit? it is, he says,\nwhat it was in all those years.\n\n")
    assert vtt(written) == ("WEBVTT\n\n00:00:00.000 --> 00:00:01.800\nrock &amp; roll &lt;b&gt; x is\n\n"
                            "01:00:01.800 --> 01:00:05.400\nit? it is, he says,\nwhat it was in all those years.\n")
    assert (srt([]), vtt([])) == ("", "WEBVTT\n")
    assert list(cue_texts([], cut("")[1])) == []
    late = Cues(*np.array([[0], [1], [1], [359_999_999], [360_000_000]]))
    assert [times for times, _ in cue_texts(["x"], late)] == ["99:59:59,999 --> 100:00:00,000"]


def parse(text, header=""):
    """A small parser of SRT and WebVTT: (begin, end, lines) of each cue."""
    assert text.startswith(header)
    found = []
    for block in text[len(header):].strip("\n").split("\n\n"):
        lines = block.split("\n")
        if not header:
            assert lines.pop(0) == str(len(found) + 1)
        times = re.fullmatch(r"(\d\d+):(\d\d):(\d\d)[.,](\d{3}) --> (\d\d+):(\d\d):(\d\d)[.,](\d{3})", lines[0])
        assert ("." if header else ",") in lines[0]
        h, m, s, ms, *end = map(int, times.groups())
        found.append((((h * 60 + m) * 60 + s) * 1000 + ms, ((end[0] * 60 + end[1]) * 60 + end[2]) * 1000 + end[3],
                      lines[1:]))
    return found


@given(SPOKEN, CUTS)
@settings(max_examples=300, deadline=None)
def test_srt_and_vtt_of_any_words(spoken, cuts):
    words, *_ = arguments = spoken_words(spoken, cuts)
    found = make_cues(*arguments)
    # Both formats say the same, and nothing is lost.
    for text, header in ((srt(list(cue_texts(words, found))), ""), (vtt(list(cue_texts(words, found))), "WEBVTT\n")):
        shown = parse(text, header)
        lines = [line for _, _, lines in shown for line in lines]
        if header:
            lines = [line.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") for line in lines]
            assert "-->" not in "".join(line for _, _, lines in shown for line in lines)
        assert " ".join(lines).split(" ") == list(words)
        assert [(begin, end) for begin, end, _ in shown] == list(zip(found.begin.tolist(), found.end.tolist()))


def test_capitalized_at_starts_and_after_sentences_and_turns():
    words = ["a", "b,", "éa.", "ßd?", "e", "iPhone.", "iPhone", "f"]
    turns = np.zeros(8, bool)
    turns[[4, 7]] = True
    assert capitalized(words, np.array([0, 1, 2, 2, 0, 2, 0, 0]), np.array([0, 1]), turns) == \
        ["A", "B,", "éa.", "Ssd?", "E", "iPhone.", "iPhone", "f"]


def test_paragraphs_end_at_turns_silences_and_length():
    words, marks, *_ = timed("one two. three four. five six")
    turns, pauses = np.zeros(6, bool), np.array([0, 3.0, 9.0, 0, np.nan, np.nan])
    pauses[[1, 2]] = LONG, 9.0  # a silence within a sentence does not count
    assert paragraphs(words, marks, pauses, turns) == "one two.\n\nthree four. five six\n"
    assert paragraphs(words, marks, None, turns) == "one two. three four. five six\n"
    turns[4] = True
    assert paragraphs(words, marks, None, turns) == "one two. three four. five\n\nsix\n"
    assert paragraphs([], marks[:0], None, turns[:0]) == ""
    long = " ".join(["word"] * 100 + ["end."] + ["word"] * 30 + ["end. so."])
    words, marks, *_ = timed(long)
    assert [len(part.split()) for part in paragraphs(words, marks, None, np.zeros(133, bool)).split("\n\n")] == [132, 1]
