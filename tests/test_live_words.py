"""Live input and output: items of each kind, decisions at pauses, and the formats of decided words."""

import json
import math

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.live.input import CtmReader, End, ItemReader, LiveWord, Partial, kind_of, read_json
from punc.live.session import OUTPUTS, Decided, LiveOptions, Session, Writer
from punc.live.words import Marked

# Output of vosk 0.3.45 with SetWords, SetPartialWords and SetMaxAlternatives, including spaces.
VOSK_RESULT = """{
  "result" : [{
      "conf" : 1.000000,
      "end" : 1.110000,
      "start" : 0.840000,
      "word" : "one"
    }, {
      "conf" : 0.998,
      "end" : 1.530000,
      "start" : 1.110000,
      "word" : "zero"
    }],
  "text" : "one zero"
}"""
VOSK_ALTERNATIVES = '{"alternatives": [{"confidence": 8.5, "result": [{"end": 1.1, "start": 0.8, "word": "one"}], ' \
    '"text": "one"}, {"confidence": 8.1, "text": "won"}]}'


def plain(items):
    return [(item.word, *(t for t in item[1:3] if not math.isnan(t))) if isinstance(item, LiveWord) else item
            for item in items]


@pytest.mark.parametrize(("text", "whole", "kind"), [
    ("so ", False, None), ("so i", False, None), ("so i ", False, None), ("so i think", False, "words"),
    ("w0 w1", False, "words"), ("w0", True, "words"), ("rec 1 0.5 0.3 hel", False, None),
    ("rec 1 0.5 0.3 hello\n", False, "ctm"), ("rec 1 0.5 0.3 hello", True, "ctm"),
    ("rec A 0 .3 hé NA lex x\r\n", False, "ctm"),
    ("chapter 1 2 3 go now\n", False, "words"), (";; comment", False, "ctm"), (' {"wor', False, "json"),
    ("{", False, "json"), ("x" * 2000, False, "words"), ("[Music]", True, "words"),
    ("[", True, "words"), ("[ ", False, None), ("[\n", False, None), ("[ music", False, "words"),
    ('[{"word": "a"}, ', False, "json"), ("[\n  {", False, "json")])
def test_kind_of(text, whole, kind):
    assert kind_of(text, whole) == kind


def test_kind_of_a_long_line_does_not_depend_on_its_end():
    line = "r" * 2000 + " 1 0.5 0.3 hello"
    assert [kind_of(text, False) for text in (line[:1500], line, line + "\n")] == ["words"] * 3


def test_read_words():
    assert plain(ItemReader("x", "words").feed("a  b\r\n\n \t\nno\u00a0break\n")) == [
        ("a",), ("b",), End.UTTERANCE, End.STREAM, End.STREAM, ("no\u00a0break",), End.UTTERANCE]


@pytest.mark.parametrize(("line", "items"), [
    ('{"word": "hello", "start": 0.5, "end": 1}', [("hello", 0.5, 1.0)]),
    ('{"word": " new  york\\n", "start": null, "end": "1"}', [("new york",)]),
    ('{"word": "a", "start": -1, "end": NaN}', [("a",)]),
    ('{"word": "a", "start": true, "end": 1e400}', [("a",)]),
    ('{"word": "a", "start": 1' + "0" * 400 + "}", [("a",)]),
    ('{"word": "a\\u0000\\ud800"}', [("a\ufffd\ufffd",)]),
    (VOSK_RESULT.replace("\n", " "), [("one", 0.84, 1.11), ("zero", 1.11, 1.53), End.UTTERANCE]),
    (VOSK_ALTERNATIVES, [("one", 0.8, 1.1), End.UTTERANCE]),
    ('{"alternatives": []}', [End.UTTERANCE]),
    ('{"text": "one zero"}', [("one",), ("zero",), End.UTTERANCE]), ('{"text": ""}', [End.UTTERANCE]),
    ('{"partial": "one  z"}', [Partial("one z")]), ('{"partial": "", "partial_result": []}', [Partial("")]),
    ('{"eof": 1}', [End.STREAM]), ('{"utterance_end": true}', [End.UTTERANCE]), ("", [End.STREAM]),
    (" \r", [End.STREAM])])
def test_read_json(line, items):
    assert plain(read_json(line, 1, "x")) == items


@pytest.mark.parametrize("line", ["{", "nothing", "[" * 100000, "3", "[]", "{}", '{"word": 1}', '{"word": ""}',
                                  '{"text": []}', '{"start": 1}', '{"result": {}}', '{"result": ["a"]}',
                                  '{"alternatives": 3}', '{"alternatives": [3]}', '{"partial": null}', '{"eof": 0}'])
def test_read_json_error(line):
    with pytest.raises(InputError, match=r"^x:7: .+; write "):
        read_json(line, 7, "x")


