"""Cues: closed forms, and what holds for any timed words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.subtitles.cues import APART, LINE, LONG, SPEED, make_cues
from punc.subtitles.marks import MARK, NO_MARK, SENTENCE_END
from punc.subtitles.short_cues import LEAST


def timed(text, pauses=None, duration=0.3):
    """Words of a text, what is written after each, and times; `pauses` is {word number: seconds after it}."""
    words = text.split()
    kinds = {".": SENTENCE_END, "?": SENTENCE_END, ",": MARK, ";": MARK}
    marks = np.array([kinds.get(word[-1], NO_MARK) for word in words], np.int8)
    gaps = np.array([(pauses or {}).get(i, 0.0) for i in range(len(words))])
    ends = np.cumsum(gaps + duration) - gaps
    return words, marks, ends - duration, ends


def cut(text, pauses=None, turns=(), recordings=(), duration=0.3):
    words, marks, begins, ends = timed(text, pauses, duration)
    turned = np.zeros(len(words), bool)
    turned[list(turns)] = True
    return words, make_cues(words, marks, begins, ends, turned, np.array([*recordings, len(words)]))


def texts(text, **options):
    """The text of each cue; / separates lines."""
    words, found = cut(text, **options)
    return [" / ".join(" ".join(words[a:b]) for a, b in ((first, second), (second, last)) if a < b)
            for first, second, last in zip(*(column.tolist() for column in found[:3]))]


LONG_SENTENCE = "this is a sentence of many words, which goes on for so long that one cue can never hold all of it."


@pytest.mark.parametrize(("text", "options", "expected"), [
    ("one two three.", {}, ["one two three."]),
    # Short sentences share a line; what does not fit is another cue.
    ("yes. no. i do not know.", {}, ["yes. no. i do not know."]),
    ("this is a sentence of some words. this is another one, as long.", {},
     ["this is a sentence of some words.", "this is another one, as long."]),
    # A very short one joins the next on two lines, but not across speakers, recordings or a long silence.
    ("oh. this is a sentence of nearly forty characters.", {},
     ["oh. this is a sentence of / nearly forty characters."]),
    ("oh. this is it.", {"turns": [0]}, ["oh.", "this is it."]),
    ("oh. this is it.", {"recordings": [1]}, ["oh.", "this is it."]),
    ("oh. this is it.", {"pauses": {0: LONG}}, ["oh.", "this is it."]),
    ("i do not know what", {"pauses": {2: LONG + 1}}, ["i do not", "know what"]),
    # Lines break after a mark, or in the middle.
    ("well, this goes to the second line of this one.", {}, ["well, this goes to the / second line of this one."]),
    ("this goes to the first line, this goes to the second.", {},
     ["this goes to the first line, / this goes to the second."]),
    # Cues break after a mark, else at a pause, else in the middle.
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
def test_cues_where_they_and_their_lines_end(text, options, expected):
    assert texts(text, **options) == expected


def test_cues_times():
    # 0.3 s: too short to read, so it is shown up to the beginning of the next, which is SHIFT late.
    _, found = cut("yes. no and then some more words to follow here without an end of it.", turns=[0])
    assert (found.begin.tolist()[0], found.end.tolist()[0]) == (0, 700)
    assert found.begin[1] == 700
    _, found = cut("yes. no.", pauses={0: 5.0})
    assert list(zip(found.begin, found.end)) == [(0, 1000), (5300, 6300)]
    _, found = cut("extraordinarily unpronounceable.", duration=0.2)
    assert found.end.tolist() == [int(np.ceil(32 / SPEED * 1000))]
    # A short gap is closed, a longer one is not.
    _, found = cut("one two three four five. six.", pauses={4: 0.2}, turns=[4])
    assert found.end[0] == found.begin[1] == 1700
    _, found = cut("one two three four five. six.", pauses={4: 0.4}, turns=[4])
    assert (found.end[0], found.begin[1]) == (1500, 1900)


def test_cues_overlapping_speech_is_in_order():
    words, marks = ["one.", "two.", "three."], np.full(3, SENTENCE_END, np.int8)
    begins, ends = np.array([5.0, 4.0, 4.1]), np.array([9.0, 4.5, 8.0])
    found = make_cues(words, marks, begins, ends, np.ones(3, bool), np.array([3]))
    # APART, and then longer where there is time: the first one begins earlier, the third one later.
    assert found.begin.tolist() == [4600, 5200, 5800]
    assert found.end.tolist() == [5200, 5800, 8000]


WORD = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=12)
DRAWN_MARK = st.sampled_from([NO_MARK] * 8 + [MARK, SENTENCE_END, SENTENCE_END])
GAP, DURATION = st.floats(-0.5, 3), st.floats(0, 2)
SPOKEN = st.lists(st.tuples(st.one_of(WORD, st.just("w" * 60)), DRAWN_MARK, GAP, DURATION, st.booleans()), min_size=1,
                  max_size=60)
CUTS = st.lists(st.integers(1, 59), max_size=2)


def spoken_words(spoken, cuts):
    """The arguments of make_cues for drawn words, with recordings that end at `cuts`."""
    words, marks, gaps, durations, turns = zip(*spoken)
    ends = np.maximum(np.cumsum(np.array(gaps) + np.array(durations)), 0.0)
    begins = np.maximum(ends - np.array(durations), 0.0)
    recordings = np.array(sorted({n for n in cuts if n < len(words)} | {len(words)}))
    return words, np.array(marks, np.int8), begins, ends, np.array(turns) & (np.array(gaps) > 2.5), recordings


@given(SPOKEN, CUTS)
@settings(max_examples=300, deadline=None)
def test_cues_of_any_words(spoken, cuts):
    words, _, begins, ends, turns, recordings = arguments = spoken_words(spoken, cuts)
    found = make_cues(*arguments)
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
    # No cue overlaps the next or is empty, and each is shown long enough if the next allows it.
    for recording in set(of_recording.tolist()):
        begin, end = (column[of_recording == recording] for column in (found.begin, found.end))
        assert (begin[1:] >= end[:-1]).all()
        assert (end - begin >= 1000 * APART).all()
        assert ((end - begin >= 1000 * LEAST) | (np.append(begin[1:], end[-1] + 1) == end)).all()


def test_cues_of_recordings_are_those_of_each_alone():
    random = np.random.default_rng(0)
    count, at = 3000, [800, 801, 2000, 3000]
    words = ["w" * int(n) for n in random.integers(1, 12, count)]
    marks = random.choice(np.array([NO_MARK, MARK, SENTENCE_END], np.int8), count, p=[0.85, 0.08, 0.07])
    ends = np.cumsum(random.random(count))
    begins, turns = ends - 0.2, random.random(count) < 0.01
    together = make_cues(words, marks, begins, ends, turns, np.array(at))
    alone = [make_cues(words[a:b], marks[a:b], begins[a:b], ends[a:b], turns[a:b], np.array([b - a]))
             for a, b in zip([0, *at], at)]
    for name in together._fields:
        parts = [getattr(part, name) + (start if name in ("first", "second", "last") else 0)
                 for part, start in zip(alone, [0, *at])]
        np.testing.assert_array_equal(getattr(together, name), np.concatenate(parts), err_msg=name)
