"""Pieces of words as tokens: a unigram model of `sentencepiece` (Kudo 2018, "Subword Regularization", section 3.2).

A word is its pieces, and its slot is after the last one; no piece is of two words. A word of which the model's
normalisation (NFKC, lower case) leaves nothing is `<unk>`, and so is what it has no piece for. The model, a file
`pieces.model`, numbers `<unk>` and `</s>` as a vocabulary does: its pieces are the vocabulary.
"""

import io
import os
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from punc.base.errors import InputError
from punc.base.files import atomic_file, open_input
from punc.base.lookup import Tokens, strings
from punc.data.datadir import DataDir
from punc.tokens.tokenizer import Encoding, Tokenizer
from punc.tokens.vocabulary import END, SPECIALS, UNK, Vocabulary, count_words, most_frequent

PIECES = "pieces.model"
TYPES = 1 << 18  # different words that a model is trained on, the most frequent ones
CACHE = 1 << 18  # words whose pieces are kept


class SubwordTokenizer(Tokenizer):
    """One or more tokens a word.

    model   the content of pieces.model
    """

    token_type = "subword"
    meaning = "a piece of a word"
    vocab_size = 8000
    summary = "{words} words, {tokens} pieces in {streams} streams, {percent:.2f} % unknown"

    def __init__(self, model: bytes):
        self.__setstate__(model)

    def __getstate__(self) -> bytes:
        return self._model

    def __setstate__(self, model: bytes) -> None:
        from sentencepiece import SentencePieceProcessor
        self._model, self._processor = model, SentencePieceProcessor(model_proto=model)
        self.vocabulary = Vocabulary(map(self._processor.id_to_piece, range(self._processor.get_piece_size())))
        self._forget()

    def _forget(self) -> None:
        # Of each word met: its place in the arrays; there, where its pieces begin, and how many they are.
        self._places: dict[str | bytes, int] = {}
        self._ids, self._starts, self._lengths = array("i"), array("q"), array("q")  # int32, int64, int64

    @classmethod
    def read(cls, path: str | os.PathLike) -> "SubwordTokenizer":
        """Those of a vocabulary's file, with the model beside it. Raises InputError where they do not fit together."""
        path = Path(path)
        with open_input(path.with_name(PIECES)) as file:
            try:
                found = cls(file.read())
            except (RuntimeError, InputError):
                raise InputError("not a model of pieces, or not one of punc", "make the store again: punc make-store",
                                 path.with_name(PIECES)) from None
        if Vocabulary.read(path).tokens != found.vocabulary.tokens:
            raise InputError(f"these are not the pieces of {PIECES} beside it", "make the store again: punc make-store",
                             path)
        return found

    @classmethod
    def make(cls, sets: Sequence[DataDir], size: int, min_count: int = 1, nj: int = 1) -> "SubwordTokenizer":
        """A model of at most `size` pieces for data directories, of the words that occur `min_count` times.

        Only words and their counts matter, as no piece is of two, so time and memory do not grow with the text.
        Raises InputError where there are more characters than pieces.
        """
        from sentencepiece import SentencePieceTrainer
        counts = count_words(sets, TYPES, nj)
        model = io.BytesIO()
        words = (f"{word}\t{counts[word.encode()]}" for word in most_frequent(counts, TYPES, min_count))
        try:
            SentencePieceTrainer.train(
                sentence_iterator=words, input_format="tsv", model_writer=model, model_type="unigram",
                vocab_size=size + len(SPECIALS), hard_vocab_limit=False, normalization_rule_name="nmt_nfkc_cf",
                unk_id=UNK, eos_id=END, bos_id=-1, pad_id=-1, num_threads=1, minloglevel=2)
        except RuntimeError as error:
            said = str(error).rpartition("] ")[2].partition(". ")[0]
            raise InputError(f"no pieces for --vocab-size={size}: {said}",
                             "give a larger --vocab-size, or a text of more words", sets[0].path / "text") from None
        return cls(model.getvalue())

    def write(self, directory: Path) -> None:
        with atomic_file(directory / PIECES, "wb") as file:
            file.write(self._model)
        super().write(directory)

    def encode(self, words: Sequence[str | bytes]) -> Encoding:
        if len(self._places) > CACHE:
            self._forget()
        new = [word for word in dict.fromkeys(words) if word not in self._places]
        if new:
            self._learn(new)
        places = np.fromiter(map(self._places.__getitem__, words), np.int64, len(words))
        lengths = np.frombuffer(self._lengths, np.int64)[places] if len(words) else np.zeros(0, np.int64)
        ends = np.cumsum(lengths)
        if not len(words):
            return Encoding(np.zeros(0, np.int32), ends, 0)
        shifts = np.frombuffer(self._starts, np.int64)[places] - ends + lengths
        ids = np.frombuffer(self._ids, np.int32)[np.repeat(shifts, lengths) + np.arange(ends[-1])]
        return Encoding(ids, ends - 1, int((ids == UNK).sum()))

    def _learn(self, words: Sequence[str | bytes]) -> None:
        texts = [word if isinstance(word, bytes) else word.encode(errors="replace") for word in words]
        for word, ids in zip(words, self._processor.encode(texts, num_threads=1)):
            self._places[word] = len(self._starts)
            self._starts.append(len(self._ids))
            self._ids.extend(ids or [UNK])
            self._lengths.append(max(len(ids), 1))

    def text_encoder(self) -> Callable[[Tokens], Encoding]:
        return self._encode_text

    def _encode_text(self, tokens: Tokens) -> Encoding:
        return self.encode(strings(tokens))
