"""Cues, SRT, WebVTT, paragraphs: closed forms, and what must hold for any timed words."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.data.labels import Label, LabelSet
from punc.decoding.subtitles import (
    APART,
    END,
    LEAST,
    LINE,
    LONG,
    MARK,
    NOTHING,
    SPEED,
    Cues,
    blocks,
    capitalized,
    cues,
    marks_after,
    paragraphs,
    srt,
    vtt,
)


def timed(text, pauses=None, duration=0.3):
    """Words of a text, what is written after each, and times; `pauses` is {word number: seconds after it}."""
    words = text.split()
    marks = np.array([END if word[-1] in ".?" else MARK if word[-1] in ",;" else NOTHING for word in words], np.int8)
    gaps = np.array([(pauses or {}).get(i, 0.0) for i in range(len(words))])
    ends = np.cumsum(gaps + duration) - gaps
    return words, marks, ends - duration, ends


def cut(text, pauses=None, turns=(), recordings=(), duration=0.3):
    words, marks, begins, ends = timed(text, pauses, duration)
    turned = np.zeros(len(words), bool)
    turned[list(turns)] = True
    return words, cues(words, marks, begins, ends, turned, np.array([*recordings, len(words)]))


def texts(text, **options):
    """The text of each cue, lines parted by /."""
    words, found = cut(text, **options)
    return [" / ".join(" ".join(words[a:b]) for a, b in ((first, second), (second, last)) if a < b)
            for first, second, last in zip(*(column.tolist() for column in found[:3]))]


LONG_SENTENCE = "this is a sentence of many words, which goes on for so long that one cue can never hold all of it."


@pytest.mark.parametrize(("text", "options", "expected"), [
    ("one two three.", {}, ["one two three."]),
    # Short sentences share a line; what does not fit one is another cue.
    ("yes. no. i do not know.", {}, ["yes. no. i do not know."]),
    ("this is a sentence of some words. this is another one, as long.", {},
     ["this is a sentence of some words.", "this is another one, as long."]),
    # A very short one joins the next on two lines, though not over a speaker, a recording or a long silence.
    ("oh. this is a sentence of nearly forty characters.", {},
     ["oh. this is a sentence of / nearly forty characters."]),
    ("oh. this is it.", {"turns": [0]}, ["oh.", "this is it."]),
    ("oh. this is it.", {"recordings": [1]}, ["oh.", "this is it."]),
    ("oh. this is it.", {"pauses": {0: LONG}}, ["oh.", "this is it."]),
    ("i do not know what", {"pauses": {2: LONG + 1}}, ["i do not", "know what"]),
    # Lines break behind a mark, or in the middle.
    ("well, this goes to the second line of this one.", {}, ["well, this goes to the / second line of this one."]),
    ("this goes to the first line, this goes to the second.", {},
     ["this goes to the first line, / this goes to the second."]),
    # Cues break behind a mark, else at a pause, else in the middle.
    (LONG_SENTENCE, {},
     ["this is a sentence of many words,", "which goes on for so long that / one cue can never hold all of it."]),
    (LONG_SENTENCE.replace(",", ""), {"pauses": {11: 0.5}},
     ["this is a sentence of many / words which goes on for so", "long that one cue can / never hold all of it."]),
    (LONG_SENTENCE.replace(",", ""), {},
     ["this is a sentence of many / words which goes on for", "so long that one cue can / never hold all of it."]),
    # A mark that would leave a word or two alone is no place to break.
    ("well, " + LONG_SENTENCE.replace(",", ""), {},
     ["well, this is a sentence / of many words which goes on",
      "for so long that one cue / can never hold all of it."]),
    ("w" * 50 + " and " + "v" * 90, {}, ["w" * 50 + " / and", "v" * 90]),
    ("word", {}, ["word"]),
])
def test_where_cues_and_lines_end(text, options, expected):
    assert texts(text, **options) == expected


def test_times_of_a_cue():
    # 0.3 s a word: too short to read and shown on; the next one's beginning is the limit.
    _, found = cut("yes. no and then some more words to follow here without an end of it.", turns=[0])
    assert (found.begin.tolist()[0], found.end.tolist()[0]) == (0, 300)
    assert found.begin[1] == 300
    _, found = cut("yes. no.", pauses={0: 5.0})
    assert list(zip(found.begin, found.end)) == [(0, 1000), (5300, 6300)]
    _, found = cut("extraordinarily unpronounceable.", duration=0.2)
    assert found.end.tolist() == [int(np.ceil(32 / SPEED * 1000))]
    # A short gap is closed, a longer one is not.
    _, found = cut("one two three four five. six.", pauses={4: 0.2}, turns=[4])
    assert found.end[0] == found.begin[1] == 1700
    _, found = cut("one two three four five. six.", pauses={4: 0.4}, turns=[4])
    assert (found.end[0], found.begin[1]) == (1500, 1900)


def test_speech_of_two_at_once_is_shown_in_order():
    words, marks = ["one.", "two.", "three."], np.full(3, END, np.int8)
    found = cues(words, marks, np.array([5.0, 4.0, 4.1]), np.array([9.0, 4.5, 8.0]), np.ones(3, bool), np.array([3]))
    assert found.begin.tolist() == [5000, 5200, 5400]
    assert found.end.tolist() == [5200, 5400, 8000]


def test_formats_to_the_letter():
    words, found = cut("rock & roll <b> x is it? it is, he says, what it was in all those years.", pauses={5: 3600.0})
    written = list(blocks(words, found))
    assert srt(written) == ("1\n00:00:00,000 --> 00:00:01,800\nrock & roll <b> x is\n\n2\n01:00:01,800 --> "
                            "01:00:05,400\nit? it is, he says,\nwhat it was in all those years.\n\n")
    assert vtt(written) == ("WEBVTT\n\n00:00:00.000 --> 00:00:01.800\nrock &amp; roll &lt;b&gt; x is\n\n"
                            "01:00:01.800 --> 01:00:05.400\nit? it is, he says,\nwhat it was in all those years.\n")
    assert (srt([]), vtt([])) == ("", "WEBVTT\n")
    assert list(blocks([], cut("")[1])) == []
    late = Cues(*np.array([[0], [1], [1], [359_999_999], [360_000_000]]))
    assert [times for times, _ in blocks(["x"], late)] == ["99:59:59,999 --> 100:00:00,000"]


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


WORD = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=12)
SPOKEN = st.lists(st.tuples(st.one_of(WORD, st.just("w" * 60)), st.sampled_from([NOTHING] * 8 + [MARK, END, END]),
                            st.floats(-0.5, 3), st.floats(0, 2), st.booleans()), min_size=1, max_size=60)


@given(SPOKEN, st.lists(st.integers(1, 59), max_size=2))
@settings(max_examples=300, deadline=None)
def test_whatever_was_said(spoken, cuts):
    words, kinds, gaps, durations, turns = zip(*spoken)
    marks, turns = np.array(kinds, np.int8), np.array(turns) & (np.array(gaps) > 2.5)
    ends = np.maximum(np.cumsum(np.array(gaps) + np.array(durations)), 0.0)
    begins = np.maximum(ends - np.array(durations), 0.0)
    recordings = np.array(sorted({n for n in cuts if n < len(words)} | {len(words)}))
    found = cues(words, marks, begins, ends, turns, recordings)
    # Every word once, in order.
    assert found.first[0] == 0
    assert found.last[-1] == len(words)
    assert (found.first[1:] == found.last[:-1]).all()
    of_recording = np.searchsorted(recordings, found.first, "right")
    assert (of_recording == np.searchsorted(recordings, found.last - 1, "right")).all()
    bounds = turns | (np.append(begins[1:] - ends[:-1], 0) >= LONG)
    for first, second, last in zip(*(column.tolist() for column in found[:3])):
        assert first < second <= last
        assert not bounds[first:last - 1].any(), "a cue over a change of speaker, or a long silence"
        for a, b in ((first, second), (second, last)):
            assert len(" ".join(words[a:b])) <= LINE or b - a == 1, "a line too long"
    # None overlaps the next, none is empty, and each is there long enough where the next one allows it.
    for recording in set(of_recording.tolist()):
        begin, end = (column[of_recording == recording] for column in (found.begin, found.end))
        assert (begin[1:] >= end[:-1]).all()
        assert (end - begin >= 1000 * APART).all()
        assert ((end - begin >= 1000 * LEAST) | (np.append(begin[1:], end[-1] + 1) == end)).all()
    # Both formats say the same, and nothing is lost.
    for text, header in ((srt(list(blocks(words, found))), ""), (vtt(list(blocks(words, found))), "WEBVTT\n")):
        shown = parse(text, header)
        lines = [line for _, _, lines in shown for line in lines]
        if header:
            lines = [line.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") for line in lines]
            assert "-->" not in "".join(line for _, _, lines in shown for line in lines)
        assert " ".join(lines).split(" ") == list(words)
        assert [(begin, end) for begin, end, _ in shown] == list(zip(found.begin.tolist(), found.end.tolist()))


def test_recordings_are_cut_as_if_each_were_alone():
    random = np.random.default_rng(0)
    count, at = 3000, [800, 801, 2000, 3000]
    words = ["w" * int(n) for n in random.integers(1, 12, count)]
    marks = random.choice(np.array([NOTHING, MARK, END], np.int8), count, p=[0.85, 0.08, 0.07])
    ends = np.cumsum(random.random(count))
    begins, turns = ends - 0.2, random.random(count) < 0.01
    together = cues(words, marks, begins, ends, turns, np.array(at))
    alone = [cues(words[a:b], marks[a:b], begins[a:b], ends[a:b], turns[a:b], np.array([b - a]))
             for a, b in zip([0, *at], at)]
    for name in together._fields:
        parts = [getattr(part, name) + (start if name in ("first", "second", "last") else 0)
                 for part, start in zip(alone, [0, *at])]
        np.testing.assert_array_equal(getattr(together, name), np.concatenate(parts), err_msg=name)


def test_marks_and_capitals():
    labels = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w."), Label("QUOTED", '"w?"'),
                       Label("FULL", "w。")))
    marks = marks_after(np.array([0, 1, 2, 3, 4]), labels)
    assert marks.tolist() == [NOTHING, MARK, END, END, END]
    assert capitalized(["a", "b,", "éa.", "ßd?", "e"], np.array([0, 1, 2, 2, 0]), np.array([0, 1])) == \
        ["A", "B,", "éa.", "Ssd?", "E"]


def test_paragraphs():
    words, marks, *_ = timed("one two. three four. five six")
    turns, pauses = np.zeros(6, bool), np.array([0, 3.0, 9.0, 0, np.nan, np.nan])
    pauses[[1, 2]] = LONG, 9.0  # within a sentence, a silence is none
    assert paragraphs(words, marks, pauses, turns) == "one two.\n\nthree four. five six\n"
    assert paragraphs(words, marks, None, turns) == "one two. three four. five six\n"
    turns[4] = True
    assert paragraphs(words, marks, None, turns) == "one two. three four. five\n\nsix\n"
    assert paragraphs([], marks[:0], None, turns[:0]) == ""
    long = " ".join(["word"] * 100 + ["end."] + ["word"] * 30 + ["end. so."])
    words, marks, *_ = timed(long)
    assert [len(part.split()) for part in paragraphs(words, marks, None, np.zeros(133, bool)).split("\n\n")] == [132, 1]
