"""Punctuated text, with blanks between words."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import ClassVar

from punc.text.abbreviations import join_ellipses
from punc.text.format import PrepareOptions
from punc.text.not_speech import NotSpeech
from punc.text.passages import Memo, Passage
from punc.text.prose_reader import Parts, TextReader
from punc.text.text_format import STREAM_OPTIONS, TextFormat


class Format(TextFormat):
    """Reads prose as `TextReader` does; a line can be an utterance."""

    takes: ClassVar[tuple[str, ...]] = (*STREAM_OPTIONS, "lowercase", "clitics", "abbreviations", "remove", "clean",
                                    "independent")
    lines_as_utterances = True

    def __init__(self, options: PrepareOptions):
        super().__init__(options)
        self._memo = Memo(partial(read_token, reader=self.reader), options.abbreviations)
        self._not_speech = NotSpeech(options.clean, self.count_words)

    def passages(self, text: str, line_start: bool, repairs: Counter[str]) -> Iterator[Passage]:
        for stream, part in self.streams(text, line_start):
            part = self.said(part, repairs, line_start or stream is not None)
            if not self.lines:
                yield self.passage(part, repairs)._replace(stream=stream)
                continue
            *lines, rest = part.split("\n")
            for i, line in enumerate([*lines, rest]):
                if i < len(lines) or line:
                    passage = self.passage(line, repairs)
                    yield passage._replace(stream=stream if i == 0 else None, end=i < len(lines))

    def said(self, text: str, repairs: Counter[str], line_start: bool = True) -> str:
        """The text that was said, as the options `remove` and `clean` say it; what else is not speech is counted."""
        text = self._not_speech.read(self.without_removed(text), repairs, line_start)
        return join_ellipses(text) if self.options.abbreviations else text

    def count_words(self, text: str) -> int:
        """The number of words that a text would have."""
        return len(self.passage(text, Counter()).words.split())

    def passage(self, text: str, repairs: Counter[str]) -> Passage:
        """A text as one passage."""
        return self._memo.read(text.split(), self.reader.attach, repairs)


def read_token(token: str, reader: TextReader) -> tuple[Parts, str]:
    """What a token says, and no repair."""
    return reader.token(token), ""
