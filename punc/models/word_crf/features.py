"""Features of the slots of a text for a word-level CRF (Gale & Parthasarathy 2017, section 2.2).

A *template* is a kind of feature and the place where it looks, `word[0..1]`; what it finds there is a *key*, a
whole number. A slot has at most one key of a template, but for triggers, of which a window holds any number.

    word[i..j]     the n-gram of the words i to j around the slot: 0 is the word before it, 1 the one after it
    shape[i]       the shape of word i: runs of letters as a or A, of digits as 0, the rest as it is
    suffix3[i]     the last three characters of word i, if it has more
    cluster4[i]    the first four bits of the Brown cluster of word i
    lm[l]          the posterior of label l by another model, as log-odds in steps of `LM_STEP`
    trigger[n]     a trigger of n words in the window

The unknown word and the stream's end have no shape, suffix or cluster: they are known as words only.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from punc.models.word_crf.triggers import find, firing
from punc.tokens.vocabulary import END

SHAPED = 0, 1  # places of the words whose shape and suffixes are features
CLASSED = -1, 0, 1, 2  # and whose clusters are
LM_STEP, LM_STEPS = 0.5, 20  # log-odds of one step, and steps on each side of even odds


class Template(NamedTuple):
    """A kind of feature and where it looks.

    kind    word, trigger, lm, or the name of a table of words
    first   the first word, relative to the slot; of lm the label
    size    words
    """

    kind: str
    first: int
    size: int = 1

    def __str__(self) -> str:
        if self.kind == "trigger":
            return f"trigger[{self.size}]"
        return f"{self.kind}[{self.first}..{self.first + self.size - 1}]" if self.size > 1 else \
            f"{self.kind}[{self.first}]"


class Text(NamedTuple):
    """What features are found in.

    ids, offsets   the words of all streams (N,); stream i is [offsets[i]:offsets[i + 1]]
    logs           log-posteriors of another model, (N, L), or None
    """

    ids: np.ndarray
    offsets: np.ndarray
    log_probs: np.ndarray | None


def word_shape(word: str) -> str:
    """The pattern of letters and digits: `n't` is a'a, `McDonald` AaAa, `1990s` 0a."""
    kinds = "".join("0" if c.isdigit() else ("A" if c.isupper() else "a") if c.isalpha() else c for c in word)
    return re.sub(r"(.)\1+", r"\1", kinds, flags=re.DOTALL)


def shape_table(words: Sequence[str]) -> np.ndarray:
    """A number for the shape of each word of a vocabulary, int32 (V,); −1 for the special words."""
    return _numbered([None if i <= END else word_shape(word) for i, word in enumerate(words)])


def suffix_table(words: Sequence[str], length: int) -> np.ndarray:
    """A number for the last `length` characters of each word, int32 (V,); −1 for special and shorter words."""
    return _numbered([None if i <= END or len(word) <= length else word[-length:] for i, word in enumerate(words)])


def cluster_table(words: Sequence[str], clusters: dict[str, str], bits: int) -> np.ndarray:
    """A number for the first bits of each word's cluster, int32 (V,); −1 for words that are in none."""
    prefixes = [None if i <= END or word not in clusters else clusters[word][:bits] for i, word in enumerate(words)]
    return _numbered(prefixes)


def _numbered(values: list[str | None]) -> np.ndarray:
    numbers = {value: number for number, value in enumerate(sorted({v for v in values if v is not None}))}
    return np.array([-1 if value is None else numbers[value] for value in values], np.int32)


def templates(window: int, ngram: int, tables: Sequence[str], lm_labels: int, trigger_ngram: int) -> list[Template]:
    """The templates of a model.

    window         words on each side of the slot whose n-grams are features
    ngram          words of the longest n-grams
    tables         names of the tables of words
    lm_labels      labels of the other model; 0: there is none
    trigger_ngram  words of the longest triggers; 0: none
    """
    result = [Template("word", first, n) for n in range(1, ngram + 1) for first in range(1 - window, window - n + 2)]
    result += [Template(name, place) for name in tables
               for place in (CLASSED if name.startswith("cluster") else SHAPED)]
    result += [Template("lm", label) for label in range(lm_labels)]
    return result + [Template("trigger", 0, n) for n in range(1, trigger_ngram + 1)]


