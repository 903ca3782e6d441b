"""Labels of the words of a document: what a recogniser wrote, read by a model."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from punc.asr.document import Document
from punc.asr.tokens import TokenReader
from punc.asr.written import MarkedWords, Words, take_apart
from punc.base.log import hide_progress
from punc.base.parallel import map_ordered
from punc.base.runs import bounds_of, starts_of_runs
from punc.data.datadir import Utterance
from punc.data.labels import LabelSet
from punc.decoding.options import DecodingOptions
from punc.decoding.shipped import CASING, is_packed
from punc.decoding.spans import Span, grouped, spans
from punc.decoding.worker import Decoder, task_of
from punc.text.casing import Casing
from punc.tokens.tokenizer import Tokenizer, read_tokenizer

UTTERANCE = 1 << 12  # words that are cut from a stream at a time


class Punctuated(NamedTuple):
    """A document's W words with their labels.

    words          the words
    texts          W texts, as they are written
    labels         int64 (W,); 0 where no model reads the word
    probabilities  float64 (W,), of the labels that the model chose; NaN where no model reads the word, or if not wanted
    pauses         float64 (W,), seconds after each word, NaN unknown
    label_set      the labels
    """

    words: Words
    texts: list[str]
    labels: np.ndarray
    probabilities: np.ndarray
    pauses: np.ndarray
    label_set: LabelSet

    def pieces(self, document: Document) -> tuple[list[str], np.ndarray]:
        """The text of each piece of the document, and the probability of each that ends a word, NaN of others."""
        probabilities = np.full(len(document.pieces), np.nan)
        probabilities[self.words.last - 1] = self.probabilities
        if len(self.texts) == len(document.pieces):
            return self.texts, probabilities
        texts = []
        for text, first, last in zip(self.texts, self.words.first.tolist(), self.words.last.tolist()):
            for piece in document.pieces[first:last - 1]:  # marks come after the last piece
                texts.append(text[:len(piece)])
                text = text[len(piece):]
            texts.append(text)
        return texts, probabilities


def punctuate_document(directory: Path, document: Document, decoding: DecodingOptions, keep_marks: bool = False,
                       nj: int = 1, probabilities: bool = True) -> Punctuated:
    """Choose and write the labels of a document's words with the model of a directory.

    keep_marks      words that have marks stay as they are
    nj              processes that decode
    probabilities   whether those of the labels are wanted; else they are all NaN

    Raises InputError if there is no model, and for options that do not fit it.
    """
    tokenizer, label_set = read_tokenizer(directory), LabelSet.read(directory / "labels.txt")
    words = take_apart(document, TokenReader.of(tokenizer.vocabulary.tokens))
    pauses = word_pauses(document, words)
    decoder = Decoder(directory, decoding, posteriors=probabilities)
    labels, chances = np.zeros(len(words.codes), np.int64), np.full(len(words.codes), np.nan)
    read = np.flatnonzero(words.counts)
    labels[read], chances[read] = _decoded(words, pauses, tokenizer, decoder, nj)
    casing = Casing.read(label_set, directory / CASING)
    marked = MarkedWords(label_set, casing, keep_marks, sentences=is_packed(directory))
    texts, labels = marked.write(words, labels)
    return Punctuated(words, texts, labels, chances, pauses, label_set)


def word_pauses(document: Document, words: Words) -> np.ndarray:
    """The silence after each word up to the next one that a model reads, float64 (W,); NaN unknown, or at an end."""
    pauses, read = np.full(len(words.codes), np.nan), np.flatnonzero(words.counts)
    begins, ends = document.begins[words.first[read]], document.ends[words.last[read] - 1]
    gaps = np.maximum(np.round(begins[1:] - ends[:-1], 6), 0)
    pauses[read[:-1]] = np.where(words.streams[read][1:] == words.streams[read][:-1], gaps, np.nan)
    return pauses


def _decoded(words: Words, pauses: np.ndarray, tokenizer: Tokenizer, decoder: Decoder,
             nj: int) -> tuple[np.ndarray, np.ndarray]:
    """The label of each word that is read, and the probability of that label, NaN without posteriors."""
    labels, probabilities = [np.zeros(0, np.int64)], [np.zeros(0)]
    with tqdm(desc="punctuating", unit="word", unit_scale=True, leave=False, delay=2, disable=hide_progress()) as bar:
        groups = grouped(_spans(words, pauses, tokenizer, decoder), lambda span: len(span.ids),
                         decoder.options.chunk_size)
        for chosen, posteriors in map_ordered(decoder, map(task_of, groups), nj if decoder.device == "cpu" else 1):
            labels.append(chosen.astype(np.int64))
            probabilities.append(np.full(len(chosen), np.nan) if posteriors is None else
                                 posteriors[np.arange(len(chosen)), chosen].astype(float))
            bar.update(len(chosen))
    counts = words.counts[words.counts > 0]
    last = np.cumsum(counts) - 1  # a word's slot is that of its last part
    return np.concatenate(labels)[last], np.concatenate(probabilities)[last]


def _spans(words: Words, pauses: np.ndarray, tokenizer: Tokenizer, decoder: Decoder) -> Iterator[Span]:
    """The spans of all streams, in order."""
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
