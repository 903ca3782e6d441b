"""The server's messages to clients, over simulated connections and over real ones on this machine."""

import asyncio
import contextlib
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from conftest import UTILS

from punc.base.errors import InputError
from punc.bin.main import main
from punc.decoding.decode import load_model
from punc.decoding.shipped import CASING, find_model
from punc.live import connection
from punc.live.connection import Connection, OverLimit
from punc.live.server import config_of, listening
from punc.live.session import LiveOptions, ServerOptions, Session
from punc.live.words import LiveWriter, open_stream
from punc.text.casing import Casing

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")
import uvicorn
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed, InvalidStatus

from punc.live.app import make_app
from punc.live.served import Models

TEXT = "how are you i am fine"


class Gone(Exception):
    """Raised when the simulated client has disconnected."""


class Client:
    """Simulates a WebSocket. Sends the given messages, then stays silent or disconnects."""

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
    client = Client(messages, stays)
    session, words, delay = Session(fresh.copy, LiveOptions(**options)), [], options.get("max_delay")
    made = Connection(client.recv, client.send, session, delay, output, rate, words.append)

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


@pytest.mark.parametrize(("end", "said"), [
    ("decide", [{"text": ""}, {"partial": "how"}, "How are you?", {"text": ""}, {"text": ""}]),
    ("nothing", [{"text": ""}, {"partial": "how"}, {"partial": "how are you"}, {"partial": "how are you"},
                 "How are you?"])])
def test_each_message_of_vosk_has_an_answer(fresh, end, said):
    """Clients of vosk-server wait for an answer before they send more audio."""
    messages = ['{"text": ""}', '{"partial": "how"}', '{"text": "how are you"}', '{"text": ""}', '{"eof": 1}']
    answers = [json.loads(sent) for sent in served(fresh, messages, utterance_end=end).sent]
    assert [answer.get("text") if "result" in answer else answer for answer in answers] == said


def test_end_without_words_has_an_answer(fresh):
    assert served(fresh, ['{"eof": 1}']).sent == ['{"eof": 1}']
    assert served(fresh, ['{"eof": 1}'], "vosk").sent == ['{"text": ""}']


