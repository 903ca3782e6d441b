"""The server: what a client sends and gets, and real clients over loopback."""

import asyncio
import contextlib
import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from punc.base.errors import InputError
from punc.bin.main import main
from punc.decoding.decode import load_model
from punc.decoding.shipped import CASING, find_model
from punc.live import connection
from punc.live.connection import Connection
from punc.live.server import Server, ServerOptions
from punc.live.session import LiveOptions, Session
from punc.live.words import LiveWriter, open_stream
from punc.text.casing import Casing

pytest.importorskip("websockets")
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed, InvalidStatus

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


PAGE = Path(__file__).parents[1] / "docs/live.md"
EN_LIVE = find_model("en-live")
SAID = "good morning everyone my name is john smith do you have any questions yes we do thank you"
MARKED = "Good morning, everyone. My name is John Smith. Do you have any questions? Yes, We do. Thank you."


@pytest.fixture(scope="module")
def model():
    return load_model(EN_LIVE)


def casing(model):
    return Casing.read(model.labels, EN_LIVE / CASING, True)


def run(model, talk, live=None, **options):
    """What `talk(url, server)` returns, with a server at that URL; then the server ends."""
    async def all_of_it():
        options.setdefault("max_rate", 1e6)
        server = Server(model, casing(model), None, live or LiveOptions(), ServerOptions(port=0, **options))
        port, ended = asyncio.get_running_loop().create_future(), asyncio.Event()
        running = asyncio.create_task(server.run(ended.is_set, port.set_result))
        try:
            return await asyncio.wait_for(talk(f"ws://127.0.0.1:{await port}", server), 60)
        finally:
            ended.set()
            await running
    return asyncio.run(all_of_it())


async def to_end(socket):
    """The messages up to the end of the stream."""
    found = []
    with contextlib.suppress(ConnectionClosed):
        while {"eof": 1} not in found:
            found.append(json.loads(await socket.recv()))
    return found


def test_nothing_of_one_connection_is_in_another(model):
    rng = np.random.default_rng(1)
    texts = [rng.permutation(SAID.split()).tolist() for _ in range(8)]

    async def one(url, number, pause):
        async with connect(url) as socket:
            for i, word in enumerate(texts[number]):
                await socket.send(json.dumps({"word": word, "start": i, "end": i + pause, "client": number}))
                await asyncio.sleep(0)
            await socket.send('{"eof": 1}')
            return await to_end(socket)

    async def talk(url, server):
        found = await asyncio.gather(*(one(url, number, 1 - number / 8) for number in range(8)))
        assert server.health()["served"] == 8
        assert server.health()["words"] == 8 * 18
        return found

    for number, (*found, end) in enumerate(run(model, talk)):
        stream, expected = open_stream(model, LiveWriter(model, casing(model))), []
        for i, word in enumerate(texts[number]):
            expected += stream.push(word, float("nan") if not i else number / 8)
        expected += stream.close()
        assert [word["text"] for word in found] == [marked.text for marked in expected]
        assert {word["client"] for word in found} == {number}
        assert end == {"eof": 1}


def test_clients_that_misbehave_harm_no_other(model):
    async def talk(url, server):
        host, port = url.removeprefix("ws://").split(":")
        async with connect(url) as good, connect(url) as silent, contextlib.AsyncExitStack() as stack:
            for begin in (b"", b"GET / HT", b"\0\xff garbage\r\n\r\n", b"POST / HTTP/1.1\r\n\r\n"):
                _, writer = await asyncio.open_connection(host, port)
                stack.callback(writer.close)
                writer.write(begin)
            half = await stack.enter_async_context(connect(url, close_timeout=0.1))  # nobody answers its close
            await half.send(['{"word": "ha', "lf", '"}'])
            half.transport.write(b"\x81\xfe")  # the begin of a frame
            gone = await connect(url)
            await gone.send("some words")
            gone.transport.abort()
            large = await stack.enter_async_context(connect(url))
            await large.send("x" * 70_000)
            with pytest.raises(ConnectionClosed):
                await large.recv()
            assert large.close_code == 1009
            for word in SAID.split():
                await good.send(json.dumps({"word": word}))
            await good.send('{"eof": 1}')
            found = await to_end(good)
            await silent.send(SAID + "\n\n")
            text = ""
            while not text.endswith("\n"):
                text += await silent.recv()
            return " ".join(word["text"] for word in found[:-1]), text

    assert run(model, talk) == (MARKED, MARKED + "\n")


