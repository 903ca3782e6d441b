"""Decided words as text, as JSON lines, or as Vosk's results.

    text  words with blanks between them, each stream on a line
    json  a line a word: {"word": "john", "text": "John", "label": "CAP", "probability": 0.97, "start": …, "end": …, …};
          times where they are known, and what else the input says of the word; after a stream {"eof": 1}
    vosk  a line with the words that are decided together, as Vosk's final result, {"result": [{"word": "John", …}, …],
          "text": "Good morning, John."}, and its partial results, which begin with the words that are not decided
"""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from punc.decoding.live_input import Item, LiveWord, Partial
from punc.decoding.live_session import Decided

OUTPUTS = ("text", "json", "vosk")


class Writer(Protocol):
    """Writes the output of a session."""

    def write(self, decided: Sequence[Decided | None]) -> str:
        """Words that are decided together, None where a stream ends → text to send now, maybe empty."""

    def partial(self, items: Iterable[Item], waiting: Iterable[LiveWord]) -> str:
        """The input of which `decided` came, and the words that still wait → what follows the text of `write`."""


def writer(output: str) -> Writer:
    """The writer of a name in OUTPUTS."""
    kinds: dict[str, type[Writer]] = {"text": TextWriter, "json": JsonWriter, "vosk": VoskWriter}
    return kinds[output]()


class TextWriter:
    """A text; a line end stands only after a stream."""

    def __init__(self) -> None:
        self._blank = ""

    def write(self, decided: Sequence[Decided | None]) -> str:
        """As `Writer.write`."""
        parts = []
        for one in decided:
            if one is None:
                parts.append("\n")
                self._blank = ""
            else:
                parts += self._blank, one.marked.text
                self._blank = " "
        return "".join(parts)

    def partial(self, items: Iterable[Item], waiting: Iterable[LiveWord]) -> str:
        """Nothing."""
        return ""


class JsonWriter:
    """An object a line."""

    def write(self, decided: Sequence[Decided | None]) -> str:
        """As `Writer.write`."""
        return "".join(_line({"eof": 1} if one is None else _word(one)) for one in decided)

    def partial(self, items: Iterable[Item], waiting: Iterable[LiveWord]) -> str:
        """Nothing."""
        return ""


class VoskWriter:
    """Vosk's results."""

    def write(self, decided: Sequence[Decided | None]) -> str:
        """As `Writer.write`."""
        words = [one for one in decided if one]
        if not words:
            return ""
        text = " ".join(one.marked.text for one in words)
        return _line({"result": [{**_word(one), "word": one.marked.text} for one in words], "text": text})

    def partial(self, items: Iterable[Item], waiting: Iterable[LiveWord]) -> str:
        """The last partial result of the input, after the words that wait."""
        texts = [item.text for item in items if isinstance(item, Partial)]
        if not texts:
            return ""
        return _line({"partial": " ".join([*(word.word for word in waiting), *filter(None, texts[-1:])])})


def _word(decided: Decided) -> dict[str, Any]:
    word, marked = decided
    times = {name: time for name, time in (("start", word.begin), ("end", word.end)) if not math.isnan(time)}
    return {**word.fields, "word": word.word, "text": marked.text, "label": marked.label,
            "probability": round(marked.probability, 4), **times}


def _line(message: dict[str, Any]) -> str:
    line = json.dumps(message, ensure_ascii=False) + "\n"
    return line if line.isascii() else line.encode("utf-8", "replace").decode()  # a half surrogate in another field
