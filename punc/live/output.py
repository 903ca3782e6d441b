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
from typing import Any

from punc.live.input import Item, LiveWord, Partial
from punc.live.session import Decided

OUTPUTS = ("text", "json", "vosk")


class Writer:
    """Writes the output of a session, in a form of OUTPUTS.

    line_end   stands after each message where they are written to a file
    """

    def __init__(self, output: str):
        self._output, self._blank = output, ""
        self.line_end = "" if output == "text" else "\n"  # in a text, a line end stands only after a stream

    def messages(self, decided: Sequence[Decided | None], items: Iterable[Item],
                 waiting: Iterable[LiveWord]) -> list[str]:
        """What to send now.

        decided   words that are decided together, None where a stream ends
        items     the input by which they are
        waiting   the words that still wait
        """
        if self._output == "text":
            return self._text(decided)
        if self._output == "json":
            return [_json({"eof": 1} if one is None else _word(one)) for one in decided]
        partial = [item.text for item in items if isinstance(item, Partial)][-1:]
        found = _results(decided)
        if partial:
            found.append({"partial": " ".join([*(word.word for word in waiting), *filter(None, partial)])})
        return [*map(_json, found)]

    def _text(self, decided: Sequence[Decided | None]) -> list[str]:
        parts = []
        for one in decided:
            parts.append("\n" if one is None else self._blank + one.marked.text)
            self._blank = "" if one is None else " "
        return ["".join(parts)] if parts else []


def _results(decided: Sequence[Decided | None]) -> list[dict[str, Any]]:
    """Results of Vosk: each ends with a word that ended one in the input, and the last one with the last word."""
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
    return line if line.isascii() else line.encode("utf-8", "replace").decode()  # a half surrogate in another field
