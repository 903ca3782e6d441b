"""One client of the live server: its messages, its session, and the answers.

A message is text: complete words, lines of a CTM, or JSON as in `live.input` (one object, or one object per line). The
answers are JSON (one message per word), Vosk results (one message per result), or plain text. By default, the format of
the answers depends on the client's first message. A Vosk result of which no word is decided is answered with a partial
result or, if no words wait, with an empty result. When a stream ends, the server confirms that all words have been
sent: with {"eof": 1}, with a last Vosk result, which is empty if no words remain, or with a line end. If a message
cannot be read, the server answers {"error": …}, and the stream continues.
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator

from punc.base.errors import InputError
from punc.live.input import BLANKS, End, Item, ItemReader, LiveWord, Partial, read_json
from punc.live.session import Decided, Session, Writer, speaks

SLICE = 16  # words to decide, in half a millisecond, before other connections get their turn
LINES = 16  # lines to read before other connections get their turn
BURST = 10.0  # s; the words that the rate limit allows in this time may come at once
CHARACTERS = 64  # the rate limit counts this many characters as one word; the JSON object of a word is usually shorter
SOURCE = "message"  # the name of the input in errors
LONGEST_WORD = 256  # characters; a longer word is left out
MOST_LINES, MOST_ERRORS = 1000, 10  # the maximum numbers of lines in a message, and of errors in the answer


class Closed(Exception):
    """Raised if the other side of a WebSocket has closed the connection."""


class OverLimit(InputError):
    """Raised if a client sends too much. The client gets an error message, and its connection is closed."""


class Connection:
    """The connection of a client.

    receive      returns the next message; raises Closed if the other side has closed the connection
    send         sends a message, and waits if the client reads too slowly; raises Closed like `receive`
    max_delay    as in `session.LiveOptions`
    output       one of `session.OUTPUTS`, or auto
    max_rate     the maximum number of words and lines per second; faster input waits
    count        is called with the number of words that were decided
    """

    def __init__(self, receive: Callable[[], Awaitable[str | bytes]], send: Callable[[str], Awaitable[None]],
                 session: Session, max_delay: float | None, output: str, max_rate: float, count: Callable[[int], None]):
        self._receive, self._send_message, self._session, self._max_delay = receive, send, session, max_delay
        self._writer: Writer | None = None if output == "auto" else Writer(output)
        self._rate, self._allowed, self._since = max_rate, max_rate * BURST, time.monotonic()
        self._json: bool | None = None  # whether the client began with JSON; None until it sends words
        self._words, self._count = ItemReader(SOURCE), count
        self._unread: Iterator[tuple[list[Item], list[InputError]]] = iter(())  # the part of a message not yet read
        self._items: deque[Item] = deque()  # items received but not yet decided
        self._decided: list[Decided | None] = []  # words decided but not yet written
        self._written: deque[str] = deque()  # messages written but not yet sent

    async def run(self) -> None:
        """Read and answer messages. Raises Closed like `receive`, and OverLimit if a message has too many lines."""
        # time.monotonic() at which `max_delay` s of silence end; None: no words since a silence
        due: float | None = None
        while True:
            try:
                wait = None if due is None else max(0.0, due - time.monotonic())
                message = await asyncio.wait_for(self._receive(), wait)
            except asyncio.TimeoutError:
                due = None
                self._decided += self._session.silence()
                await self._send([])
                continue
            if await self._answer(message) and self._max_delay is not None:
                due = time.monotonic() + self._max_delay

    async def finish(self) -> None:
        """Decide and send all words received so far, including words of a message that is only partly read."""
        for items, _ in self._unread:
            self._items += items
        while self._items:
            self._decide()
            await asyncio.sleep(0)
        self._decided += self._session.end()
        await self._send([])

    async def _answer(self, message: str | bytes) -> bool:
        """Read a message part by part, decide its words and send them. Return whether the message contains words."""
        if isinstance(message, bytes):
            message = ""
            errors = [InputError(f"{SOURCE}: a binary message", "send text: words, or JSON in UTF-8")]
        else:
            errors = []
            self._unread = self._read(message.replace("\0", "\ufffd"))
        lines = message.count("\n") + 1
        if lines > MOST_LINES:
            raise OverLimit(f"{SOURCE}: more than {MOST_LINES} lines", "send fewer at a time")
        paid = max(lines, len(message) // CHARACTERS)
        await self._pace(paid)
        spoke = False
        for items, wrong in self._unread:
            self._items += items
            errors += wrong
            spoke = spoke or speaks(items)
            while self._items:
                words = min(SLICE, len(self._items))
                await self._pace(max(0, words - paid))
                paid = max(0, paid - words)
                self._decide()
            await asyncio.sleep(0)  # let other connections run, even if the lines had no words
            if End.STREAM in items and None not in self._decided:
                self._decided.append(None)  # confirm the end of the stream even if the stream had no words
            await self._send(items)
        for error in errors[:MOST_ERRORS]:
            await self._send_message(json.dumps({"error": str(error)}, ensure_ascii=False))
        return spoke

    def _read(self, message: str) -> Iterator[tuple[list[Item], list[InputError]]]:
        is_json = self._json or message.lstrip(BLANKS).startswith("{")
        for items, errors in read_objects(message) if is_json else self._read_text(message):
            if self._json is None and items:
                self._json = is_json  # if a client begins with JSON, all its messages must be JSON
            if self._writer is None and items:
                recogniser = any(isinstance(item, Partial) or item is End.UTTERANCE for item in items)
                self._writer = Writer("text" if not is_json else "vosk" if recogniser else "json")
            fine = [item for item in items if not isinstance(item, LiveWord) or len(item.word) <= LONGEST_WORD]
            if len(fine) < len(items):
                errors.append(InputError(f"{SOURCE}: a word of more than {LONGEST_WORD} characters", "it is left out"))
            yield fine, errors

    def _read_text(self, message: str) -> Iterator[tuple[list[Item], list[InputError]]]:
        for part in line_groups(message):
            items = self._words.feed(part, whole=True)
            if not part.endswith("\n"):
                items += self._words.feed(" " if self._words.kind == "words" else "\n")
            yield items, self._words.take_errors()

    def _decide(self) -> None:
        self._decided += self._session.feed([self._items.popleft() for _ in range(min(SLICE, len(self._items)))])

    async def _pace(self, words: int) -> None:
        """Count `words` against the rate limit, and wait until it allows them. Other connections run meanwhile."""
        now = time.monotonic()
        self._allowed = min(self._allowed + (now - self._since) * self._rate, self._rate * BURST) - words
        self._since = now
        await asyncio.sleep(max(0.0, -self._allowed / self._rate))

    async def _send(self, items: list[Item]) -> None:
        decided, self._decided = self._decided, []
        if self._writer is not None:
            self._count(sum(one is not None for one in decided))
            messages = self._writer.messages(decided, items, self._session.waiting)
            if not messages and End.UTTERANCE in items:
                messages = self._writer.nothing_decided(self._session.waiting)
            self._written += messages
        while self._written:
            await self._send_message(self._written.popleft())


def read_objects(message: str) -> Iterator[tuple[list[Item], list[InputError]]]:
    """Parse a message of JSON objects. Yield its items and errors, a few lines at a time."""
    try:
        yield read_json(message, 1, SOURCE), []
        return
    except InputError as error:
        if "\n" not in message.strip(BLANKS):
            yield [], [error]
            return
    reader = ItemReader(SOURCE, "json")
    for part in line_groups(message.rstrip(BLANKS) + "\n"):
        yield reader.feed(part), reader.take_errors()
    yield reader.end(), reader.take_errors()


def line_groups(text: str) -> Iterator[str]:
    """Yield a text in groups of LINES lines."""
    lines = text.split("\n")
    for begin in range(0, len(lines), LINES):
        end = begin + LINES
        yield "\n".join(lines[begin:end]) + "\n" * (end < len(lines))