def test_limits_and_health(model):
    def get(url):
        with urllib.request.urlopen(url.replace("ws:", "http:") + "/health", timeout=20) as answer:
            return json.loads(answer.read())

    async def talk(url, server):
        async with connect(url), connect(url):
            with pytest.raises(InvalidStatus, match="503"):
                await connect(url)
            health = await asyncio.to_thread(get, url)
            assert (health["status"], health["connections"], health["max_connections"]) == ("ok", 2, 2)
        while (await asyncio.to_thread(get, url))["connections"]:
            await asyncio.sleep(0.01)
        async with connect(url) as socket:  # there is room again
            await socket.send('{"eof": 1}')
            assert await socket.recv() == '{"eof": 1}'

    run(model, talk, max_connections=2)


def test_server_between_a_vosk_server_and_its_client(model):
    heard = []

    async def vosk(socket):
        async for message in socket:
            heard.append(message)
            if message == '{"eof" : 1}':
                await socket.send(json.dumps({"text": ""}))
                return
            if isinstance(message, bytes):
                await socket.send(json.dumps({"partial": "good"}))
                words = SAID.split()
                await socket.send(json.dumps({"result": [{"word": word, "conf": 1.0, "start": i, "end": i + 1}
                                                         for i, word in enumerate(words)], "text": SAID}, indent=1))

    async def talk(url, server):
        async with serve(vosk, "127.0.0.1", 0) as recogniser:
            port = recogniser.sockets[0].getsockname()[1]
            object.__setattr__(server.options, "upstream", f"ws://127.0.0.1:{port}")
            async with connect(url) as socket:
                for message in ('{"config": {"sample_rate": 16000}}', b"\0\1" * 4000, '{"eof" : 1}'):
                    await socket.send(message)
                found = await to_end(socket)
        async with connect(url) as socket:
            return found, await to_end(socket)

    found, unreachable = run(model, talk)
    assert heard == ['{"config": {"sample_rate": 16000}}', b"\0\1" * 4000, '{"eof" : 1}']
    assert found[0] == {"partial": "good"}
    text = " ".join(part["text"] for part in found[1:] if part["text"])
    assert text.lower().translate(str.maketrans("", "", ",.?")) == SAID
    assert text.count("?") == 1
    assert [(word["start"], word["conf"]) for part in found for word in part.get("result", ())] == [
        (i, 1.0) for i in range(18)]
    assert unreachable == [{"error": "the recogniser cannot be reached"}]


def test_client_of_the_page(model, capsys):
    code = re.search(r"```python\n(.+?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]

    async def talk(url, server):
        await asyncio.to_thread(exec, code.replace("ws://127.0.0.1:2701", url), {})

    run(model, talk)
    *words, end = map(json.loads, capsys.readouterr().out.splitlines())
    assert [word["text"] for word in words] == ["How", "are", "you?", "I", "am", "fine."]
    assert end == {"eof": 1}


def test_model_of_whole_streams_is_an_error(capsys):
    assert main(["serve", "en"]) == 1
    assert capsys.readouterr().err == "punc serve: en: this model reads whole streams; serve one that reads left to " \
        "right, as en-live\n"


@pytest.mark.parametrize(("option", "said"), [
    ("--port=70000", "--port=70000; give one from 0 to 65535"),
    ("--max-connections=0", "--max-connections=0; it is 1 or more"),
    ("--max-rate=nan", "--max-rate=nan; it is 1 or more"), ("--output=xml", "--output=xml; choose from auto, text,"),
    ("--host=256.0.0.1", "256.0.0.1:2701: ")])
def test_wrong_options(capsys, option, said):
    assert main(["serve", option]) == 1
    assert said in capsys.readouterr().err


def test_signal_ends_the_server_with_all_words_out():
    code = "import sys; from punc.bin.main import main; sys.exit(main())"
    with subprocess.Popen([sys.executable, "-c", code, "serve", "--port=0"], stderr=subprocess.PIPE,
                          text=True) as process:
        url = process.stderr.readline().split()[-1]

        async def talk():
            async with connect(url) as socket, connect(url):
                await socket.send(SAID)
                text = await socket.recv()
                process.send_signal(signal.SIGTERM)
                async for message in socket:
                    text += message
                return text, socket.close_code

        try:
            assert asyncio.run(asyncio.wait_for(talk(), 30)) == (MARKED + "\n", 1001)
            assert process.wait(timeout=30) == 143
            assert process.stderr.read().splitlines() == ["served 2 connections and 18 words", "punc serve: terminated"]
        finally:
            process.kill()


def test_server_without_websockets(monkeypatch, model):
    monkeypatch.setattr("punc.live.server.ws_server", None)
    with pytest.raises(InputError, match=r"^the package websockets is missing; pip install "):
        Server(model, casing(model), None, LiveOptions(), ServerOptions())
