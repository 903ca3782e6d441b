"""Punctuated text, with blanks between words."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import ClassVar

from punc.text.format import PrepareOptions
from punc.text.passages import Memo, Passage
from punc.text.prose_reader import Parts, TextReader
from punc.text.text_format import STREAM_OPTIONS, TextFormat


class Format(TextFormat):
    """Reads prose as `TextReader` does; a line can be an utterance."""

    takes: ClassVar[tuple[str, ...]] = (*STREAM_OPTIONS, "lowercase", "clitics", "remove", "independent")
    lines_as_utterances = True

    def __init__(self, options: PrepareOptions):
        super().__init__(options)
        self._memo = Memo(partial(read_token, reader=self.reader))

    def passages(self, text: str, line_start: bool, repairs: Counter[str]) -> Iterator[Passage]:
        for stream, part in self.streams(text, line_start):
            part = self.without_removed(part)
            if not self.lines:
                yield self.passage(part, repairs)._replace(stream=stream)
                continue
            *lines, rest = part.split("\n")
            for i, line in enumerate([*lines, rest]):
                if i < len(lines) or line:
                    passage = self.passage(line, repairs)
                    yield passage._replace(stream=stream if i == 0 else None, end=i < len(lines))

    def passage(self, text: str, repairs: Counter[str]) -> Passage:
        """A text as one passage."""
        return self._memo.read(text.split(), self.reader.attach, repairs)


def read_token(token: str, reader: TextReader) -> tuple[Parts, str]:
    """What a token says, and no repair."""
    return reader.token(token), ""
