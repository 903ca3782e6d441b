"""Measures the delay, throughput and memory of `punc serve`, with clients on the same machine.

    python tests/bench/bench_server.py [--connections N] [--rate N] [--seconds N] [--words N] [--requests N]

- Delay: for --seconds seconds, each of N connections sends --rate words a second (speech has two to four) as JSON, at
  irregular times. The delay runs from the time when a word is sent to the time when the answer that it makes possible
  arrives.
- Hostile clients: the delays are measured again while the clients of hostile.py run.
- HTTP: 4 clients at the same time send a total of --requests texts of 1,000 words to a server with two workers. Then
  they send 10 × --requests short texts in JSON while N connections send words as above. For comparison, `punc
  transcript --nj 2` reads as many words as the long texts have.
- End: how long the server takes to end after SIGTERM with 4 requests under way, and how many of them it answers.
- Memory: finally, --words words go through N connections as fast as they are answered. The resident size of the server
  is read five times, first after a tenth of the words, and last after all words.

The words are drawn with Zipf frequencies from the model's vocabulary. Every answer is checked against the words of its
own connection. The clients share the processors with the server.
"""

import argparse
import asyncio
import contextlib
import http.client
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path

from processes import PUNC
from websockets.asyncio.client import ClientConnection, connect

from punc.decoding.shipped import find_model

LIVE, TEXT = "en-live", "en"
AHEAD = json.loads((find_model(LIVE) / "model.json").read_text(encoding="utf-8"))["lookahead"]
# Tags and marks are left out, because a tag or mark that is sent alone waits for the next word.
KNOWN = [word for word in (find_model(LIVE) / "vocab").read_text(encoding="utf-8").split() if word.isalpha()]
CHANCES = list(accumulate(1 / rank for rank in range(1, len(KNOWN) + 1)))
TOGETHER, HELD = 50, 2  # words per message in the memory test; words beyond the look-ahead that may stay unanswered
LONG, AT_ONCE = 1000, 4  # words per text; number of concurrent clients


def draw(chance: random.Random, count: int) -> list[str]:
    return chance.choices(KNOWN, cum_weights=CHANCES, k=count)


