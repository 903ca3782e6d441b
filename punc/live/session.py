"""Decides the labels of words in live input, and converts the labelled words to the messages of an output format.

The pause before a word is its start time minus the end time of the previous word that the model reads, but at least 0.
The pause is unknown if one of these times is unknown, or if the word starts before the previous word; the times of the
two words then count from different origins.

A model reads some words past each slot, so each word waits for later words. When the speaker is silent for `max_delay`
seconds, the waiting words are decided (`LiveStream.decide`), with a pause of `max_delay` after the last word. The
stream continues, and written words never change. A silence is detected when no word arrives for `max_delay` seconds
(`Session.silence`), or afterwards from the times of the next word.

Decided words are written as text, as JSON lines, or as Vosk results:

    text  words separated by spaces, one line per stream
    json  one line per word: {"word": "john", "text": "John", "label": "CAP", "probability": 0.97, "start": …, "end": …,
          …}, with times if they are known, and with all other members of the input word; {"eof": 1} after each stream.
          A word that the model does not read, such as [Music], has no label and no probability
    vosk  one final result of Vosk per line: {"result": [{"word": "John", …}, …], "text": "Good morning, John."}. A
          result contains words that are decided together. If an input result has members besides `result` and `text`,
          such as a speaker vector, an output result ends at the last word of that input result and contains these
          members. Partial results are written too; they begin with the words not yet decided
"""

import json
import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from punc.base.errors import InputError, check_at_least, check_choice
from punc.live.input import End, Item, LiveWord, Partial
from punc.live.words import Marked, WordStream

UTTERANCE_ENDS = ("nothing", "decide", "end")
OUTPUTS = ("text", "json", "vosk")
SHORTEST = 0.01  # s; the minimum of `max_delay`


@dataclass(frozen=True)
class LiveOptions:
    """When words are decided.

    max_delay      decide all waiting words when the speaker is silent for this many seconds
    utterance_end  what happens at the end of an utterance: nothing, decide (all waiting words), or end (the stream)

    Raises InputError if a value is wrong.
    """

    max_delay: float | None = None
    utterance_end: str = "nothing"

    def __post_init__(self) -> None:
        if self.max_delay is not None:
            check_at_least(SHORTEST, max_delay=self.max_delay)
        check_choice(UTTERANCE_ENDS, utterance_end=self.utterance_end)


@dataclass(frozen=True)
class ServerOptions:
    """Where a server listens, and what a client may do.

    host             address to listen on; the default accepts only connections from this machine
    port             port to listen on; 0: any free port
    workers          number of processes that serve, each with all models; a connection stays with one process
    upstream         URL of a Vosk server that recognises the live clients' audio; its results are returned with marks
    max_connections  maximum number of live connections, and of requests, that a process accepts at a time
    max_rate         words and lines that a live connection may send per second, averaged over ten seconds; faster
                     input waits

    Raises InputError if a value is wrong.
    """

    host: str = "127.0.0.1"
    port: int = 2701
    workers: int = 1
    upstream: str = ""
    max_connections: int = 256
    max_rate: float = 50.0

    def __post_init__(self) -> None:
        check_at_least(1, workers=self.workers, max_connections=self.max_connections, max_rate=self.max_rate)
        if not 0 <= self.port < 1 << 16:
            raise InputError(f"port={self.port} is out of range", "give one from 0 to 65535")
        if self.upstream and not self.upstream.startswith(("ws://", "wss://")):
            raise InputError(f"upstream={self.upstream} is not the URL of a WebSocket",
                             "give one that begins with ws:// or wss://")


class Decided(NamedTuple):
    """A decided word: as received (`word`), and as written with its label (`marked`)."""

    word: LiveWord
    marked: Marked


