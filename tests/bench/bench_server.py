"""Delay and memory of `punc serve`, by clients over loopback.

    python tests/bench/bench_server.py [--model MODEL] [--connections N] [--rate N] [--seconds N] [--words N]

- Delay: for --seconds, each of N connections sends --rate words a second (speech has two to four), as JSON, at moments
  of its own. The delay of an answer is the time from sending the word that decides it to its arrival.
- Memory: then --words words go through the connections as fast as they are answered. The resident size of the server is
  read after a tenth of them, and at the end.

The words are drawn with Zipf frequencies from the model's vocabulary. Every answer is checked against the words of its
own connection. The clients run in this process, and share the processors with the server.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import time
from itertools import accumulate
from pathlib import Path

from processes import PUNC
from websockets.asyncio.client import ClientConnection, connect

from punc.decoding.shipped import find_model

SERVE = [*PUNC, "serve", "--port=0", "--max-rate=1e9"]
TOGETHER = 50  # words of a message, for memory


class Client:
    """A connection that checks its answers."""

    def __init__(self, socket: ClientConnection, number: int, known: list[str], chances: list[float]):
        self.socket, self.number, self.known, self.chances = socket, number, known, chances
        self.random, self.words, self.sent, self.answered = random.Random(number), [], [], 0
        self.delays: list[float] = []

    def draw(self, count: int) -> list[str]:
        """The next words, as messages."""
        first = len(self.words)
        self.words += self.random.choices(self.known, cum_weights=self.chances, k=count)
        return [json.dumps({"word": word, "start": 0.3 * i, "end": 0.3 * i + 0.25, "client": self.number})
                for i, word in enumerate(self.words[first:], first)]

    async def read(self, ahead: int) -> None:
        """Read the next answer."""
        answer = json.loads(await self.socket.recv())
        assert (answer["word"], answer["client"]) == (self.words[self.answered], self.number), "another's word"
        if len(self.sent) > self.answered + ahead:
            self.delays.append(time.perf_counter() - self.sent[self.answered + ahead])
        self.answered += 1

    async def speak(self, rate: float, seconds: float, ahead: int) -> None:
        """Send words one by one, at the rate of speech."""
        async def listen() -> None:
            while True:
                await self.read(ahead)

        listening = asyncio.create_task(listen())
        end = time.perf_counter() + seconds
        await asyncio.sleep(self.random.uniform(0, 1 / rate))
        while time.perf_counter() < end:
            message, = self.draw(1)
            self.sent.append(time.perf_counter())
            await self.socket.send(message)
            await asyncio.sleep(self.random.uniform(0.5, 1.5) / rate)
        while self.answered < len(self.words) - ahead:
            await asyncio.sleep(0.01)
        listening.cancel()

    async def hurry(self, count: int, ahead: int) -> None:
        """Send words as fast as they are answered."""
        while count > 0:
            await self.socket.send("\n".join(self.draw(TOGETHER)))
            while self.answered < len(self.words) - ahead:
                await self.read(ahead)
            count -= TOGETHER


def resident(process: subprocess.Popen) -> float:
    """The resident size of a process in MiB."""
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


async def measure(args: argparse.Namespace, process: subprocess.Popen, url: str, ahead: int) -> None:
    known = (find_model(args.model) / "vocab").read_text(encoding="utf-8").split()[2:]
    chances = list(accumulate(1 / rank for rank in range(1, len(known) + 1)))
    print(f"{'resident, no connection':<40}{resident(process):8.0f} MiB", flush=True)
    clients = [Client(await connect(url), number, known, chances) for number in range(args.connections)]
    print(f"{f'resident, {len(clients)} connections':<40}{resident(process):8.0f} MiB", flush=True)
    await asyncio.gather(*(client.speak(args.rate, args.seconds, ahead) for client in clients))
    delays = sorted(1000 * delay for client in clients for delay in client.delays)
    print(f"{'answers at the rate of speech':<40}{len(delays):8,d}")
    for name, part in (("median", 0.5), ("99th percentile", 0.99), ("99.9th percentile", 0.999), ("slowest", 1)):
        print(f"{f'delay, {name}':<40}{delays[min(int(part * len(delays)), len(delays) - 1)]:8.1f} ms", flush=True)
    share, begin = args.words // args.connections, time.perf_counter()
    for part in (0.1, 0.2, 0.2, 0.2, 0.3):
        await asyncio.gather(*(client.hurry(int(part * share), ahead) for client in clients))
        done = sum(client.answered for client in clients)
        print(f"{f'resident after {done:,d} words':<40}{resident(process):8.0f} MiB", flush=True)
        for client in clients:  # so that this process does not grow
            client.words[:-TOGETHER] = [""] * (len(client.words) - TOGETHER)
    print(f"{'words a second, as fast as answered':<40}{args.words / (time.perf_counter() - begin):8,.0f}")
    await asyncio.gather(*(client.socket.close() for client in clients))


def main() -> None:
    options = argparse.ArgumentParser(description="Delay and memory of punc serve.")
    options.add_argument("--model", default="en-live")
    options.add_argument("--connections", type=int, default=200)
    options.add_argument("--rate", type=float, default=3.0, metavar="WORDS/S")
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--words", type=int, default=1_000_000)
    args = options.parse_args()
    ahead = json.loads((find_model(args.model) / "model.json").read_text(encoding="utf-8"))["lookahead"]
    loads = [os.getloadavg()[0]]
    command = [*SERVE, f"--max-connections={args.connections}", args.model]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            asyncio.run(measure(args, process, process.stderr.readline().split()[-1], ahead))
        finally:
            process.terminate()
    loads.append(os.getloadavg()[0])
    print(f"{'load of the machine, before and after':<40}{statistics.mean(loads[:1]):8.1f} {loads[1]:.1f}")


if __name__ == "__main__":
    main()