def test_ctm_reader():
    reader, lines = CtmReader("x"), ["a 1 0.5 0.2 x 0.9\r", ";; note", "a 1 0.7 0.1 <eps>", "a 1 1 1 <ALT_BEGIN>",
                                  "a 1 1 1 y", "a 1 1 1 <ALT>", "a 1 1 1 z", "a 1 1 1 <ALT_END>", "a 2 3 0.5 x NA", ""]
    items = [item for number, line in enumerate(lines, 1) for item in reader.read(line, number)]
    assert plain(items) == [("x", 0.5, 0.7), ("y", 1.0, 2.0), End.STREAM, ("x", 3.0, 3.5), End.STREAM]
    assert [item.fields for item in items if isinstance(item, LiveWord)] == [
        {"conf": 0.9, "id": "a", "channel": "1"}, {"id": "a", "channel": "1"}, {"id": "a", "channel": "2"}]


@pytest.mark.parametrize("line", ["a 1 0.5 x", "a 1 nan 1 x", "a 1 1 -1 x", "a 1 1 1 x 0.5 a b c", "a 1 1_0 1 x"])
def test_ctm_reader_error(line):
    with pytest.raises(InputError, match=r"^x:3: "):
        CtmReader("x").read(line, 3)


# An item is returned as soon as its text is complete.

def names(items):
    return [item.word if isinstance(item, LiveWord) else item for item in items]


def test_words_come_out_with_the_space_after_them():
    reader = ItemReader("x", "words")
    assert names(reader.feed("a b")) == ["a"]
    assert names(reader.feed("c")) == []
    assert names(reader.feed(" \n")) == ["bc", End.UTTERANCE]
    assert names(reader.feed("\r\nd")) == [End.STREAM]
    assert names(reader.end()) == ["d"]


def test_lines_come_out_with_their_end():
    reader = ItemReader("x")
    assert names(reader.feed(' {"word": "a"}\n{"partial"')) == ["a"]
    assert reader.kind == "json"
    assert names(reader.feed(': "b"}\n\n{"word": "c"}')) == [Partial("b"), End.STREAM]
    assert names(reader.end()) == ["c"]


class Recorder:
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


LOGITS = np.log(np.array([0.25, 0.75], np.float32))
HELLO = Decided(LiveWord("hello", 0.5, 1.0, {"conf": 0.9}), Marked("hello", "Hello,", "CAP_COMMA", LOGITS, 1))
YOU = Decided(LiveWord("yöu"), Marked("yöu", "yöu.", "PERIOD", LOGITS, 0))


def test_text_has_a_line_for_each_stream():
    written = Writer("text")
    assert [written.messages(decided, [Partial("a")], []) for decided in ([], [HELLO], [YOU, None, HELLO], [None])] == [
        [], ["Hello,"], [" yöu.\nHello,"], ["\n"]]
    assert written.line_end == ""


def test_json_has_an_object_for_each_word():
    messages = Writer("json").messages([HELLO, YOU, None], [Partial("a")], [])
    assert "yöu" in messages[1]
    assert [*map(json.loads, messages)] == [
        {"word": "hello", "text": "Hello,", "label": "CAP_COMMA", "probability": 0.75, "start": 0.5, "end": 1.0,
         "conf": 0.9},
        {"word": "yöu", "text": "yöu.", "label": "PERIOD", "probability": 0.25}, {"eof": 1}]


def test_vosk_has_a_result_for_words_that_are_decided_together():
    written = Writer("vosk")
    message, = written.messages([HELLO, YOU, None], [], [])
    result = json.loads(message)
    assert result["text"] == "Hello, yöu."
    assert [(word["word"], word.get("conf"), word.get("start"), word.get("end")) for word in result["result"]] == [
        ("Hello,", 0.9, 0.5, 1.0), ("yöu.", None, None, None)]
    assert written.messages([], [], [YOU.word]) == []
    assert written.messages([None], [], []) == ['{"text": ""}']


def test_vosk_partial_begins_with_the_words_that_wait():
    written = Writer("vosk")
    for items, waiting, expected in (
            ([Partial("a b")], [], "a b"), ([Partial("x"), Partial("a")], [HELLO.word], "hello a"),
            ([Partial("")], [HELLO.word, YOU.word], "hello yöu"), ([Partial("")], [], "")):
        assert [*map(json.loads, written.messages([], items, waiting))] == [{"partial": expected}]
    assert len(written.messages([HELLO], [Partial("a")], [])) == 2


@pytest.mark.parametrize("output", OUTPUTS)
def test_what_cannot_be_encoded_is_replaced(output):
    bad = Decided(HELLO.word._replace(fields={"id": "\ud800"}), HELLO.marked)
    assert Writer(output).messages([bad], [], [])[0].encode()
