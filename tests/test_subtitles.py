"""Cues, subtitles and paragraphs: worked examples, and properties for any timed words."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punc.data.labels import Label, LabelSet
from punc.subtitles.cues import APART, LINE, SPEED, Cues, cue_texts, make_cues, srt, vtt
from punc.subtitles.marks import LONG, MARK, NO_MARK, SENTENCE_END, capitalized, marks_after, paragraphs, tied
from punc.subtitles.short_cues import LEAST, SHIFT

LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w."), Label("QUOTED", '"w?"'),
                   Label("FULL", "w。"), Label("DOUBLE", "w⁇"), Label("QUESTION", "w?")))


def marks_of(text):
    words = text.split()
    names = {".": "PERIOD", ",": "COMMA", "?": "QUESTION"}
    labels = np.array([LABELS.index(names.get(word[-1], "O")) for word in words], np.int64)
    return words, marks_after(words, labels, LABELS)


def test_marks_after_each_label():
    words = ["a", "b,", "c.", '"d?"', "e。", "f⁇"]
    marks = marks_after(words, np.array([0, 1, 2, 3, 4, 5]), LABELS)
    assert marks.tolist() == [NO_MARK, MARK, SENTENCE_END, SENTENCE_END, SENTENCE_END, SENTENCE_END]


@pytest.mark.parametrize(("text", "ends"), [
    ("so mister E. G. Wakefield spoke. Then", [5]),
    ("it is version 2. 5 of it.", [6]),
    ("it costs 2. Then 5. So", [2, 4]),
    ("is it E? Yes.", [2, 3]),
    ("go on. E.", [1, 2]),
    ("the J. is one.", [1, 3]),
    ("", []),
])
def test_marks_after_an_initial_or_inside_a_number_end_no_sentence(text, ends):
    _, marks = marks_of(text)
    assert np.flatnonzero(marks == SENTENCE_END).tolist() == ends


@pytest.mark.parametrize(("text", "expected"), [
    ("we met Ada Lovelace today", "we met Ada_Lovelace today"),
    ("we met Ada, Bob and I", "we met Ada, Bob and I"),
    ("mister E. G. Wakefield", "mister E._G._Wakefield"),
    ("on April 14 we sold 10 million of it", "on April_14_we sold 10_million of it"),
    ("in 2020, Intel grew", "in 2020, Intel grew"),
    ("one hundred and five, and twenty one million", "one_hundred_and_five, and twenty_one_million"),
    ("Two thousand and we and two", "Two_thousand and we and two"),
    ("он видел Анну Каренину", "он видел Анну_Каренину"),
])
def test_tied_words_of_names_and_numbers(text, expected):
    words, marks = marks_of(text)
    ties = tied(words, marks)
    assert "".join(word + ("_" if tie else " ") for word, tie in zip(words, ties)).rstrip(" _") == expected


def test_marks_after_a_word_before_an_empty_one():
    """JSON can contain a word without characters."""
    assert marks_after(["E.", "", "3.", ""], np.array([2, 0, 2, 0]), LABELS).tolist()[:3:2] == [SENTENCE_END] * 2


def timed(text, pauses=None, duration=0.3):
    """Return the words of a text, the mark after each word, and the times at which words begin and end. `pauses` maps
    the index of a word to the pause after it in seconds."""
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
    """Return the text of each cue, with / between its lines."""
    words, found = cut(text, **options)
    return [" / ".join(" ".join(words[a:b]) for a, b in ((first, second), (second, last)) if a < b)
            for first, second, last in zip(*(column.tolist() for column in found[:3]))]


LONG_SENTENCE = "this is a sentence of many words, which goes on for so long that one cue can never hold all of it."


@pytest.mark.parametrize(("text", "options", "expected"), [
    ("one two three.", {}, ["one two three."]),
    # Short sentences share a line. A sentence that does not fit begins a new cue.
    ("yes. no. i do not know.", {}, ["yes. no. i do not know."]),
    ("this is a sentence of some words. this is another one, as long.", {},
     ["this is a sentence of some words.", "this is another one, as long."]),
    # A very short sentence joins the next one on two lines, but not across speakers, recordings or long pauses.
    ("oh. this is a sentence of nearly forty characters.", {},
     ["oh. this is a sentence of / nearly forty characters."]),
    ("oh. this is it.", {"turns": [0]}, ["oh.", "this is it."]),
    ("oh. this is it.", {"recordings": [1]}, ["oh.", "this is it."]),
    ("oh. this is it.", {"pauses": {0: LONG}}, ["oh.", "this is it."]),
    ("i do not know what", {"pauses": {2: LONG + 1}}, ["i do not", "know what"]),
    # Lines break after a mark, or in the middle if there is no mark.
    ("well, this goes to the second line of this one.", {}, ["well, this goes to the / second line of this one."]),
    ("this goes to the first line, this goes to the second.", {},
     ["this goes to the first line, / this goes to the second."]),
    # Cues break after a mark; without a mark, at a pause; without a pause, in the middle.
    (LONG_SENTENCE, {},
     ["this is a sentence of many words,", "which goes on for so long that / one cue can never hold all of it."]),
    (LONG_SENTENCE.replace(",", ""), {"pauses": {11: 0.5}},
     ["this is a sentence of many / words which goes on for so", "long that one cue can / never hold all of it."]),
    (LONG_SENTENCE.replace(",", ""), {},
     ["this is a sentence of many / words which goes on for", "so long that one cue can / never hold all of it."]),
    # Cues do not break at a mark that would leave only one or two words.
    ("well, " + LONG_SENTENCE.replace(",", ""), {},
     ["well, this is a sentence / of many words which goes on",
      "for so long that one cue / can never hold all of it."]),
    ("w" * 50 + " and " + "v" * 90, {}, ["w" * 50 + " / and", "v" * 90]),
    ("word", {}, ["word"]),
])
def test_cues_where_they_and_their_lines_end(text, options, expected):
    assert texts(text, **options) == expected


def test_cues_times():
    # "yes." takes 0.3 s, too short to read. It is shown until the next cue, which starts SHIFT seconds late.
    _, found = cut("yes. no and then some more words to follow here without an end of it.", turns=[0])
    assert (found.begin.tolist()[0], found.end.tolist()[0]) == (0, 700)
    assert found.begin[1] == 700
    _, found = cut("yes. no.", pauses={0: 5.0})
    assert list(zip(found.begin, found.end)) == [(0, 1000), (5300, 6300)]
    _, found = cut("extraordinarily unpronounceable.", duration=0.2)
    assert found.end.tolist() == [int(np.ceil(32 / SPEED * 1000))]
    # Short gaps between cues are closed, but longer gaps remain.
    _, found = cut("one two three four five. six.", pauses={4: 0.2}, turns=[4])
    assert found.end[0] == found.begin[1] == 1700
    _, found = cut("one two three four five. six.", pauses={4: 0.4}, turns=[4])
    assert (found.end[0], found.begin[1]) == (1500, 1900)


def test_cues_overlapping_speech_is_in_order():
    words, marks = ["one.", "two.", "three."], np.full(3, SENTENCE_END, np.int8)
    begins, ends = np.array([5.0, 4.0, 4.1]), np.array([9.0, 4.5, 8.0])
    found = make_cues(words, marks, begins, ends, np.ones(3, bool), np.array([3]))
    # Cues begin at least APART seconds apart, so the first one begins early, and the other two begin late.
    assert found.begin.tolist() == [4600, 5200, 5800]
    assert found.end.tolist() == [5200, 5800, 8000]


WORD = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=12)
DRAWN_MARK = st.sampled_from([NO_MARK] * 8 + [MARK, SENTENCE_END, SENTENCE_END])
GAP, DURATION = st.floats(-0.5, 3), st.floats(0, 2)
ROW = st.tuples(st.one_of(WORD, st.just("w" * 60)), DRAWN_MARK, GAP, DURATION, st.booleans())
SPOKEN = st.lists(ROW, min_size=1, max_size=60)
CUTS = st.lists(st.integers(1, 59), max_size=2)


def spoken_words(spoken, cuts):
    words, marks, gaps, durations, turns = zip(*spoken)
    ends = np.maximum(np.cumsum(np.array(gaps) + np.array(durations)), 0.0)
    begins = np.maximum(ends - np.array(durations), 0.0)
    recordings = np.array(sorted({n for n in cuts if n < len(words)} | {len(words)}))
    return words, np.array(marks, np.int8), begins, ends, np.array(turns) & (np.array(gaps) > 2.5), recordings


@given(SPOKEN, CUTS)
@settings(max_examples=100, deadline=None)
def test_cues_of_any_words(spoken, cuts):
    words, _, begins, ends, turns, recordings = arguments = spoken_words(spoken, cuts)
    found = make_cues(*arguments)
    assert found.first[0] == 0
    assert found.last[-1] == len(words)
    assert (found.first[1:] == found.last[:-1]).all()
    of_recording = np.searchsorted(recordings, found.first, "right")
    assert (of_recording == np.searchsorted(recordings, found.last - 1, "right")).all()
    bounds = turns | (np.append(begins[1:] - ends[:-1], 0) >= LONG)
    for first, second, last in zip(*(column.tolist() for column in found[:3])):
        assert first < second <= last
        assert not bounds[first:last - 1].any(), "a cue contains a change of speaker or a long silence"
        for a, b in ((first, second), (second, last)):
            assert len(" ".join(words[a:b])) <= LINE or b - a == 1, "a line is too long"
    # No cue is empty or overlaps the next cue. Each cue is shown long enough, unless the next cue begins too soon.
    for recording in set(of_recording.tolist()):
        begin, end = (column[of_recording == recording] for column in (found.begin, found.end))
        assert (begin[1:] >= end[:-1]).all()
        assert (end - begin >= 1000 * APART).all()
        assert ((end - begin >= 1000 * LEAST) | (np.append(begin[1:], end[-1] + 1) == end)).all()


FULL = "these are quite some words that fill up two lines, nearly all of them here."


def test_short_cue_joins_the_one_that_two_lines_hold_too():
    # "In." takes 0.3 s. It joins the sentence after it, because the sentence before it leaves no room.
    text = "these are quite some words that fill up two lines, nearly all of them. in. then it goes on."
    assert texts(text) == ["these are quite some words that fill / up two lines, nearly all of them.",
                           "in. then it goes on."]
    # "In." joins the sentence before it, because the sentence after it leaves no room.
    text = f"then it goes on and on and on. in. {FULL}"
    assert texts(text) == ["then it goes on and on and on. in.", f"{FULL[:36]} / {FULL[37:]}"]
    # The joined cue has many characters for its time, but fits on two lines.
    assert texts(f"{FULL} it is. {FULL}")[0] == f"{FULL[:39]} / {FULL[40:]} it is."


def test_short_cue_takes_words_where_no_line_has_room():
    assert texts(f"{FULL} because. {FULL}") == [
        "these are quite some words / that fill up two lines,", "nearly all of them here. because.",
        f"{FULL[:36]} / {FULL[37:]}"]


def test_short_cue_stays_whole_if_it_is_long_enough():
    assert texts(f"{FULL} because. {FULL}", pauses={len(FULL.split()): 0.7})[1] == "because."


def test_short_cue_between_changes_of_the_speaker_borrows_time():
    text = "this is what he says. yes. and so on it goes for long."
    # "yes." takes 0.3 s after a pause of 0.5 s. Its cue begins SHIFT seconds early, and the next cue 0.3 s late.
    _, found = cut(text, pauses={4: 0.5}, turns=[4, 5])
    assert list(zip(found.begin.tolist(), found.end.tolist())) == [(0, 1600), (1600, 2600), (2600, 4400)]
    assert round(1000 * SHIFT) == 2000 - 1600
    # Without the pause, only the next cue can shift.
    _, found = cut(text, turns=[4, 5])
    assert list(zip(found.begin.tolist(), found.end.tolist())) == [(0, 1500), (1500, 2200), (2200, 3900)]


def two_lines_hold(words):
    for _ in range(2):
        count = max([1, *(n for n in range(len(words) + 1) if len(" ".join(words[:n])) <= LINE)])
        words = words[count:]
    return not words


@given(SPOKEN, CUTS)
@settings(max_examples=100, deadline=None)
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
@settings(max_examples=100, deadline=None)
def test_srt_and_vtt_of_any_words(spoken, cuts):
    words, *_ = arguments = spoken_words(spoken, cuts)
    found = make_cues(*arguments)
    # SRT and WebVTT contain the same cues, and all words.
    for text, header in ((srt(list(cue_texts(words, found))), ""), (vtt(list(cue_texts(words, found))), "WEBVTT\n")):
        shown = parse(text, header)
        lines = [line for _, _, lines in shown for line in lines]
        if header:
            lines = [line.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") for line in lines]
            assert "-->" not in "".join(line for _, _, lines in shown for line in lines)
        assert " ".join(lines).split(" ") == list(words)
        assert [(begin, end) for begin, end, _ in shown] == list(zip(found.begin.tolist(), found.end.tolist()))


def test_capitalized_after_quotes_and_spanish_marks():
    words = ["¿qué?", "“yes.”", "„das", "[music]", "'s", "¡¿ya?!", "«"]
    assert capitalized(words, np.full(7, SENTENCE_END), np.array([0]), np.zeros(7, bool)) == \
        ["¿Qué?", "“Yes.”", "„Das", "[music]", "'s", "¡¿Ya?!", "«"]


def test_capitalized_at_starts_and_after_sentences_and_turns():
    words = ["a", "b,", "éa.", "ßd?", "e", "iPhone.", "iPhone", "f"]
    turns = np.zeros(8, bool)
    turns[[4, 7]] = True
    assert capitalized(words, np.array([0, 1, 2, 2, 0, 2, 0, 0]), np.array([0, 1]), turns) == \
        ["A", "B,", "éa.", "Ssd?", "E", "iPhone.", "iPhone", "f"]


def test_paragraphs_end_at_turns_silences_and_length():
    words, marks, *_ = timed("one two. three four. five six")
    turns, pauses = np.zeros(6, bool), np.array([0, 3.0, 9.0, 0, np.nan, np.nan])
    pauses[[1, 2]] = LONG, 9.0  # a pause within a sentence does not end a paragraph
    assert paragraphs(words, marks, pauses, turns) == "one two.\n\nthree four. five six\n"
    assert paragraphs(words, marks, None, turns) == "one two. three four. five six\n"
    turns[4] = True
    assert paragraphs(words, marks, None, turns) == "one two. three four. five\n\nsix\n"
    assert paragraphs([], marks[:0], None, turns[:0]) == ""
    long = " ".join(["word"] * 100 + ["end."] + ["word"] * 30 + ["end. so."])
    words, marks, *_ = timed(long)
    assert [len(part.split()) for part in paragraphs(words, marks, None, np.zeros(133, bool)).split("\n\n")] == [132, 1]