@pytest.mark.parametrize(("message", "said"), [
    (b"\0\1", "message: a binary message; send text"),
    ('{"word": "x', "message:1: not JSON"), ("garbage", "message:1: not JSON"),
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


def test_many_errors_are_cut_and_too_many_lines_end_a_client(fresh):
    said = [json.loads(sent) for sent in served(fresh, ["{\n" * 500, '{"eof": 1}']).sent]
    assert len(said) == 11
    assert {tuple(message) for message in said[:-1]} == {("error",)}
    client = Client(["\n" * 5000], False)
    session = Session(fresh.copy, LiveOptions())
    made = Connection(client.recv, client.send, session, None, "auto", 1e6, lambda words: None)
    with pytest.raises(OverLimit, match=r"^message: more than 1000 lines; send fewer"):
        asyncio.run(made.run())


def test_broken_lines_cost_as_much_as_words(fresh, monkeypatch):
    monkeypatch.setattr(connection, "BURST", 0.5)
    client = served(fresh, ["{\n" * 100, '{"eof": 1}'], rate=100, stays=True, seconds=0.3)
    assert client.sent == []  # the rate limit delays these 101 lines by half a second


@pytest.mark.parametrize("word", ["<unk>", "[Music]", "♪", "."])
def test_words_that_no_model_reads_do_not_pile_up(fresh, word):
    stream = fresh.copy()
    found = sum(len(stream.push(text)) for text in ["hello", *[word] * 2000])
    assert 0 <= 2001 - found < 300


def test_client_of_words_says_its_end_in_json_and_one_of_json_says_no_words(fresh):
    assert "".join(served(fresh, [TEXT, '{"eof": 1}'], "text").sent) == "How are you? I am fine.\n"
    client = served(fresh, ['{"word": "how"}', "garbage"], "text")
    assert json.loads(client.sent[0])["error"].startswith("message:1: not JSON")
    assert client.sent[1].startswith("How")


def test_silence_decides(fresh):
    client = served(fresh, [TEXT], stays=True, seconds=0.3, max_delay=0.05)
    assert client.sent[-1] == "\n", "finish sends nothing else"
    assert re.fullmatch("How are you\\? I am fine\\.?\n", "".join(client.sent))


def test_many_words_wait_and_are_out_at_the_end(fresh, monkeypatch):
    monkeypatch.setattr(connection, "BURST", 0.5)
    client = served(fresh, [" ".join([TEXT] * 100)], rate=100, stays=True, seconds=0.4)
    assert 400 < client.left < 560  # of 600 words, 90 are done: a burst of 50, and 100 words/s for 0.4 s
    assert len("".join(client.sent).split()) == 600


PAGE = Path(__file__).parents[1] / "docs/serve.md"
EN_LIVE = find_model("en-live")
SAID = "good morning everyone my name is john smith do you have any questions yes we do thank you"
MARKED = "Good morning, everyone. My name is John Smith. Do you have any questions? Yes, we do. Thank you."


def run(talk, live=None, names=("en-live",), **options):
    """Run a server, call `talk(url)`, end the server, and return the result of `talk`."""
    async def all_of_it():
        settings = ServerOptions(port=0, **{"max_rate": 1e6, **options})
        app = make_app(names, "", live or LiveOptions(), settings)
        with listening(settings) as listener:
            server = uvicorn.Server(config_of(app, settings))
            server.capture_signals = contextlib.nullcontext
            running = asyncio.create_task(server.serve([listener]))
            try:
                while not server.started:
                    await asyncio.sleep(0.01)
                url = f"ws://127.0.0.1:{listener.getsockname()[1]}"
                return await asyncio.wait_for(talk(url), 60)
            finally:
                server.should_exit = True
                await running
    return asyncio.run(all_of_it())


@pytest.fixture(scope="module")
def small():
    started, ended = threading.Event(), threading.Event()
    urls = []

    async def talk(url):
        urls.append(url)
        started.set()
        await asyncio.to_thread(ended.wait)

    thread = threading.Thread(target=run, args=(talk,))
    thread.start()
    assert started.wait(30)
    yield urls[0]
    ended.set()
    thread.join()


def ask(url, path, body=None, **headers):
    request = urllib.request.Request(url.replace("ws:", "http:") + path, None if body is None else body.encode(),
                                     {name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


async def to_end(socket):
    found = []
    with contextlib.suppress(ConnectionClosed):
        while {"eof": 1} not in found:
            found.append(json.loads(await socket.recv()))
    return found


def test_nothing_of_one_connection_is_in_another():
    rng = np.random.default_rng(1)
    texts = [rng.permutation(SAID.split()).tolist() for _ in range(8)]

    async def one(url, number, pause):
        async with connect(url) as socket:
            for i, word in enumerate(texts[number]):
                await socket.send(json.dumps({"word": word, "start": i, "end": i + pause, "client": number}))
                await asyncio.sleep(0)
            await socket.send('{"eof": 1}')
            return await to_end(socket)

    async def talk(url):
        requests = (asyncio.to_thread(ask, url, "/v1/punctuate", json.dumps({"words": text}),
                                      content_type="application/json") for text in texts)
        clients = (one(url, number, 1 - number / 8) for number in range(8))
        found, answers = await asyncio.gather(asyncio.gather(*clients), asyncio.gather(*requests))
        health = json.loads((await asyncio.to_thread(ask, url, "/health"))[2])
        assert (health["served"], health["words"]) == (8, 8 * 18)
        for text, (_, _, answer) in zip(texts, answers):
            assert [word["word"] for word in json.loads(answer)["words"]] == text
        return found

    model = load_model(EN_LIVE)
    words = LiveWriter(model, Casing.read(model.labels, EN_LIVE / CASING, True))
    for number, (*found, end) in enumerate(run(talk)):
        stream, expected = open_stream(model, words), []
        for i, word in enumerate(texts[number]):
            expected += stream.push(word, float("nan") if not i else number / 8)
        expected += stream.close()
        assert [word["text"] for word in found] == [marked.text for marked in expected]
        assert {word["client"] for word in found} == {number}
        assert end == {"eof": 1}


def test_clients_that_misbehave_harm_no_other():
    async def talk(url):
        host, port = url.removeprefix("ws://").split(":")
        async with connect(url) as good, connect(url) as silent, contextlib.AsyncExitStack() as stack:
            for begin in (b"", b"GET / HT", b"\0\xff garbage\r\n\r\n", b"POST / HTTP/1.1\r\n\r\n",
                          b"POST /v1/punctuate HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\nhalf",
                          b"POST /v1/punctuate HTTP/1.1\r\nHost: x\r\nContent-Length: 80000\r\n\r\n" + b"a " * 35_000):
                _, writer = await asyncio.open_connection(host, port)
                stack.callback(writer.close)
                writer.write(begin)
            # A short timeout, because the server will send no closing frame.
            half = await stack.enter_async_context(connect(url, close_timeout=0.1))
            await half.send(['{"word": "ha', "lf", '"}'])
            half.transport.write(b"\x81\xfe")  # only the beginning of a frame
            gone = await connect(url)
            await gone.send("some words")
            gone.transport.abort()
            large = await stack.enter_async_context(connect(url))
            await large.send("x" * 70_000)
            with pytest.raises(ConnectionClosed):
                await large.recv()
            assert large.close_code == 1009
            assert (await asyncio.to_thread(ask, url, "/v1/punctuate", "a " * 35_000))[0] == 200
            for word in SAID.split():
                await good.send(json.dumps({"word": word}))
            await good.send('{"eof": 1}')
            found = await to_end(good)
            await silent.send(SAID + "\n\n")
            text = ""
            while not text.endswith("\n"):
                text += await silent.recv()
            return " ".join(word["text"] for word in found[:-1]), text

    assert run(talk) == (MARKED, MARKED + "\n")


def test_client_that_floods_with_pings_is_told_and_closed():
    async def talk(url):
        async with connect(url) as socket:
            socket.transport.write(b"\x89\x80\0\0\0\0" * 300)
            with pytest.raises(ConnectionClosed, match="more than 100 pings a second"):
                await socket.recv()
        async with connect(url) as socket:
            await socket.send("\n" * 5000)  # more lines than a message may have
            assert json.loads(await socket.recv())["error"].startswith("message: more than 1000 lines")
            with pytest.raises(ConnectionClosed, match="1008"):
                await socket.recv()

    run(talk)


def test_limits_and_health(caplog):
    async def talk(url):
        async with connect(url), connect(url + "/v1/live"):
            with pytest.raises(InvalidStatus, match="503"):
                await connect(url)
            health = json.loads((await asyncio.to_thread(ask, url, "/health"))[2])
            assert (health["status"], health["connections"], health["max_connections"]) == ("ok", 2, 2)
        while json.loads((await asyncio.to_thread(ask, url, "/health"))[2])["connections"]:
            await asyncio.sleep(0.01)
        async with connect(url) as socket:  # now the server accepts a new client
            await socket.send('{"eof": 1}')
            assert await socket.recv() == '{"eof": 1}'
        async with connect(url + "?output=vosk&max_delay=0.05") as socket:
            await socket.send("hello there")
            assert json.loads(await socket.recv())["text"].lower().startswith("hello there")
        for wrong, status in (("?output=xml", "400"), ("?max_delay=x", "400"), ("?model=fr", "404"),
                              ("?max-delay=1", "400")):
            with pytest.raises(InvalidStatus, match=status):
                await connect(url + wrong)

    run(talk, max_connections=2)
    assert not caplog.records, "a refused connection is no error of the server"


SRT = "1\n00:00:01,000 --> 00:00:03,000\nhow are you i am fine\n"
JSON = {"content_type": "application/json"}


SPOKEN = "so it begins as it must does it end"


def test_texts_and_transcripts_by_http():
    async def talk(url):
        return await asyncio.to_thread(requests, url)

    def requests(url):
        assert ask(url, "/v1/punctuate", f"{TEXT}\n\n  {TEXT}\n")[2] == (
            "How are you? I am fine.\n\n  How are you? I am fine.\n")
        words = ["are", "you", "i", "am", "[Music]"]
        words = [{"word": "how", "start": 0, "end": 0.5, "conf": 0.5, "odd": ["\ud800", float("inf")]}, *words]
        found = json.loads(ask(url, "/v1/punctuate", json.dumps({"words": words}), **JSON)[2])
        assert (found["model"], found["text"]) == ("en", "How are you? I am. [Music]")
        assert [word["word"] for word in found["words"]] == ["how", "are", "you", "i", "am", "[Music]"]
        assert {**found["words"][0], "probability": 1} == {
            "word": "how", "text": "How", "label": "CAP", "probability": 1, "start": 0.0, "end": 0.5, "conf": 0.5,
            "odd": ["?", None]}
        assert found["words"][-1] == {"word": "[Music]", "text": "[Music]"}
        speakers = ["A", "A", "A", None, None, *"AAAA"]  # an unknown speaker begins no turn
        words = [{"word": word, "speaker": speaker} for word, speaker in zip(SPOKEN.split(), speakers)]
        assert json.loads(ask(url, "/v1/punctuate", json.dumps({"words": words}), **JSON)[2])["text"] == (
            "So it begins as it must. Does it end?")
        found = json.loads(ask(url, "/v1/punctuate?model=en-live", json.dumps({"text": TEXT}), **JSON)[2])
        assert (found["model"], found["text"]) == ("en-live", "How are you? I am fine.")
        assert ask(url, "/v1/transcript", SRT)[2] == SRT.replace("how are you i am", "How are you? I am") \
            .replace("fine", "fine.")
        status, headers, body = ask(url, "/v1/transcript?to=vtt&name=talk.srt", SRT)
        assert (status, headers["content-type"], body[:7]) == (200, "text/vtt; charset=utf-8", "WEBVTT\n")
        models = json.loads(ask(url, "/v1/models")[2])["models"]
        assert [(model["name"], model["language"], model["live"]) for model in models] == [
            ("en", "en", False), ("en-live", "en", True)]
        paths = json.loads(ask(url, "/openapi.json")[2])["paths"]
        assert {"/v1/punctuate", "/v1/transcript", "/v1/models", "/health"} == {*paths}

    run(talk, names=("en", "en-live"))


@pytest.mark.parametrize(("path", "body", "headers", "status", "said"), [
    ("/v1/punctuate", "", {}, 400, "no text; send words"), ("/v1/punctuate", " \n", {}, 400, "no text; send words"),
    ("/v1/punctuate", '{"text": ""}', JSON, 400, "no text; send words"),
    ("/v1/punctuate?model=fr", "hello", {}, 404, "this server has no model 'fr'; choose from en-live"),
    ("/v1/punctuate", "{", JSON, 400, 'not JSON; send {"text": '),
    ("/v1/punctuate", '{"words": ["a", "b c"]}', JSON, 400, "words[1]: 'b c' contains a space; give one word"),
    ("/v1/punctuate", '{"words": [{"start": 1}]}', JSON, 400, "words[0]: a word is not an object with 'word'"),
    ("/v1/punctuate", '{"words": [{"word": "a", "x": 1e999, "y": "\\ud800"}, 1]}', JSON, 400, "words[1]: "),
    ("/v1/punctuate", "[" * 50_000, JSON, 400, "not JSON; "),
    ("/v1/punctuate", '{"text": "a b"}', {}, 400, "JSON was sent as text; send it with content-type: application/json"),
    ("/v1/transcript?modl=en", TEXT, {}, 400, "unknown parameter 'modl'; did you mean model?"),
    ("/v1/transcript", TEXT, {"content-type": "multipart/form-data; boundary=x"}, 415, "a form with files; send "),
    ("/v1/punctuate", "a " * 100_001, {}, 400, "100,001 words, but a request has 100,000 at most; cut it"),
    ("/v1/punctuate", "a" * 4_200_000, {}, 413, "more than 4,194,304 bytes; cut it"),
    ("/v1/transcript?to=srt", TEXT, {}, 400, "no times for --to srt; use --to text or"),
    ("/v1/transcript?to=pdf", TEXT, {}, 400, "unknown format to=pdf; choose from ctm json paragraphs srt text vtt"),
    ("/v1/transcript", "WEBVTT\n\n00:01 --> x\nhello\n", {}, 400, ""),
    ("/v1/live", "x", {}, 404, "Not Found; "), ("/v1/models", "x", {}, 405, "Method Not Allowed; ")])
def test_errors_by_http_have_cause_and_remedy(small, path, body, headers, status, said):
    found, answered, content = ask(small, path, body, **headers)
    error = json.loads(content)
    assert (found, answered["content-type"]) == (status, "application/json")
    assert f"{error['error']}; {error['remedy']}".startswith(said)
    assert error["remedy"]


def test_server_between_a_vosk_server_and_its_client():
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

    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as recogniser_socket:
        port = recogniser_socket.getsockname()[1]

    async def talk(url):
        async with serve(vosk, "127.0.0.1", port), connect(url) as client:
            for message in ('{"config": {"sample_rate": 16000}}', b"\0\1" * 4000, '{"eof" : 1}'):
                await client.send(message)
            found = await to_end(client)
        async with connect(url) as client:
            return found, await to_end(client)

    found, unreachable = run(talk, upstream=f"ws://127.0.0.1:{port}")
    assert heard == ['{"config": {"sample_rate": 16000}}', b"\0\1" * 4000, '{"eof" : 1}']
    assert found[0] == {"partial": "good"}
    text = " ".join(part["text"] for part in found[1:] if part.get("text"))
    assert text.lower().translate(str.maketrans("", "", ",.?")) == SAID
    assert text.count("?") == 1
    assert [(word["start"], word["conf"]) for part in found for word in part.get("result", ())] == [
        (i, 1.0) for i in range(18)]
    assert unreachable == [{"error": "the recogniser cannot be reached"}]


def test_client_of_the_page(capsys):
    code = re.search(r"```python\n(.+?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]

    async def talk(url):
        await asyncio.to_thread(exec, code.replace("ws://127.0.0.1:2701", url), {})

    run(talk)
    *words, end = map(json.loads, capsys.readouterr().out.splitlines())
    assert [word["text"] for word in words] == ["How", "are", "you?", "I", "am", "fine."]
    assert end == {"eof": 1}


def test_models_that_do_not_fit():
    models = Models(["en"], "")
    with pytest.raises(InputError, match=r"^none of the models reads left to right; start punc"):
        models.find("", live=True)
    with pytest.raises(InputError, match=r"^2 models with 1 names; "):
        Models(["en-live", "en-live"], "")


@pytest.mark.parametrize(("option", "said"), [
    ("--port=70000", "--port=70000 is out of range; give one from 0 to 65535"),
    ("--max-connections=0", "--max-connections=0 is out of range; give 1 or more"),
    ("--max-rate=nan", "--max-rate=nan is out of range; give 1 or more"),
    ("--workers=0", "--workers=0 is out of range; give 1 or more"),
    ("--upstream=localhost:2700", "--upstream=localhost:2700 is not the URL of a WebSocket; give one that begins with"),
    ("--host=256.0.0.1", "256.0.0.1:2701: ")])
def test_wrong_options(capsys, option, said):
    assert main(["serve", option]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("workers", [1, 2])
def test_signal_ends_the_server_with_all_words_out(workers):
    code = "import sys; from punc.bin.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "serve", "--port=0", f"--workers={workers}", "en-live"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        url = process.stderr.readline().split()[-1].replace("http:", "ws:")

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
            assert process.wait(timeout=2) == 143
            assert process.stderr.read().splitlines() == ["punc serve: terminated"]
        finally:
            process.kill()


def test_server_without_its_packages(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["serve", "en-live"]) == 1
    assert capsys.readouterr().err.endswith(f"constraints.txt -e '{UTILS.parent}[serve]'\n")
