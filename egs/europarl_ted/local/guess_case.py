#!/usr/bin/env python3
"""usage: local/guess_case.py LABELS-FILE CASED-DATA-DIR OUT-DIR DATA-DIR …

Guesses the capitals of the lower-case directories DATA-DIR, and joins these directories with CASED-DATA-DIR. A word
gets a capital at the beginning of a sentence. Inside a sentence, a word gets a capital if it has one in more than half
of its occurrences inside the sentences of CASED-DATA-DIR, whatever the neighbouring words are.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from punc.base.errors import InputError
from punc.bin.script import run_script
from punc.data.datadir import DataDir, Utterance, label_numbers, write_data_dir
from punc.data.labels import LabelSet


def slots(data: DataDir, labels: LabelSet) -> Iterator[tuple[Utterance, list[bool]]]:
    """Yield each utterance, and for each of its words whether the word begins a sentence.

    Raises InputError if the directory has no labels, or if one of its labels is not in the label set.
    """
    if not data.has_labels:
        raise InputError("no labels", "add the file punct", data.path)
    last, stream, begins = labels.sentence_ends, "", True
    for utterance in data.utterances():
        label_numbers([utterance], labels, data.path)  # checks the labels
        after = [name in last for name in utterance.labels]
        yield utterance, [begins or utterance.stream != stream, *after[:-1]]
        stream, begins = utterance.stream, after[-1]


def capitalized(data: DataDir, labels: LabelSet) -> set[str]:
    """Return the words that have a capital in most of their occurrences inside sentences."""
    capitals, balance = {label.name for label in labels if label.capital}, Counter()
    for utterance, begins in slots(data, labels):
        for word, name, first in zip(utterance.words, utterance.labels, begins):
            if not first:
                balance[word] += 1 if name in capitals else -1
    return {word for word, more in balance.items() if more > 0}


def with_case(data: DataDir, labels: LabelSet, words: set[str]) -> Iterator[Utterance]:
    """Yield the utterances with labels for marks and case. The first word of a sentence gets a capital; words in
    `words` get one everywhere."""
    capital = {label.name: labels.reading(label.mark, capital=True) for label in labels}
    for utterance, begins in slots(data, labels):
        yield utterance._replace(labels=[capital[name] if word in words or (first and word[0].isalpha()) else name
                                         for word, name, first in zip(utterance.words, utterance.labels, begins)])


def together(sets: Sequence[tuple[DataDir, Iterable[Utterance]]]) -> Iterator[Utterance]:
    """Yield the utterances of all directories. Ids of utterances and streams get the directory's name as a prefix."""
    named = sorted(((data.path.name, utterances) for data, utterances in sets), key=lambda pair: pair[0].encode())
    for name, utterances in named:
        for utterance in utterances:
            yield utterance._replace(id=f"{name}-{utterance.id}", stream=f"{name}-{utterance.stream}")


def main(labels_file: str, cased: str, out: str, *others: str) -> None:
    labels, cased = LabelSet.read(labels_file), DataDir(cased)
    words = capitalized(cased, labels)
    print(f"{cased.path}: {len(words)} words with a capital within sentences", file=sys.stderr)
    guessed = [(data, with_case(data, labels, words)) for data in map(DataDir, others)]
    write_data_dir(out, together([(cased, cased.utterances()), *guessed]))


if __name__ == "__main__":
    run_script(main, __doc__)
