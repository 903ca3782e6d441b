"""Words and labels as prose that a person reads.

- A word is as its label writes it, and then as a table of casing has it (punc.text.casing): NATO, McDonald.
- Clitics that were split are joined: do n't → don't.
- A label says that a quotation mark stands after a word, not which way it faces. In a sentence the first one opens and
  stands before the next word, the second closes, and so on. One that is open where the sentence ends is closed behind
  the sentence's mark, as is one at a stream's end. Only `"` is written so; a mark of another form stays where it is.
"""

from collections.abc import Mapping, Sequence, Set
from typing import IO

from punc.data.labels import LabelSet

QUOTE = '"'


class ProseWriter:
    """Writes the utterances of streams to a file, a line each: the id, and the text.

    casing   word as its label writes it → how it is written
    clitics  words that are joined to the word before, as n't; of those that end with an apostrophe, as l', the next
             word is joined to them
    """

    def __init__(self, file: IO[bytes], labels: LabelSet, casing: Mapping[str, str] | None = None,
                 clitics: Set[str] = frozenset()):
        self._file, self._casing, self._clitics = file, casing or {}, clitics
        self._labels = {label.name: label for label in labels}
        self._quotes = {label.name for label in labels if QUOTE in label.mark}
        self._ends = labels.sentence_ends
        self._held: tuple[str, str, list[str]] | None = None  # id, stream, pieces: the next one says if it is last
        self._open = self._waits = self._joins = False

    def write(self, key: str, stream: str, words: Sequence[str], names: Sequence[str]) -> None:
        """Write an utterance of a stream, whose utterances come one after the other."""
        self._release(self._held is None or self._held[1] != stream)
        self._held = key, stream, self._pieces(words, names)

    def close(self) -> None:
        """Write what is held back; the file stays open."""
        self._release(True)
        self._held = None

    def _release(self, last: bool) -> None:
        """Write the utterance that is held, and close its quote if it is the stream's last."""
        if self._held:
            key, _, pieces = self._held
            if last and self._open and pieces:
                # A quote that nothing follows is none.
                pieces[-1] = pieces[-1] if self._waits else pieces[-1] + QUOTE
            self._file.write(" ".join((key, *pieces)).encode() + b"\n")
        if last:
            self._open = self._waits = self._joins = False

    def _pieces(self, words: Sequence[str], names: Sequence[str]) -> list[str]:
        """What stands between blanks."""
        pieces = []
        for word, name in zip(words, names):
            label = self._labels[name]
            plain = label.write(word)
            bare = plain[:len(plain) - len(label.mark)]
            bare, mark = self._casing.get(bare, bare), label.mark
            joined = bool(pieces) and not self._waits and (self._joins or (word in self._clitics and word[-1:] != "'"))
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
                pieces[-1] += bare + mark
            else:
                pieces.append(bare + mark)
        return pieces
