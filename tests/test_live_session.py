"""Sessions: pauses from times, silence, and the ends of utterances and streams; a stream says what it gets."""

import math

import pytest

from punc.live.input import End, LiveWord, Partial
from punc.live.session import LiveOptions, Session, speaks


class Recorder:
    """A stream that decides a word when the next one comes."""

    def __init__(self, calls):
        self.calls, self.words, self.out = calls, [], 0

    def reads(self, word):
        return True

    def push(self, word, pause=math.nan):
        self.calls.append((word, None if math.isnan(pause) else round(pause, 6)))
        self.words.append(word)
        return self._decide(len(self.words) - 1)

    def decide(self, pause=math.nan):
        self.calls.append(("decide", None if math.isnan(pause) else pause))
        return self._decide(len(self.words))

    def close(self):
        self.calls.append("close")
        return self._decide(len(self.words))

    def _decide(self, end):
        begin, self.out = self.out, max(self.out, end)
        return self.words[begin:end]


@pytest.fixture
def calls():
    return []


def session(calls, **options):
    return Session(lambda: Recorder(calls), LiveOptions(**options))


def word(text, begin=math.nan, end=math.nan):
    return LiveWord(text, begin, end)


def words_of(decided):
    assert all(one is None or one.word.word == one.marked for one in decided), "each word with its own label"
    return [one and one.word.word for one in decided]


def test_pauses_are_those_between_the_times(calls):
    items = [word("a", 0, 1), word("b", 1.5, 2), word("c", 1.9, 2.5), word("d"), word("e", 3, 4), word("f", 0.5, 1),
             End.STREAM, word("g", 9, 10)]
    found = session(calls).feed(items)
    assert calls == [("a", None), ("b", 0.5), ("c", 0.0), ("d", None), ("e", None), ("f", None), "close", ("g", None)]
    assert words_of(found) == ["a", "b", "c", "d", "e", "f", None]


def test_silence_by_times_and_by_the_clock(calls):
    live = session(calls, max_delay=0.5)
    found = live.feed([word("a", 0, 1), word("b", 1.5, 2), word("c", 2.6, 3)])
    assert words_of(found) == ["a", "b"]
    assert calls == [("a", None), ("b", 0.5), ("decide", 0.5), ("c", 0.6)]
    assert words_of(live.silence()) == ["c"]
    assert calls[-1] == ("decide", 0.5)
    assert words_of(live.end()) == [None]
    assert live.silence() == live.end() == [], "no stream, no silence"


def test_silence_without_a_limit_decides_nothing(calls):
    live = session(calls)
    assert words_of(live.feed([word("a", 0, 1), word("b", 60, 61)]) + live.silence()) == ["a"]
    assert [one.word for one in live.waiting] == ["b"]


def test_speaks():
    assert [speaks([item]) for item in (word("a"), Partial("a"), Partial(""), End.STREAM)] == [True, True, False, False]
