"""One client of a server: its messages to items, its session, and what is sent to it.

A message is text: words (a word never goes on in the next message), lines of a CTM, or JSON as in `live.input`, one
object or one a line. What comes back has the form of what came first, or the one that the server was told: a message
for each word of JSON, one for the words of a result of Vosk, or text. Where a stream ends, {"eof": 1}, an empty result
or a line end says that all its words are out. {"error": …} answers what cannot be read; the stream goes on.
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from punc.base.errors import InputError
from punc.live.input import BLANKS, End, Item, ItemReader, LiveWord, Partial, read_json
from punc.live.session import Decided, Session, Writer, speaks

SLICE = 16  # words that are decided before other connections have their turn: half a millisecond
BURST = 10.0  # s; words that may come at once, in seconds of the limit
SOURCE = "message"  # in errors
LONGEST_WORD = 256  # characters
MOST_LINES, MOST_ERRORS = 1000, 10  # of a message


class Connection:
    """A client.

    source       a WebSocket, or what has its `recv`: where its messages come from
    sink         a WebSocket, or what has its `send`: where the answers go
    max_delay    as in `session.LiveOptions`
    output       one of `output.OUTPUTS`, or auto
    max_rate     words and messages a second; what comes faster waits
    count        is told how many words were decided
    """

    def __init__(self, source: Any, sink: Any, session: Session, max_delay: float | None, output: str,
                 max_rate: float, count: Callable[[int], None]):
        self._source, self._sink, self._session, self._max_delay = source, sink, session, max_delay
        self._writer: Writer | None = None if output == "auto" else Writer(output)
        self._rate, self._allowed, self._since = max_rate, max_rate * BURST, time.monotonic()
        self._json: bool | None = None  # whether the first message was JSON
        self._words, self._count = ItemReader(SOURCE), count
        self._items: deque[Item] = deque()  # what came and is not decided
        self._decided: list[Decided | None] = []  # what is decided and not written
        self._written: deque[str] = deque()  # what is written and not sent

    async def run(self) -> None:
        """Read and answer until the source is closed, which raises an error of its own, or this is cancelled."""
        due: float | None = None  # when the speaker has been silent for `max_delay`
        while True:
            try:
                wait = None if due is None else max(0.0, due - time.monotonic())
                message = await (self._source.recv() if wait is None else asyncio.wait_for(self._source.recv(), wait))
            except asyncio.TimeoutError:
                due = None
                self._decided += self._session.silence()
                await self._send([])
                continue
            items, errors = self._read(message)
            self._items += items
            await self._answer(items)
            for error in errors[:MOST_ERRORS]:
                await self._sink.send(json.dumps({"error": str(error)}, ensure_ascii=False))
            if self._max_delay is not None and speaks(items):
                due = time.monotonic() + self._max_delay

    async def finish(self) -> None:
        """Decide and send all words that came, also those of a message whose answer was broken off."""
        self._decided += self._session.feed(self._items)
        self._decided += self._session.end()
        await self._send([])

    def _read(self, message: str | bytes) -> tuple[list[Item], list[InputError]]:
        """The items of a message, and what is wrong with it."""
        if isinstance(message, bytes):
            return [], [InputError(f"{SOURCE}: bytes", "send text: words, or JSON in UTF-8")]
        if message.count("\n") > MOST_LINES:
            return [], [InputError(f"{SOURCE}: more than {MOST_LINES} lines", "send fewer at a time")]
        message = message.replace("\0", "\ufffd")
        is_json = self._json or message.lstrip(BLANKS).startswith("{")
        if is_json:
            items, errors = read_objects(message)
        else:
            items = self._words.feed(message, whole=True)
            if not message.endswith("\n"):
                items += self._words.feed(" " if self._words.kind == "words" else "\n")
            errors = self._words.take_errors()
        if self._json is None and items:
            self._json = is_json  # of a client that began with JSON, all else is a mistake
        if self._writer is None and items:
            recogniser = any(isinstance(item, Partial) or item is End.UTTERANCE for item in items)
            self._writer = Writer("text" if not is_json else "vosk" if recogniser else "json")
        if any(isinstance(item, LiveWord) and len(item.word) > LONGEST_WORD for item in items):
            items = [item for item in items if not isinstance(item, LiveWord) or len(item.word) <= LONGEST_WORD]
            errors.append(InputError(f"{SOURCE}: a word of more than {LONGEST_WORD} characters", "it is left out"))
        return items, errors

    async def _answer(self, items: list[Item]) -> None:
        """Decide what came, some words at a time."""
        await self._pace(1)
        while self._items:
            some = [self._items.popleft() for _ in range(min(SLICE, len(self._items)))]
            self._decided += self._session.feed(some)
            if self._items:
                await asyncio.sleep(0)  # others have their turn
                await self._pace(len(some))
        if End.STREAM in items and None not in self._decided:
            self._decided.append(None)  # a client that asks for the end gets an answer, also if no word came before
        await self._send(items)

    async def _pace(self, words: int) -> None:
        """Wait while there are more words than allowed."""
        now = time.monotonic()
        self._allowed = min(self._allowed + (now - self._since) * self._rate, self._rate * BURST) - words
        self._since = now
        if self._allowed < 0:
            await asyncio.sleep(-self._allowed / self._rate)

    async def _send(self, items: list[Item]) -> None:
        """Write and send what is decided by some items. What is not sent yet is kept, should this be broken off."""
        decided, self._decided = self._decided, []
        if self._writer is not None:
            self._count(sum(one is not None for one in decided))
            self._written += self._writer.messages(decided, items, self._session.waiting)
        while self._written:
            await self._sink.send(self._written.popleft())


def read_objects(message: str) -> tuple[list[Item], list[InputError]]:
    """The items of a message with one object of JSON, or several, and what is wrong with it."""
    try:
        return read_json(message, 1, SOURCE), []
    except InputError as error:
        if "\n" not in message.strip(BLANKS):
            return [], [error]
    reader = ItemReader(SOURCE, "json")
    return reader.feed(message.rstrip(BLANKS) + "\n") + reader.end(), reader.take_errors()
