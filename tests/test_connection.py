"""A client of a server: what is sent for which messages, in which form, and what is refused."""

import asyncio
import json
import re

import pytest

from punc.decoding.decode import load_model
from punc.decoding.shipped import find_model
from punc.live import connection
from punc.live.connection import Connection
from punc.live.session import LiveOptions, Session
from punc.live.words import LiveWriter, open_stream
from punc.text.casing import Casing

TEXT = "how are you i am fine"


class Gone(Exception):
    """The source is closed."""


class Client:
    """Both ends of a WebSocket: says what it was told, and then nothing, or goes."""

    def __init__(self, messages, stays):
        self.messages, self.stays, self.sent = list(messages), stays, []

    async def recv(self):
        if self.messages:
            return self.messages.pop(0)
        if self.stays:
            await asyncio.sleep(60)
        raise Gone

    async def send(self, message):
        self.sent.append(message)


@pytest.fixture(scope="module")
def fresh():
    model = load_model(find_model("en-live"))
    return open_stream(model, LiveWriter(model, Casing(model.labels, {}, sentences=True)))


def served(fresh, messages, output="auto", rate=1e6, stays=False, seconds=None, **options):
    """What a client gets, and its connection."""
    client = Client(messages, stays)
    live = LiveOptions(**options)
    words = []
    made = Connection(client, client, Session(fresh.copy, live), live.max_delay, output, rate, words.append)

    async def run():
        with pytest.raises(asyncio.TimeoutError if seconds else Gone):
            await asyncio.wait_for(made.run(), seconds)
        client.count, client.left = sum(words), len(made._items)
        await made.finish()

    asyncio.run(run())
    return client


def test_words_become_text(fresh):
    for messages in ([TEXT + "\n\n"], [*TEXT.split(), "\n\n"], [TEXT, '{"eof": 1}'], [TEXT]):
        client = served(fresh, messages)
        assert "".join(client.sent) == "How are you? I am fine.\n"


def test_json_words_become_a_message_each(fresh):
    messages = [json.dumps({"word": word, "start": i, "end": i + 1, "id": i}) for i, word in enumerate(TEXT.split())]
    for some in (messages, ["\n".join(messages)]):
        client = served(fresh, [*some, '{"eof": 1}'])
        *words, end = map(json.loads, client.sent)
        assert [(word["text"], word["start"], word["id"]) for word in words] == [
            (text, i, i) for i, text in enumerate(["How", "are", "you?", "I", "am", "fine."])]
        assert end == {"eof": 1}
        assert client.count == 6


def test_results_of_vosk_come_back_with_marks(fresh):
    result = {"result": [{"word": word, "conf": 1.0, "start": 0.5, "end": 0.7} for word in TEXT.split()], "text": TEXT}
    pretty = json.dumps(result, indent=2).replace('":', '" :')
    client = served(fresh, ['{"partial": "how"}', pretty, '{"partial": ""}'], utterance_end="decide")
    partial, found, last = map(json.loads, client.sent[:3])
    assert partial == {"partial": "how"}
    assert found["text"] == "How are you? I am fine."
    assert [(word["word"], word["conf"], word["start"]) for word in found["result"]] == [
        (word, 1.0, 0.5) for word in found["text"].split()]
    assert last == {"partial": ""}


def test_end_without_words_has_an_answer(fresh):
    assert served(fresh, ['{"eof": 1}']).sent == ['{"eof": 1}']
    assert served(fresh, ['{"eof": 1}'], "vosk").sent == ['{"text": ""}']


@pytest.mark.parametrize(("message", "said"), [
    (b"\0\1", "message: bytes; send text"), ('{"word": "x', "message:1: not JSON"), ("garbage", "message:1: not JSON"),
    ('{"nothing": 1}', "message:1: neither a word nor a result"),
    ('{"word": "' + "x" * 300 + '"}', "message: a word of more than 256 characters; it is left out"),
    ('{"word": "am"}\n{"wor', None)])
def test_bad_messages_are_answered_and_harm_nothing(fresh, message, said):
    words = [json.dumps({"word": word}) for word in TEXT.split()]
    if said is None:
        words[4], said = message, "message:2: not JSON"
        client = served(fresh, words)
    else:
        client = served(fresh, [*words[:4], message, *words[4:]])
    found = [json.loads(sent) for sent in client.sent]
    errors = [sent["error"] for sent in found if "error" in sent]
    assert [error[:len(said)] for error in errors] == [said]
    assert [sent["text"] for sent in found if "text" in sent] == ["How", "are", "you?", "I", "am", "fine."]


def test_many_lines_and_many_errors_are_cut(fresh):
    said = [json.loads(sent) for sent in served(fresh, ["{\n" * 500, "\n" * 5000, '{"eof": 1}']).sent]
    assert len(said) == 12
    assert {tuple(message) for message in said[:-1]} == {("error",)}
    assert said[-2]["error"] == "message: more than 1000 lines; send fewer at a time"


def test_client_of_words_says_its_end_in_json_and_one_of_json_says_no_words(fresh):
    assert "".join(served(fresh, [TEXT, '{"eof": 1}'], "text").sent) == "How are you? I am fine.\n"
    client = served(fresh, ['{"word": "how"}', "garbage"], "text")
    assert json.loads(client.sent[0])["error"].startswith("message:1: not JSON")
    assert client.sent[1].startswith("How")


def test_silence_decides(fresh):
    client = served(fresh, [TEXT], stays=True, seconds=0.3, max_delay=0.05)
    assert client.sent[-1] == "\n", "finish has nothing else to say"
    assert re.fullmatch("How are you\\? I am fine\\.?\n", "".join(client.sent))


def test_many_words_wait_and_are_out_at_the_end(fresh, monkeypatch):
    monkeypatch.setattr(connection, "BURST", 0.5)
    client = served(fresh, [" ".join([TEXT] * 100)], rate=100, stays=True, seconds=0.4)
    assert 400 < client.left < 560  # of 600, the burst and 0.4 s of 100 words/s are decided
    assert len("".join(client.sent).split()) == 600
