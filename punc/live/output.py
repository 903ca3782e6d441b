"""Decided words as text, as JSON lines, or as Vosk's results.

    text  words with blanks between them, each stream on a line
    json  a line a word: {"word": "john", "text": "John", "label": "CAP", "probability": 0.97, "start": …, "end": …, …};
          times where they are known, and what else the input says of the word; after a stream {"eof": 1}. A word that
          no model reads, as [Music], has neither label nor probability
    vosk  a line with the words that are decided together, as Vosk's final result, {"result": [{"word": "John", …}, …],
          "text": "Good morning, John."}, and its partial results, which begin with the words that are not decided. What
          else a result of the input has, as a speaker's vector, stands where its last word does
"""

import json
import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Protocol

from punc.live.input import Item, LiveWord, Partial
from punc.live.session import Decided

OUTPUTS = ("text", "json", "vosk")


class Writer(Protocol):
    """Writes the output of a session.

    line_end   stands after each message where they are written to a file
    """

    line_end: str

    def messages(self, decided: Sequence[Decided | None], items: Iterable[Item],
                 waiting: Iterable[LiveWord]) -> list[str]:
        """What to send now.

        decided   words that are decided together, None where a stream ends
        items     the input by which they are
        waiting   the words that still wait
        """


def writer(output: str) -> Writer:
    """The writer of a name in OUTPUTS."""
    kinds: dict[str, type[Writer]] = {"text": TextWriter, "json": JsonWriter, "vosk": VoskWriter}
    return kinds[output]()


class TextWriter:
    """A text; a line end stands only after a stream."""

    line_end = ""

    def __init__(self) -> None:
        self._blank = ""

    def messages(self, decided: Sequence[Decided | None], items: Iterable[Item],
                 waiting: Iterable[LiveWord]) -> list[str]:
        parts, blank = [], self._blank
        for one in decided:
            if one is None:
                parts.append("\n")
                blank = ""
            else:
                parts.append(blank + one.marked.text)
                blank = " "
        self._blank = blank
        return ["".join(parts)] if parts else []


class JsonWriter:
    """An object for each word."""

    line_end = "\n"

    def messages(self, decided: Sequence[Decided | None], items: Iterable[Item],
                 waiting: Iterable[LiveWord]) -> list[str]:
        return [_json({"eof": 1} if one is None else _word(one)) for one in decided]


class VoskWriter:
    """Vosk's results."""

    line_end = "\n"

    def messages(self, decided: Sequence[Decided | None], items: Iterable[Item],
                 waiting: Iterable[LiveWord]) -> list[str]:
        found, words = [], [one for one in decided if one]
        ends = [i for i, one in enumerate(words[:-1], 1) if one.word.result] if words else []
        for begin, end in pairwise([0, *ends, len(words)] if words else []):
            part = words[begin:end]
            found.append({**part[-1].word.result, "text": " ".join(one.marked.text for one in part),
                          "result": [{**_word(one), "word": one.marked.text} for one in part]})
        if decided and not words:
            found.append({"text": ""})
        partial = [item.text for item in items if isinstance(item, Partial)][-1:]
        if partial:
            found.append({"partial": " ".join([*(word.word for word in waiting), *filter(None, partial)])})
        return [*map(_json, found)]


def _word(decided: Decided) -> dict[str, Any]:
    word, marked = decided
    times = {name: time for name, time in (("start", word.begin), ("end", word.end)) if not math.isnan(time)}
    said = {"label": marked.label, "probability": round(marked.probability, 4)} if len(marked.logits) else {}
    return {**word.fields, "word": word.word, "text": marked.text, **said, **times}


def _json(message: dict[str, Any]) -> str:
    line = json.dumps(message, ensure_ascii=False)
    return line if line.isascii() else line.encode("utf-8", "replace").decode()  # a half surrogate in another field
