"""Words and labels as prose for people to read.

- A word is written with its label, and then in the form that a table of casing gives (`casing`): NATO, McDonald.
- Clitics that were split are joined: do n't → don't.
- A label says that a quotation mark stands after a word, but not which way it faces. In a sentence the first one opens
  and stands before the next word, the second one closes, and so on. An open one is closed after the mark that ends the
  sentence, and at a stream's end. This holds for `"` only; other quotation marks stay where they are.
"""

from collections.abc import Mapping, Sequence, Set
from typing import IO

from punc.data.labels import LabelSet

QUOTE = '"'


class ProseWriter:
    """Writes the utterances of streams to a file, one a line: id and text.

    casing   word as its label writes it → its form
    clitics  words to join to the word before, as n't; a clitic that ends with an apostrophe, as l', is joined to the
             word after
    """

    def __init__(self, file: IO[bytes], labels: LabelSet, casing: Mapping[str, str] | None = None,
                 clitics: Set[str] = frozenset()):
        self._file, self._casing, self._clitics = file, casing or {}, clitics
        self._labels = {label.name: label for label in labels}
        self._quotes = {label.name for label in labels if QUOTE in label.mark}
        self._ends = labels.sentence_ends
        self._held: tuple[str, str, list[str]] | None = None  # id, stream, written words
        self._open = self._waits = self._joins = False

    def write(self, key: str, stream: str, words: Sequence[str], names: Sequence[str]) -> None:
        """Write an utterance. The utterances of a stream must follow one another."""
        self._release(self._held is None or self._held[1] != stream)
        self._held = key, stream, self._written(words, names)

    def close(self) -> None:
        """Write the last utterance; the file stays open."""
        self._release(True)
        self._held = None

    def _release(self, last: bool) -> None:
        """Write the utterance that is held back; if it is the stream's last, close its quote."""
        if self._held:
            key, _, texts = self._held
            if last and self._open and texts and not self._waits:  # a quote before no word is dropped
                texts[-1] += QUOTE
            self._file.write(" ".join((key, *texts)).encode() + b"\n")
        if last:
            self._open = self._waits = self._joins = False

    def _written(self, words: Sequence[str], names: Sequence[str]) -> list[str]:
        """The words with their marks; joined words are one string."""
        texts: list[str] = []
        for word, name in zip(words, names):
            label = self._labels[name]
            plain = label.write(word)
            bare = plain[:len(plain) - len(label.mark)]
            bare, mark = self._casing.get(bare, bare), label.mark
            joined = bool(texts) and not self._waits and (self._joins or (word in self._clitics and word[-1:] != "'"))
            if self._waits:
                bare, self._waits = QUOTE + bare, False
            if name in self._quotes:
                self._open = not self._open
                self._waits = self._open
                mark = mark.replace(QUOTE, "") if self._open else mark
            elif name in self._ends and self._open:
                mark, self._open = mark + QUOTE, False
            self._joins = not mark and word in self._clitics and word[-1:] == "'"
            if joined:
                texts[-1] += bare + mark
            else:
                texts.append(bare + mark)
        return texts
