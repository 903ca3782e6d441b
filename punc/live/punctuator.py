"""The Python interface to a model: it takes words and returns labels or text."""

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from punc.base.errors import InputError, StrPath
from punc.base.processor import check_device, find_device
from punc.decoding.decode import load_model
from punc.decoding.options import parse_scale
from punc.decoding.shipped import CASING, find_model, is_packed
from punc.live.stream import decode_words
from punc.live.words import LiveWriter, WordStream, open_stream
from punc.text.casing import Casing
from punc.text.characters import NO_BLANKS, CharacterReader
from punc.text.split_words import take_apart


class Labels(NamedTuple):
    """The labels of N words."""

    names: np.ndarray  # str (N,), the chosen label of each word
    probabilities: np.ndarray  # float32 (N, L), the probability of every label, before any scaling


class Punctuator:
    """A model that is ready to punctuate. Threads can share a Punctuator, because its methods do not change it.

    model    a directory, or the name of a bundled model
    scale    multiply posteriors before labels are chosen: "LABEL=FACTOR,…"
    device   the device of a model that is not packed: auto, cpu, cuda or cuda:N; packed models use the CPU

    Raises InputError if there is no such model, if it is broken, or if `scale` or `device` is invalid.
    """

    def __init__(self, model: StrPath = "en", *, scale: str = "", device: str = "cpu"):
        check_device(device)
        directory = find_model(os.fspath(model))
        packed = is_packed(directory)
        self._model = load_model(directory, "cpu" if packed else find_device(device), threads=None)
        labels = self._model.labels
        self._writer = LiveWriter(self._model, Casing.read(labels, directory / CASING, packed and labels.cased))
        self._scale = parse_scale(scale, self._model.labels)

    @property
    def label_names(self) -> tuple[str, ...]:
        """The label names in the order of `Labels.probabilities`. The first label stands for no mark and no capital."""
        return tuple(self._model.labels.names)

    @property
    def lookahead(self) -> int | None:
        """How many tokens past a slot the model reads; None: the whole stream."""
        return self._model.lookahead

    def labels(self, words: Sequence[str], pauses: npt.ArrayLike | None = None) -> Labels:
        """Return the labels of the words of one stream.

        words    N words, without spaces or marks
        pauses   (N,) seconds of silence after each word, NaN if unknown; None: all are unknown

        Raises InputError if a word is empty or contains a space, if a pause is not a finite number or NaN, or if the
        numbers of words and pauses differ.
        """
        if isinstance(words, str) and not self._model.tokenizer.by_character:
            raise InputError("the words are one string", "give a list of words, such as words.split()")
        _check_words(words)
        numbers, posteriors = self._decode(words, pauses, posteriors=True)
        return Labels(np.array(self.label_names)[numbers], np.exp(posteriors))

    def punctuate(self, words: str | Sequence[str], pauses: npt.ArrayLike | None = None) -> str:
        """Return the words of one stream as text with marks and, if the model restores them, capitals.

        words    a list of words, or a text (with spaces between the words if the language uses spaces). Marks and
                 capitals in them are replaced as `punc punctuate MODEL -` replaces them; `[tags]` stay

        For `pauses` and errors, see `labels`.
        """
        if isinstance(words, str) and self._model.tokenizer.by_character:
            reader = CharacterReader(self._model.labels)
            split = reader.split(words, tags=True)
            names = [self.label_names[number] for number in self._decode(split.tokens, pauses)[0].tolist()]
            return reader.write(split, names)
        if isinstance(words, str):
            words = words.split()
        _check_words(words)
        zeros = np.zeros(len(words), np.int64)
        parts = take_apart(words, self._writer.reader, streams=zeros, turns=zeros > 0, segments=zeros)
        read, slots, labels = np.flatnonzero(parts.counts), parts.slots, zeros.copy()
        after = None
        if pauses is not None:
            after = np.full(parts.counts.sum(), np.nan, np.float32)
            after[slots] = _checked_pauses(pauses, len(words))[read]
        labels[read] = self._decode(parts.read(), after)[0][slots]
        text = " ".join(self._writer.words.write(parts, labels)[0])
        return NO_BLANKS.close(text) if self._model.tokenizer.by_character else text

    def stream(self) -> WordStream:
        """Return a new stream: `push` words as they arrive, and `close` the stream at its end."""
        return open_stream(self._model, self._writer, self._scale)

    def _decode(self, words: Sequence[str], pauses: npt.ArrayLike | None,
                posteriors: bool = False) -> tuple[np.ndarray, np.ndarray]:
        after = None if pauses is None else _checked_pauses(pauses, len(words))
        return decode_words(self._model, words, after, self._scale, posteriors)


def _check_words(words: Sequence[str]) -> None:
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"word {word!r} is not a string", "give a list of strings")
        if word.split() != [word]:
            raise InputError(f"word {word!r} is empty or contains a space", "give one word per item")


def _checked_pauses(pauses: npt.ArrayLike, words: int) -> np.ndarray:
    remedy = "give seconds, or NaN if a pause is unknown"
    try:
        with np.errstate(over="ignore"):
            checked = np.asarray(pauses, np.float32)
    except (TypeError, ValueError):
        raise InputError("the pauses are not numbers", remedy) from None
    if checked.shape != (words,):
        raise InputError(f"{words} words, but pauses of shape {checked.shape}", "give one pause for each word")
    if np.isinf(checked).any():
        raise InputError("an infinite pause", remedy)
    return checked
