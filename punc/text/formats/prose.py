"""Punctuated text, with spaces between words."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

from punc.text.abbreviations import WITH_BLANKS
from punc.text.format import STREAM_OPTIONS, PrepareOptions, TextFormat
from punc.text.not_speech import NotSpeech
from punc.text.passages import Memo, Passage


def speaker_turns(expression: str, text: str, line_start: bool) -> Iterator[tuple[str | None, str, bool]]:
    """Cut a text at speaker labels such as `#speaker Ann` or `ANN:`. For each piece, yield the speaker's name (None
    before the first label), the text without the label, and whether this text begins a line.

    expression   matches labels at the beginning of a line; the name is the first group or, if there are no groups, the
                 whole match
    """
    name, begin = None, 0
    for label in re.finditer(f"^(?:{expression})", text, re.MULTILINE) if expression else ():
        if (label.start() == 0 and not line_start) or not label[0]:
            continue
        if begin < label.start():
            yield name, text[begin:label.start()], line_start
        name = (label[1] if label.re.groups else label[0]) or ""
        line_start = text.startswith("\n", label.end())
        begin = label.end() + line_start
    yield name, text[begin:], line_start


class Format(TextFormat):
    """Reads prose as `TextReader` does; a line can be an utterance."""

    takes: ClassVar[tuple[str, ...]] = (*STREAM_OPTIONS, "lowercase", "clitics", "abbreviations", "remove", "clean",
                                        "independent", "speaker")
    lines_as_utterances = True

    def __init__(self, options: PrepareOptions):
        super().__init__(options)
        self._memo = Memo(self.reader.token, options.abbreviations)
        self._not_speech = NotSpeech(options.clean, self.count_words)

    def passages(self, text: str, line_start: bool, repairs: Counter[str]) -> Iterator[Passage]:
        for stream, part in self.streams(text, line_start):
            turns = speaker_turns(self.options.speaker, part, line_start or stream is not None)
            for speaker, turn, at_start in turns:
                for passage in self.passages_of_turn(self.said(turn, repairs, at_start), repairs):
                    yield passage._replace(stream=stream, speaker=speaker)
                    stream = None

    def passages_of_turn(self, text: str, repairs: Counter[str]) -> Iterator[Passage]:
        """Yield the text of one speaker as one passage or, if lines are utterances, as one passage per line."""
        if not self.lines:
            yield self.passage(text, repairs)
            return
        *lines, rest = text.split("\n")
        for i, line in enumerate([*lines, rest]):
            if i < len(lines) or line:
                passage = self.passage(line, repairs)
                # With `speaker`, skip blank lines: they would end an utterance before the next speaker is known.
                if passage.words or passage.lead or not self.options.speaker:
                    yield passage._replace(end=i < len(lines))

    def said(self, text: str, repairs: Counter[str], line_start: bool = True) -> str:
        """Apply the options `remove` and `clean`, and count the remaining text that is not speech."""
        text = re.sub(self.options.remove, " ", text) if self.options.remove else text  # `re` caches expressions
        text = self._not_speech.read(text, repairs, line_start)
        return WITH_BLANKS.sub("...", text) if self.options.abbreviations else text

    def count_words(self, text: str) -> int:
        return len(self.passage(text, Counter()).words.split())

    def passage(self, text: str, repairs: Counter[str]) -> Passage:
        return self._memo.read(self.reader.split(text), self.reader.attach, repairs)