class Finder:
    """Finds keys in a text.

    vocabulary   words
    tables       numbers of the words by the tables' names, (V,)
    triggers     sorted keys of the triggers of 1, 2, … words
    before, after   words of the window of triggers up to a slot, and behind it
    """

    def __init__(self, vocabulary: int, tables: dict[str, np.ndarray], triggers: Sequence[np.ndarray], before: int,
                 after: int):
        self.vocabulary, self.tables, self.triggers = vocabulary, tables, triggers
        self.before, self.after = before, after

    def keys(self, templates: Sequence[Template], text: Text, start: int,
             stop: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each template, slots in [start, stop), counted from start, and their keys, two int64 arrays (M,)."""
        places = np.arange(start, stop)
        stream = np.searchsorted(text.offsets, places, side="right") - 1
        begins, ends = text.offsets[stream], text.offsets[stream + 1]
        left = max(start - 32, 0)
        near = np.asarray(text.ids[left:stop + 32]).astype(np.int64)
        words = {}

        def word(place: int) -> np.ndarray:
            """The words at a place relative to the slots; END outside of their stream."""
            if place not in words:
                there = places + place
                inside = (there >= begins) & (there < ends)
                words[place] = np.where(inside, near[np.where(inside, there - left, 0)], END)
            return words[place]

        for template in templates:
            if template.kind == "trigger":
                yield firing(text.ids, text.offsets, start, stop, template.size, self.vocabulary, self.before,
                             self.after, self.triggers[template.size - 1])
                continue
            if template.kind == "word":
                found = word(template.first)
                for place in range(template.first + 1, template.first + template.size):
                    found = found * self.vocabulary + word(place)
            elif template.kind == "lm":
                found = odds_step(text.log_probs[start:stop, template.first])
            else:
                found = self.tables[template.kind][word(template.first)].astype(np.int64)
            rows = np.flatnonzero(found >= 0)
            yield rows, found[rows]


def odds_step(log_probs: np.ndarray) -> np.ndarray:
    """Log-posteriors as whole steps of log-odds, 0 … 2 LM_STEPS; LM_STEPS is even odds."""
    log_probs = np.minimum(log_probs.astype(np.float64), -1e-12)
    odds = log_probs - np.log(-np.expm1(log_probs))
    return np.clip(np.rint(odds / LM_STEP), -LM_STEPS, LM_STEPS).astype(np.int64) + LM_STEPS


def common_keys(keys: np.ndarray, least: int) -> np.ndarray:
    """The keys that occur at least so often, sorted."""
    keys, counts = np.unique(keys, return_counts=True)
    return keys[counts >= least]


def attributes(found: Iterator[tuple[np.ndarray, np.ndarray]], tables: Sequence[np.ndarray],
               slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the features of each slot, int64 (M,), and ends (slots,): those of slot i are [ends[i − 1]:ends[i]].

    found    slots and keys by template; tables: the sorted keys of each template, which are numbered on end
    """
    rows, numbers, base = [], [], 0
    for (where, keys), table in zip(found, tables, strict=True):
        number = find(table, keys)
        rows.append(where[number >= 0])
        numbers.append(number[number >= 0] + base)
        base += len(table)
    where = np.concatenate(rows)
    order = np.argsort(where.astype(np.uint16) if slots <= 1 << 16 else where, kind="stable")
    return np.concatenate(numbers)[order], np.cumsum(np.bincount(where, minlength=slots))


def scores(found: Iterator[tuple[np.ndarray, np.ndarray]], tables: Sequence[np.ndarray],
           weights: Sequence[np.ndarray], slots: int, labels: int) -> np.ndarray:
    """The sum of the weights (keys, L) of the features of each slot, float64 (slots, L)."""
    result = np.zeros((slots, labels))
    for (where, keys), table, weight in zip(found, tables, weights, strict=True):
        number = find(table, keys)
        where, number = where[number >= 0], number[number >= 0]
        for label in range(labels):
            result[:, label] += np.bincount(where, weight[number, label], slots)
    return result
