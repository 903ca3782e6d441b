"""Tokenizers that cut a word into pieces by a trained model. A word's slot is after its last piece.

The pieces of a word do not depend on the words around it, so those of frequent words are remembered.
"""

from abc import abstractmethod
from array import array
from collections.abc import Sequence

import numpy as np

from punc.tokens.tokenizer import Encoding, Tokenizer
from punc.tokens.vocabulary import UNK

CACHE = 1 << 18  # words whose pieces are remembered


class PieceTokenizer(Tokenizer):
    """One or more tokens a word. A subclass has `cut_words`, and calls `forget` when it is made.

    unknown   the ids of tokens that stand for what has no piece
    """

    summary = "{words} words, {tokens} pieces in {streams} streams, {percent:.2f} % unknown"
    unknown: tuple[int, ...] = (UNK,)

    def forget(self) -> None:
        """Empty the memory of words."""
        # Each word seen has an index in the arrays `_starts` and `_lengths`: where its pieces are in `_ids`.
        self._indices: dict[str, int] = {}
        self._ids, self._starts, self._lengths = array("i"), array("q"), array("q")  # int32, int64, int64

    @abstractmethod
    def cut_words(self, words: list[bytes]) -> Sequence[Sequence[int]]:
        """The ids of the pieces of each word, which is UTF-8; at least one."""

    def encode(self, words: Sequence[str]) -> Encoding:
        if len(self._indices) > CACHE:
            self.forget()
        new = [word for word in dict.fromkeys(words) if word not in self._indices]
        if new:
            self._learn(new)
        indices = np.fromiter(map(self._indices.__getitem__, words), np.int64, len(words))
        lengths = np.frombuffer(self._lengths, np.int64)[indices] if len(words) else np.zeros(0, np.int64)
        ends = np.cumsum(lengths)
        if not len(words):
            return Encoding(np.zeros(0, np.int32), ends, 0)
        shifts = np.frombuffer(self._starts, np.int64)[indices] - ends + lengths
        ids = np.frombuffer(self._ids, np.int32)[np.repeat(shifts, lengths) + np.arange(ends[-1])]
        return Encoding(ids, ends - 1, int(np.isin(ids, self.unknown).sum()))

    def _learn(self, words: Sequence[str]) -> None:
        """Remember the pieces of words."""
        for word, ids in zip(words, self.cut_words([word.encode(errors="replace") for word in words])):
            self._indices[word] = len(self._starts)
            self._starts.append(len(self._ids))
            self._ids.extend(ids)
            self._lengths.append(len(ids))
