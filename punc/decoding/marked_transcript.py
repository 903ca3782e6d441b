"""Punctuates transcripts (ASR output) with a model."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.log import progress_bar
from punc.base.parallel import map_ordered
from punc.base.runs import bounds_of, starts_of_runs
from punc.data.datadir import Utterance
from punc.data.labels import LabelSet
from punc.decoding.decode import AnyModel
from punc.decoding.options import DecodingOptions
from punc.decoding.shipped import CASING, is_packed
from punc.decoding.spans import Span, grouped, spans
from punc.decoding.worker import Decoder, Task, task_of
from punc.text.casing import Casing
from punc.text.characters import NO_BLANKS
from punc.text.marked_words import MarkedWords
from punc.text.split_words import AUTO, SplitWords, keeps, take_apart, with_abbreviations
from punc.text.word_parts import TokenReader
from punc.tokens.tokenizer import Tokenizer, read_tokenizer
from punc.transcripts.transcript import BLANKS_BETWEEN, Words

MOST = 0.5  # with AUTO, `kept` is true if more than this fraction of the words keep their marks
UTTERANCE = 1 << 12  # a stream is cut into utterances of at most this many words
UNKNOWN, FEW = 0.3, 5  # warn if a transcript has at least FEW words, and more than the fraction UNKNOWN are unknown


class MarkedTranscript(NamedTuple):
    """A transcript's W words with their labels."""

    words: SplitWords
    texts: list[str]  # the W words as they are written, with their marks
    labels: np.ndarray  # int64 (W,); 0 for a word that the model does not read
    # float64 (W,), posteriors of the labels; NaN if not computed, or for a word that the model does not read
    probabilities: np.ndarray
    pauses: np.ndarray  # float64 (W,), seconds after each word; NaN: unknown
    label_set: LabelSet
    unknown: int  # how many words are unknown to the model
    kept: bool  # whether `marks` is AUTO and AUTO kept the marks of most words


class Marker:
    """Punctuates transcripts with the model in a directory. `script` states how the model's language separates words.

    marks           how to treat existing marks, as in `keeps`
    probabilities   whether to compute the labels' probabilities; false: they are all NaN

    Raises InputError if there is no model, and for options that do not fit the model.
    """

    def __init__(self, directory: Path, decoding: DecodingOptions, marks: str = AUTO, nj: int = 1,
                 probabilities: bool = True):
        self.directory = directory
        self.label_set = LabelSet.read(directory / "labels.txt")
        self._tokenizer, self._marks = read_tokenizer(directory), marks
        self._reader = TokenReader.of(self._tokenizer.vocabulary.tokens)
        self._decoder = Decoder(directory, decoding, probabilities)
        self._nj = nj if self._decoder.device == "cpu" else 1
        casing = Casing.read(self.label_set, directory / CASING)
        self._marked = MarkedWords(self.label_set, casing, marks, is_packed(directory) and self.label_set.cased)
        self.script = NO_BLANKS if self._tokenizer.by_character else BLANKS_BETWEEN
        known = set(self._tokenizer.vocabulary.tokens)
        self._known = known if self._tokenizer.token_type == "word" else None

    @property
    def model(self) -> AnyModel:
        return self._decoder.model

    def mark(self, words: Words, pauses: np.ndarray | None = None) -> MarkedTranscript:
        """Return the words with their labels. If `pauses` (W,) is None, compute the pauses from the words' times."""
        split = take_apart(words.texts, self._reader, words.streams, words.turns, words.segments)
        if self._marks == AUTO:
            split = with_abbreviations(split)
        pauses = word_pauses(words, split) if pauses is None else pauses
        labels = np.zeros(len(split.codes), np.int64)
        chances = np.full(len(split.codes), np.nan)
        read = np.flatnonzero(split.counts)
        labels[read], chances[read] = self._decoded(split, pauses)
        texts, labels = self._marked.write(split, labels)
        kept = self._marks == AUTO and len(read) > 0 and float(keeps(split, AUTO).mean()) > MOST
        return MarkedTranscript(split, texts, labels, chances, pauses, self.label_set, self._unknown(split), kept)

    def _unknown(self, words: SplitWords) -> int:
        """Return how many words are unknown to a model that reads word tokens; 0 for all other models."""
        known = self._known
        if known is None:
            return 0
        lost = [any(part not in known and part.partition("'")[0] not in known for part in token.words)
                for token in words.tokens]
        return int(words.of(lost).sum())

    def _decoded(self, words: SplitWords, pauses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        labels, probabilities = [np.zeros(0, np.int64)], [np.zeros(0)]
        slots = words.slots
        ends = np.zeros(int(words.counts.sum()), np.int8)
        ends[slots] = np.where(words.ends, 1, -words.goes_on.astype(np.int8))[words.counts > 0]
        groups = grouped(_spans(words, pauses, self._tokenizer, self._decoder), lambda span: len(span.ids),
                         self._decoder.options.chunk_size)

        def tasks() -> Iterator[Task]:
            done = 0
            for task in map(task_of, groups):
                yield task._replace(ends=ends[done:done + len(task.slots)])
                done += len(task.slots)

        with progress_bar("punctuating", "word") as bar:
            for chosen, posteriors in map_ordered(self._decoder, tasks(), self._nj):
                labels.append(chosen.astype(np.int64))
                probabilities.append(np.full(len(chosen), np.nan) if posteriors is None else
                                     posteriors[np.arange(len(chosen)), chosen].astype(float))
                bar.update(len(chosen))
        return np.concatenate(labels)[slots], np.concatenate(probabilities)[slots]


def unknown_words(unknown: int, words: int) -> str:
    """Return a warning if many words are unknown to the model, otherwise an empty string."""
    if unknown <= UNKNOWN * words or words < FEW:
        return ""
    return f"{unknown} of {words} words are unknown to the model, perhaps because they are in another language"


def word_pauses(words: Words, split: SplitWords) -> np.ndarray:
    """Return the silence from each word to the next word that the model reads, in seconds, float64 (W,). A pause is NaN
    if a time is missing, if the model does not read the word, and at the end of a stream or recording."""
    pauses, read = np.full(len(split.codes), np.nan), np.flatnonzero(split.counts)
    begins, ends = words.begins[read], words.ends[read]
    gaps = np.maximum(np.round(begins[1:] - ends[:-1], 6), 0)
    goes_on = ~starts_of_runs(words.streams[read], words.recording[read])[1:]
    pauses[read[:-1]] = np.where(goes_on, gaps, np.nan)
    return pauses


def _spans(words: SplitWords, pauses: np.ndarray, tokenizer: Tokenizer, decoder: Decoder) -> Iterator[Span]:
    read = np.flatnonzero(words.counts)
    streams = words.streams[read]
    bounds = bounds_of(words.counts[read])
    after = np.zeros(bounds[-1], np.float32)
    after[bounds[1:] - 1] = pauses[read]
    texts = words.read()
    known = np.isfinite(after[bounds[1:] - 1]).any()
    cuts = [*np.flatnonzero(starts_of_runs(streams)).tolist(), len(read)]
    for begin, end in pairwise(cuts):

        def utterances(begin: int = begin, end: int = end) -> Iterator[Utterance]:
            for low in range(begin, end, UTTERANCE):
                part = slice(bounds[low], bounds[min(low + UTTERANCE, end)])
                yield Utterance("", "", texts[part], None, after[part] if known else None)

        yield from spans(utterances(), tokenizer, decoder.options.chunk_size, decoder.context)
