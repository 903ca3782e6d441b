"""Finds and counts the sentences that held-out texts share with training texts, and can remove them from a text.

A sentence ends at a mark in END before a space or the end of a line (a full-width mark needs neither), at an empty
line, and before a line that begins with `#`. Such a line is not a sentence. Two sentences are equal if they have the
same words; case and marks are ignored. Memory grows only with the held-out texts: 16 bytes per sentence. A sentence
with a period inside, as in `Mr.`, counts as two sentences, and so does a sentence that begins in one part of a large
file (`file_parts`) and ends in the next.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.files import atomic_file
from punc.base.parallel import map_ordered
from punc.text.file_parts import FilePart, decode, file_parts

# Marks that end a sentence, with the quotes and brackets after them. A match starts at the first of several marks.
END = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’»)\]]*(?=\s)|[。！？]+[」』）”]*|\n[ \t]*\n|^#.*$", re.M)
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
SHOWN = 10


class Sentence(NamedTuple):
    """A sentence: its begin and end in the text, and its words in lower case."""

    begin: int
    end: int
    words: list[str]


class Overlap(NamedTuple):
    """The sentences that a set shares with the training texts.

    sentences, words     number of sentences and words in the set
    repeated             (sentences, words): numbers of sentences that are also in training, and of words in them
    long                 like `repeated`, for sentences of at least `least` words
    frequent             the shared sentences that are most frequent in training, with their counts there
    """

    sentences: int
    words: int
    repeated: tuple[int, int]
    long: tuple[int, int]
    frequent: list[tuple[str, int]]


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text that have at least one word."""
    begin = 0
    for mark in [*END.finditer(text), None]:
        end = len(text) if mark is None else mark.start() if mark[0][0] == "#" else mark.end()
        if words := WORD.findall(text[begin:end].casefold()):
            yield Sentence(begin, end, words)
        begin = end if mark is None else mark.end()


def digest(words: Iterable[str]) -> int:
    return int.from_bytes(blake2b(" ".join(words).encode(), digest_size=8).digest(), "little")


def overlap(held_out: Iterable[str | os.PathLike[str]], training: Iterable[str | os.PathLike[str]], least: int,
            nj: int) -> Overlap:
    """Compare held-out texts with training texts in `nj` processes. `least`: minimum length of a long sentence, in
    words."""
    held_out = list(held_out)
    found = np.concatenate([np.zeros((0, 2), np.uint64), *map_ordered(_digests, file_parts(held_out, b"\n"), nj)])
    known, first, number = np.unique(found[:, 0], return_index=True, return_counts=True)
    lengths = found[first, 1].astype(np.int64)
    counts = np.zeros(len(known), np.int64)
    for at, times in map_ordered(partial(_known, known=known), file_parts(training, b"\n"), nj):
        counts[at] += times
    both, long = counts > 0, (counts > 0) & (lengths >= least)
    most = [at for at in np.argsort(-counts, kind="stable")[:SHOWN].tolist() if counts[at]]
    return Overlap(len(found), int(found[:, 1].sum()), _total(number, lengths, both), _total(number, lengths, long),
                   _texts(held_out, {int(known[at]): int(counts[at]) for at in most}))


def remove_sentences(source: Path, target: Path, known: np.ndarray, least: int) -> Counter[str]:
    """Copy a text without the sentences of at least `least` words whose digests are in `known`, which is sorted. Return
    how many sentences and words were removed."""
    removed = Counter[str]()
    with atomic_file(target) as file:
        for part in file_parts([source], b"\n"):
            text, at = decode(part.data, Counter()), 0
            for sentence in sentences(text):
                if len(sentence.words) >= least and _has(known, digest(sentence.words)):
                    whole = text[sentence.begin:sentence.end]
                    blank = whole[:-len(whole.lstrip())]  # kept, to separate the sentences before and after
                    file.write(text[at:sentence.begin] + blank + "\n" * whole.count("\n", len(blank)))
                    at = sentence.end
                    removed.update(sentences=1, words=len(sentence.words))
            file.write(text[at:])
    return removed


def digests(paths: Iterable[str | os.PathLike[str]], nj: int) -> np.ndarray:
    """Return the distinct digests of all sentences in texts, sorted."""
    parts = map_ordered(_digests, file_parts(paths, b"\n"), nj)
    return np.unique(np.concatenate([np.zeros(0, np.uint64), *(part[:, 0] for part in parts)]))


def _digests(part: FilePart) -> np.ndarray:
    """Return the digest and the number of words of each sentence, uint64 (sentences, 2)."""
    found = [(digest(one.words), len(one.words)) for one in sentences(decode(part.data, Counter()))]
    return np.array(found, np.uint64).reshape(-1, 2)


def _known(part: FilePart, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the known digests that occur in a part, and how often each of them occurs."""
    found = _digests(part)[:, 0]
    at = np.minimum(np.searchsorted(known, found), max(len(known) - 1, 0))
    return np.unique(at[known[at] == found] if len(known) else at[:0], return_counts=True)


def _has(known: np.ndarray, key: int) -> bool:
    at = int(np.searchsorted(known, np.uint64(key)))
    return at < len(known) and int(known[at]) == key


def _total(number: np.ndarray, lengths: np.ndarray, chosen: np.ndarray) -> tuple[int, int]:
    """Return the total numbers of chosen sentences and of their words. `number`: how often each sentence occurs."""
    return int(number[chosen].sum()), int((number * lengths)[chosen].sum())


def _texts(paths: Iterable[str | os.PathLike[str]], counts: dict[int, int]) -> list[tuple[str, int]]:
    """Return the words and the count of each sentence whose digest is in `counts`, in the order of `counts`."""
    texts: dict[int, str] = {}
    for part in file_parts(paths, b"\n"):
        if len(texts) == len(counts):
            break
        texts |= {key: " ".join(one.words) for one in sentences(decode(part.data, Counter()))
                  if (key := digest(one.words)) in counts}
    return [(texts[key], number) for key, number in counts.items()]