class Session:
    """Decides the words of consecutive streams. `waiting` holds the words that are not yet decided."""

    def __init__(self, open_stream: Callable[[], WordStream], options: LiveOptions):
        self._open, self._max_delay = open_stream, options.max_delay
        self._stream: WordStream | None = None  # the current stream; None until its first word arrives
        self.waiting: deque[LiveWord] = deque()
        self._last: LiveWord | None = None
        self._decides, self._ends = (options.utterance_end == choice for choice in ("decide", "end"))

    def feed(self, items: Iterable[Item]) -> list[Decided | None]:
        """Take the next items. Return the words that these items decide, and None wherever a stream ends."""
        decided: list[Decided | None] = []
        waiting = self.waiting
        for item in items:
            if isinstance(item, LiveWord):
                stream = self._stream = self._stream or self._open()
                pause = math.nan
                # False for NaN: words without times are the most frequent, and skip `_pause`.
                if item.begin == item.begin:
                    pause = self._pause(item, decided)
                    self._last = item if stream.reads(item.word) else self._last
                else:
                    self._last = item
                waiting.append(item)
                decided.extend(Decided(waiting.popleft(), marked) for marked in stream.push(item.word, pause))
            elif item is End.STREAM or (item is End.UTTERANCE and self._ends):
                self._end(decided)
            elif item is End.UTTERANCE and self._decides and self._stream:
                decided += self._with_words(self._stream.decide())
        return decided

    def silence(self) -> list[Decided | None]:
        """Decide and return the waiting words. Must be called when no word has arrived for `max_delay` seconds."""
        if self._stream is None or self._max_delay is None:
            return []
        return [*self._with_words(self._stream.decide(self._max_delay))]

    def end(self) -> list[Decided | None]:
        """End the input. Decide and return all remaining words."""
        return self.feed([End.STREAM])

    def _pause(self, word: LiveWord, decided: list[Decided | None]) -> float:
        if self._last is None or word.begin < self._last.begin:
            return math.nan
        pause = max(word.begin - self._last.end, 0.0)
        if self._stream and self._max_delay is not None and pause > self._max_delay:
            decided += self._with_words(self._stream.decide(self._max_delay))
        return pause

    def _end(self, decided: list[Decided | None]) -> None:
        if self._stream is not None:
            decided += self._with_words(self._stream.close())
            decided.append(None)
            self._stream = self._last = None

    def _with_words(self, marked: Iterable[Marked]) -> list[Decided]:
        return [Decided(self.waiting.popleft(), one) for one in marked]


def speaks(items: Iterable[Item]) -> bool:
    return any(isinstance(item, LiveWord) or (isinstance(item, Partial) and item.text) for item in items)


class Writer:
    """Converts a session's output to messages in a format of OUTPUTS. In a file or on standard output, `line_end`
    follows each message."""

    def __init__(self, output: str):
        self._output, self._blank = output, ""
        # Messages of the format `text` already contain a line end after each stream.
        self.line_end = "" if output == "text" else "\n"

    def messages(self, decided: Sequence[Decided | None], items: Iterable[Item],
                 waiting: Iterable[LiveWord]) -> list[str]:
        """Return the messages to send to the client after new input.

        decided   the words that the input decided; None stands for the end of a stream
        items     the items of the new input
        waiting   the words that are not yet decided
        """
        if self._output == "text":
            return self._text(decided)
        if self._output == "json":
            return [_json({"eof": 1} if one is None else _word(one)) for one in decided]
        partial = [item.text for item in items if isinstance(item, Partial)][-1:]
        found = _results(decided)
        if partial:
            found.append(_partial(waiting, partial[0]))
        return [*map(_json, found)]

    def nothing_decided(self, waiting: Sequence[LiveWord]) -> list[str]:
        """Return the answer to a result of which no word is decided. Clients of Vosk wait for an answer to each
        message."""
        if self._output != "vosk":
            return []
        return [_json(_partial(waiting) if waiting else {"text": ""})]

    def _text(self, decided: Sequence[Decided | None]) -> list[str]:
        parts = []
        for one in decided:
            parts.append("\n" if one is None else self._blank + one.marked.text)
            self._blank = "" if one is None else " "
        return ["".join(parts)] if parts else []


def _partial(waiting: Iterable[LiveWord], text: str = "") -> dict[str, Any]:
    return {"partial": " ".join([*(word.word for word in waiting), *([text] if text else [])])}


def _results(decided: Sequence[Decided | None]) -> list[dict[str, Any]]:
    """Return the decided words as Vosk results. A result ends at the last word, and at each word whose
    `LiveWord.result` is not empty."""
    words = [one for one in decided if one]
    if not words:
        return [{"text": ""}] if decided else []
    ends = [i for i, one in enumerate(words[:-1], 1) if one.word.result]
    parts = [words[begin:end] for begin, end in pairwise([0, *ends, len(words)])]
    return [{**part[-1].word.result, "text": " ".join(one.marked.text for one in part),
             "result": [{**_word(one), "word": one.marked.text} for one in part]} for part in parts]


def _word(decided: Decided) -> dict[str, Any]:
    word, marked = decided
    times = {name: time for name, time in (("start", word.begin), ("end", word.end)) if not math.isnan(time)}
    said = {"label": marked.label, "probability": round(marked.probability, 4)} if len(marked.logits) else {}
    return {**word.fields, "word": word.word, "text": marked.text, **said, **times}


def _json(message: dict[str, Any]) -> str:
    line = json.dumps(message, ensure_ascii=False)
    return line if line.isascii() else line.encode("utf-8", "replace").decode()  # replaces lone surrogates
