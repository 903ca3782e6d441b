#!/usr/bin/env python3
"""usage: local/commas_by_book.py LABELS BOOKS REFERENCE-DIR SYSTEM-DIR

Prints a line for each book of a test set of single sentences: how many sentences and how many characters per comma the
book has, and the precision, recall and F1 of a system's commas in percent. The books in which commas are rarest come
first. Three more lines sum up the first, middle and last third of the books.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from make_texts import read_works
from split_sentences import SentenceReader

from punc.base.errors import InputError
from punc.bin.script import run_script
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.scoring.metrics import prf

COMMA = "C"
HEADER = ("book", "sentences", "characters a comma", "precision", "recall", "F1")


class Commas(NamedTuple):
    """Counts of sentences and characters, and of commas in the reference, in the system's output, and at the same slot
    of both."""

    sentences: int = 0
    characters: int = 0
    reference: int = 0
    system: int = 0
    both: int = 0

    def __add__(self, other: "Commas") -> "Commas":
        return Commas(*map(sum, zip(self, other)))

    def line(self, name: str) -> str:
        scores = prf(COMMA, *map(np.asarray, (self.both, self.system, self.reference))).values()
        figures = self.characters_a_comma(), *np.nan_to_num(list(scores))
        return "\t".join([name, str(self.sentences), *map("{:.1f}".format, figures)])

    def characters_a_comma(self) -> float:
        return self.characters / self.reference if self.reference else float("inf")


def counts(reference: Sequence[str], system: Sequence[str]) -> Commas:
    """Return the counts of one sentence, given its labels in the reference and in the system's output."""
    commas, written = ([label == COMMA for label in labels] for labels in (reference, system))
    return Commas(1, len(commas), sum(commas), sum(written), sum(map(min, commas, written)))


def by_book(books: dict[str, str], reference: str, system: str) -> dict[str, Commas]:
    """Return the counts of each book, from the data directories of the reference and of the system's output. `books`
    maps a sentence's key to its book.

    Raises InputError if the words of the directories differ, or if a sentence is in no book.
    """
    found: dict[str, Commas] = {}
    for correct, restored in zip_longest(DataDir(reference).utterances(), DataDir(system).utterances()):
        if not (correct and restored and correct.words == restored.words):
            raise InputError(f"{(correct or restored).id}: not the same text", f"punctuate {reference}", system)
        if not (book := books.get("".join(correct.words))):
            raise InputError(f"{correct.id}: in none of the books", "give the books of this set", reference)
        found[book] = found.get(book, Commas()) + counts(correct.labels, restored.labels)
    return dict(sorted(found.items(), key=lambda item: -item[1].characters_a_comma()))


def main(labels: str, books: str, reference: str, system: str) -> None:
    works = read_works(books, SentenceReader(LabelSet.read(labels), "stop"))
    book_of: dict[str, str] = {}
    for name, sentences in works.items():  # a sentence of several works belongs to the first, as in make_texts.py
        for sentence in sentences:
            book_of.setdefault(sentence.key, name)
    found = by_book(book_of, reference, system)
    print(*HEADER, sep="\t")
    for name, commas in found.items():
        print(commas.line(name))
    books_found = list(found.values())
    for third, name in enumerate(("fewest commas", "between", "most commas")):
        begin, end = (len(books_found) * (third + i) // 3 for i in range(2))
        print(sum(books_found[begin:end], Commas()).line(f"{end - begin} books: {name}"))


if __name__ == "__main__":
    run_script(main, __doc__)
