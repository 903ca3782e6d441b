"""Decided words as text, JSON lines and Vosk's results."""

import json

import numpy as np
import pytest

from punc.live.input import LiveWord, Partial
from punc.live.output import OUTPUTS, writer
from punc.live.session import Decided
from punc.live.words import Marked

LOGITS = np.log(np.array([0.25, 0.75], np.float32))
HELLO = Decided(LiveWord("hello", 0.5, 1.0, {"conf": 0.9}), Marked("hello", "Hello,", "CAP_COMMA", LOGITS, 1))
YOU = Decided(LiveWord("yöu"), Marked("yöu", "yöu.", "PERIOD", LOGITS, 0))


def test_text_has_a_line_for_each_stream():
    written = writer("text")
    assert [written.messages(decided, [Partial("a")], []) for decided in ([], [HELLO], [YOU, None, HELLO], [None])] == [
        [], ["Hello,"], [" yöu.\nHello,"], ["\n"]]
    assert written.line_end == ""


def test_json_has_an_object_for_each_word():
    messages = writer("json").messages([HELLO, YOU, None], [Partial("a")], [])
    assert "yöu" in messages[1]
    assert [*map(json.loads, messages)] == [
        {"word": "hello", "text": "Hello,", "label": "CAP_COMMA", "probability": 0.75, "start": 0.5, "end": 1.0,
         "conf": 0.9},
        {"word": "yöu", "text": "yöu.", "label": "PERIOD", "probability": 0.25}, {"eof": 1}]


def test_vosk_has_a_result_for_words_that_are_decided_together():
    written = writer("vosk")
    message, = written.messages([HELLO, YOU, None], [], [])
    result = json.loads(message)
    assert result["text"] == "Hello, yöu."
    assert [(word["word"], word.get("conf"), word.get("start"), word.get("end")) for word in result["result"]] == [
        ("Hello,", 0.9, 0.5, 1.0), ("yöu.", None, None, None)]
    assert written.messages([], [], [YOU.word]) == []
    assert written.messages([None], [], []) == ['{"text": ""}']


def test_vosk_partial_begins_with_the_words_that_wait():
    written = writer("vosk")
    for items, waiting, expected in (
            ([Partial("a b")], [], "a b"), ([Partial("x"), Partial("a")], [HELLO.word], "hello a"),
            ([Partial("")], [HELLO.word, YOU.word], "hello yöu"), ([Partial("")], [], "")):
        assert [*map(json.loads, written.messages([], items, waiting))] == [{"partial": expected}]
    assert len(written.messages([HELLO], [Partial("a")], [])) == 2


@pytest.mark.parametrize("output", OUTPUTS)
def test_what_cannot_be_encoded_is_replaced(output):
    bad = Decided(HELLO.word._replace(fields={"id": "\ud800"}), HELLO.marked)
    assert writer(output).messages([bad], [], [])[0].encode()
