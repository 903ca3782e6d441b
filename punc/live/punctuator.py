"""The Python interface to a model: it takes words and returns labels or text."""

import os
from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from punc.base.errors import InputError, StrPath
from punc.base.processor import find_device
from punc.decoding.decode import load_model
from punc.decoding.options import parse_scale
from punc.decoding.shipped import CASING, find_model, is_packed
from punc.live.stream import decode_words
from punc.live.words import LiveWriter, WordStream, open_stream
from punc.text.casing import Casing
from punc.text.characters import CharacterReader


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
        directory = find_model(os.fspath(model))
        packed = is_packed(directory)
        self._model = load_model(directory, "cpu" if packed else find_device(device), threads=None)
        self._start = Casing.read(self._model.labels, directory / CASING, packed)
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

        Raises InputError if a word is empty or contains a space, or if the numbers of words and pauses differ.
        """
        _check_words(words)
        numbers, posteriors = self._decode(words, pauses, posteriors=True)
        return Labels(np.array(self.label_names)[numbers], np.exp(posteriors))

    def punctuate(self, words: str | Sequence[str], pauses: npt.ArrayLike | None = None) -> str:
        """Return the words of one stream as text with marks and, if the model restores them, capitals.

        words    a list of words, or a text (with spaces between the words if the language uses spaces)

        For `pauses` and errors, see `labels`.
        """
        if isinstance(words, str) and self._model.tokenizer.by_character:
            reader = CharacterReader(self._model.labels)
            split = reader.split(words)
            return reader.write(split, self._names(split.tokens, pauses))
        if isinstance(words, str):
            words = words.split()
        _check_words(words)
        names = self._names(words, pauses)
        # Writing changes a writer, so each call uses a copy; all copies share the casing table.
        return " ".join(copy(self._start).write(words, names, [0]))

    def _names(self, words: Sequence[str], pauses: npt.ArrayLike | None) -> list[str]:
        return [self.label_names[number] for number in self._decode(words, pauses)[0].tolist()]

    def stream(self) -> WordStream:
        """Return a new stream: `push` words as they arrive, and `close` the stream at its end."""
        return open_stream(self._model, self._writer, self._scale)

    @cached_property
    def _writer(self) -> LiveWriter:
        return LiveWriter(self._model, self._start)

    def _decode(self, words: Sequence[str], pauses: npt.ArrayLike | None,
                posteriors: bool = False) -> tuple[np.ndarray, np.ndarray]:
        after = None if pauses is None else np.asarray(pauses, np.float32)
        if after is not None and after.shape != (len(words),):
            raise InputError(f"{len(words)} words, but pauses of shape {after.shape}", "give one pause for each word")
        return decode_words(self._model, words, after, self._scale, posteriors)


def _check_words(words: Sequence[str]) -> None:
    for word in words:
        if word.split() != [word]:
            raise InputError(f"word {word!r} is empty or contains a space", "give one word per item")