@contextlib.contextmanager
def serving(*options: str) -> Iterator[tuple[subprocess.Popen, int]]:
    with subprocess.Popen([*PUNC, "serve", "--port=0", *options], stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process, int(process.stderr.readline().rpartition(":")[2])
        finally:
            process.terminate()


def show(what: str, value: float, unit: str, digits: int = 0) -> None:
    print(f"{what:<56}{value:10,.{digits}f} {unit}", flush=True)


def show_delays(what: str, seconds: list[float]) -> None:
    delays = sorted(1000 * delay for delay in seconds)
    for name, part in (("median", 0.5), ("99th percentile", 0.99), ("slowest", 1)):
        show(f"{what}, {name}", delays[min(int(part * len(delays)), len(delays) - 1)], "ms", 1)


class Client:
    def __init__(self, socket: ClientConnection, number: int):
        self.socket, self.number = socket, number
        self.random, self.words, self.sent, self.answered = random.Random(number), [], [], 0
        self.delays: list[float] = []

    def draw(self, count: int) -> list[str]:
        first = len(self.words)
        self.words += draw(self.random, count)
        return [json.dumps({"word": word, "start": 0.3 * i, "end": 0.3 * i + 0.25, "client": self.number})
                for i, word in enumerate(self.words[first:], first)]

    async def read(self) -> None:
        answer = json.loads(await self.socket.recv())
        assert (answer["word"], answer["client"]) == (self.words[self.answered], self.number), "another's word"
        if len(self.sent) > self.answered + AHEAD:
            self.delays.append(time.perf_counter() - self.sent[self.answered + AHEAD])
        self.answered += 1

    async def speak(self, rate: float, seconds: float) -> None:
        async def listen() -> None:
            while True:
                await self.read()

        listening = asyncio.create_task(listen())
        end = time.perf_counter() + seconds
        await asyncio.sleep(self.random.uniform(0, 1 / rate))
        while time.perf_counter() < end:
            message, = self.draw(1)
            self.sent.append(time.perf_counter())
            await self.socket.send(message)
            await asyncio.sleep(self.random.uniform(0.5, 1.5) / rate)
        while self.answered < len(self.words) - AHEAD:
            await asyncio.sleep(0.01)
        listening.cancel()

    async def hurry(self, count: int) -> None:
        while count > 0:
            await self.socket.send("\n".join(self.draw(TOGETHER)))
            while self.answered < len(self.words) - AHEAD - HELD:
                await self.read()
            count -= TOGETHER


def resident(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


async def speak(args: argparse.Namespace, port: int, what: str) -> None:
    clients = [Client(await connect(f"ws://127.0.0.1:{port}/v1/live"), number) for number in range(args.connections)]
    await asyncio.gather(*(client.speak(args.rate, args.seconds) for client in clients))
    show_delays(what, [delay for client in clients for delay in client.delays])
    await asyncio.gather(*(client.socket.close() for client in clients))


def measure_live(args: argparse.Namespace) -> None:
    with serving(f"--max-connections={args.connections + 32}", LIVE) as (process, port):
        show("resident, no connection", resident(process.pid), "MiB")
        asyncio.run(speak(args, port, f"delay, {args.connections} connections"))
        show("resident, after the connections are closed", resident(process.pid), "MiB")
        command = [sys.executable, str(Path(__file__).with_name("hostile.py")), str(port)]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as hostile:
            most, ended = [0.0], threading.Event()

            def watch() -> None:
                while not ended.wait(0.2):
                    most[0] = max(most[0], resident(process.pid))

            watching = threading.Thread(target=watch)
            watching.start()
            asyncio.run(speak(args, port, "delay, with 15 hostile clients"))
            ended.set()
            watching.join()
            hostile.kill()
        show("resident with hostile clients, at most", most[0], "MiB")


def post(connection: http.client.HTTPConnection, words: list[str], json_words: bool) -> list[str]:
    body, kind = " ".join(words), "text/plain"
    if json_words:
        body, kind = json.dumps({"words": words}), "application/json"
    connection.request("POST", "/v1/punctuate", body.encode(), {"content-type": kind})
    answer = connection.getresponse()
    assert answer.status == 200, answer.status
    found = answer.read().decode()
    return [word["word"] for word in json.loads(found)["words"]] if json_words else found.lower().split()


def requests(port: int, number: int, count: int, size: int, delays: list[float]) -> None:
    chance = random.Random(number)
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for _ in range(count):
        words = draw(chance, size)
        begin = time.perf_counter()
        found = post(connection, words, size < LONG)
        delays.append(time.perf_counter() - begin)
        if size == LONG:
            found = [word.rstrip(",.?") for word in found]
            words = [word.lower().rstrip(",.?") for word in words]
        assert found == words, "another's words"
    connection.close()


def in_threads(count: int, run: Callable[[int], None]) -> float:
    begin = time.perf_counter()
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(run, range(count)))
    return time.perf_counter() - begin


def measure_http(args: argparse.Namespace) -> None:
    with serving("--workers=2", TEXT, LIVE) as (_, port):
        in_threads(AT_ONCE, lambda number: requests(port, 100 + number, 8, LONG, []))
        delays: list[float] = []
        each = args.requests // AT_ONCE
        seconds = in_threads(AT_ONCE, lambda number: requests(port, number, each, LONG, delays))
        show("HTTP, requests a second, of 1,000 words each", len(delays) / seconds, "", 1)
        show_delays("HTTP, request of 1,000 words", delays)
        show("HTTP, words a second", LONG * len(delays) / seconds, "")
        short: list[float] = []
        live = threading.Thread(target=lambda: asyncio.run(speak(args, port, "delay, with HTTP requests, two workers")))
        live.start()
        in_threads(AT_ONCE, lambda number: requests(port, number, 10 * args.requests // AT_ONCE, 20, short))
        live.join()
        show("mixed requests that got their own answers", len(short) + args.connections, "")
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "text.txt")
        text.write_text(" ".join(draw(random.Random(0), LONG * len(delays))))
        begin = time.perf_counter()
        subprocess.run([*PUNC, "transcript", "--nj=2", TEXT, text, Path(folder, "out.txt")], check=True,
                       capture_output=True)
        show("punc transcript --nj 2, words a second, with start-up",
             LONG * len(delays) / (time.perf_counter() - begin), "")


def measure_end() -> None:
    with serving(LIVE) as (process, port):
        found: list[int] = []

        def ask(number: int) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", port)
            found.append(len(post(connection, draw(random.Random(number), LONG), True)))

        ask(9)
        found.clear()
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        begin = time.perf_counter()
        process.wait()
        show("end after SIGTERM, 4 requests of 1,000 words under way", time.perf_counter() - begin, "s", 2)
        for thread in threads:
            thread.join()
        show("of these, answered", sum(count == LONG for count in found), "")


async def hurry(args: argparse.Namespace, pid: int, port: int) -> None:
    clients = [Client(await connect(f"ws://127.0.0.1:{port}/v1/live"), number) for number in range(args.connections)]
    share, begin = args.words // args.connections, time.perf_counter()
    for part in (0.1, 0.2, 0.2, 0.2, 0.3):
        await asyncio.gather(*(client.hurry(int(part * share)) for client in clients))
        show(f"resident after {sum(client.answered for client in clients):,d} words", resident(pid), "MiB")
        for client in clients:  # forget old words, so that the memory of this process does not grow
            client.words[:-TOGETHER] = [""] * (len(client.words) - TOGETHER)
    show("live, words a second, as fast as answered", args.words / (time.perf_counter() - begin), "")
    await asyncio.gather(*(client.socket.close() for client in clients))


def main() -> None:
    options = argparse.ArgumentParser(description="Delay, throughput and memory of punc serve.")
    options.add_argument("--connections", type=int, default=200)
    options.add_argument("--rate", type=float, default=3.0, metavar="WORDS/S")
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--words", type=int, default=1_000_000)
    options.add_argument("--requests", type=int, default=1000)
    args = options.parse_args()
    loads = [os.getloadavg()[0]]
    measure_live(args)
    measure_http(args)
    measure_end()
    with serving("--max-rate=1e9", f"--max-connections={args.connections}", LIVE) as (process, port):
        asyncio.run(hurry(args, process.pid, port))
    loads.append(os.getloadavg()[0])
    show("load of the machine, before", statistics.mean(loads[:1]), f"and after {loads[1]:.1f}", 1)


if __name__ == "__main__":
    main()
