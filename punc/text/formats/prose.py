"""Punctuated text, with blanks between words."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import ClassVar

from punc.text.format import PrepareOptions
from punc.text.passages import Memo, Passage
from punc.text.prose_reader import Parts, TextReader
from punc.text.speakers import SpeakerLabels
from punc.text.text_format import STREAM_OPTIONS, TextFormat


class Format(TextFormat):
    """Reads prose as `TextReader` does; a line can be an utterance."""

    takes: ClassVar[tuple[str, ...]] = (*STREAM_OPTIONS, "lowercase", "clitics", "remove", "independent", "speaker")
    lines_as_utterances = True

    def __init__(self, options: PrepareOptions):
        super().__init__(options)
        self._memo = Memo(partial(read_token, reader=self.reader))
        self._speakers = SpeakerLabels(options.speaker)

    def passages(self, text: str, line_start: bool, repairs: Counter[str]) -> Iterator[Passage]:
        for stream, part in self.streams(text, line_start):
            for speaker, turn in self._speakers.split(part, line_start or stream is not None):
                for passage in self.passages_of_turn(self.without_removed(turn), repairs):
                    yield passage._replace(stream=stream, speaker=speaker)
                    stream = None

    def passages_of_turn(self, text: str, repairs: Counter[str]) -> Iterator[Passage]:
        """The passages of what one speaker says: one, or one for each line."""
        if not self.lines:
            yield self.passage(text, repairs)
            return
        *lines, rest = text.split("\n")
        for i, line in enumerate([*lines, rest]):
            if i < len(lines) or line:
                yield self.passage(line, repairs)._replace(end=i < len(lines))

    def passage(self, text: str, repairs: Counter[str]) -> Passage:
        """A text as one passage."""
        return self._memo.read(text.split(), self.reader.attach, repairs)


def read_token(token: str, reader: TextReader) -> tuple[Parts, str]:
    """What a token says, and no repair."""
    return reader.token(token), ""
