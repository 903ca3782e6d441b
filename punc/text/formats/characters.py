"""Punctuated text without spaces between words, as in Japanese: every character is a word.

`punc.text.characters` defines what counts as a character.
"""

from collections import Counter

from punc.text.characters import CharacterReader
from punc.text.format import STREAM_OPTIONS, PrepareOptions
from punc.text.formats import prose
from punc.text.passages import Passage


class Format(prose.Format):
    """Reads prose, character by character; a line can be an utterance."""

    takes = (*STREAM_OPTIONS, "remove", "clean", "independent")

    def __init__(self, options: PrepareOptions):
        super().__init__(options)
        self._characters = CharacterReader(self.reader.labels)

    def passage(self, text: str, repairs: Counter[str]) -> Passage:
        split = self._characters.split(text)
        lead = self.reader.labels.reading(split.lead) if split.lead else ""
        return Passage(" ".join(split.tokens), " ".join(split.labels), lead=lead)
