"""Short cues: who gets their words, and their times; closed forms, and what holds for any timed words."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from test_cues import CUTS, SPOKEN, cut, spoken_words, texts

from punc.subtitles.cues import LINE, LONG, make_cues
from punc.subtitles.short_cues import LEAST, SHIFT, moved

FULL = "these are quite some words that fill up two lines, nearly all of them here."


def test_short_cue_joins_the_one_that_two_lines_hold_too():
    # "In." takes 0.3 s. The sentence before it leaves it no room, the one after it does.
    text = "these are quite some words that fill up two lines, nearly all of them. in. then it goes on."
    assert texts(text) == ["these are quite some words that fill / up two lines, nearly all of them.",
                           "in. then it goes on."]
    # And the other way round.
    text = f"then it goes on and on and on. in. {FULL}"
    assert texts(text) == ["then it goes on and on and on. in.", f"{FULL[:36]} / {FULL[37:]}"]
    # Many characters, but little time.
    assert texts(f"{FULL} it is. {FULL}")[0] == f"{FULL[:39]} / {FULL[40:]} it is."


def test_short_cue_takes_words_where_no_line_has_room():
    assert texts(f"{FULL} because. {FULL}") == [
        "these are quite some words / that fill up two lines,", "nearly all of them here. because.",
        f"{FULL[:36]} / {FULL[37:]}"]


def test_short_cue_stays_whole_where_it_is_long_enough():
    assert texts(f"{FULL} because. {FULL}", pauses={len(FULL.split()): 0.7})[1] == "because."


def test_short_cue_between_changes_of_the_speaker_borrows_time():
    text = "this is what he says. yes. and so on it goes for long."
    # 0.3 s for "yes.", after half a second of silence: it begins SHIFT earlier, and the next one 0.3 s later.
    _, found = cut(text, pauses={4: 0.5}, turns=[4, 5])
    assert list(zip(found.begin.tolist(), found.end.tolist())) == [(0, 1600), (1600, 2600), (2600, 4400)]
    assert round(1000 * SHIFT) == 2000 - 1600
    # Without the silence, only the next one makes room.
    _, found = cut(text, turns=[4, 5])
    assert list(zip(found.begin.tolist(), found.end.tolist())) == [(0, 1500), (1500, 2200), (2200, 3900)]


def test_moved_leaves_the_next_cue_its_time():
    starts, stops = np.array([0, 2000, 2300, 3400]), np.array([2000, 2300, 3400, 9000])
    spoken, zeros = np.array([1900, 2300, 3400, 9000]), np.zeros(4, np.int64)
    begin, end = moved(starts, stops, spoken, zeros, 250)
    assert list(zip(begin.tolist(), end.tolist())) == [(0, 1900), (1900, 2400), (2400, 3400), (3400, 9000)]
    # The first cue of a recording does not begin before it.
    begin, end = moved(np.array([5100, 5300]), np.array([5300, 5900]), np.array([5300, 5900]), np.full(2, 5000), 250)
    assert (begin[0], end[0]) == (5000, 5700)


def two_lines_hold(words):
    """Whether two lines hold the words; a line has at least one word, however long."""
    for _ in range(2):
        count = max([1, *(n for n in range(len(words) + 1) if len(" ".join(words[:n])) <= LINE)])
        words = words[count:]
    return not words


@given(SPOKEN, CUTS)
@settings(max_examples=200, deadline=None)
def test_short_cues_have_no_neighbour_to_join(spoken, cuts):
    words, _, begins, ends, turns, recordings = arguments = spoken_words(spoken, cuts)
    found = make_cues(*arguments)
    until = np.append(begins[1:], np.inf)
    until[recordings - 1] = np.inf
    bounds = turns | (np.append(begins[1:] - ends[:-1], 0) >= LONG)
    bounds[recordings - 1] = True
    cues = list(zip(found.first.tolist(), found.last.tolist()))
    short = (until[found.last - 1] - begins[found.first] < LEAST).tolist()
    for (one, other), is_short in zip(pairwise(cues), map(any, pairwise(short))):
        assert not is_short or bounds[one[1] - 1] or not two_lines_hold(words[one[0]:other[1]])


def test_short_cues_are_rare_in_fast_talk():
    """Sentences of one to twelve words at four words a second: nothing but a change of speaker makes a cue short."""
    random = np.random.default_rng(1)
    words = [f"w{'o' * int(n)}" for n in random.integers(0, 9, 3000)]
    marks = np.zeros(3000, np.int8)
    marks[np.cumsum(random.integers(1, 13, 400))[:400] % 3000] = 2
    begins = np.arange(3000) / 4
    found = make_cues(words, marks, begins, begins + 0.25, np.zeros(3000, bool), np.array([3000]))
    assert (found.end - found.begin >= 1000 * LEAST).all()
