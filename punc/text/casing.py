"""Words with capitals after the first letter: NATO, McDonald, iPhone.

A label says only whether a word's first letter is a capital. A table has the other capitals: for each such word, its
most frequent form in a text with case (`punc prepare --lowercase false`). A line of the table's file is the word as its
label alone would write it, and its form:

    Nato NATO
    Us US          only with a first capital: `us` has no line
    iphone iPhone
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from punc.base.errors import InputError
from punc.base.files import atomic_file, read_lines
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet, with_capital


def learn(sets: Iterable[DataDir], labels: LabelSet, min_count: int = 2) -> dict[str, str]:
    """Learn a table: word as its label writes it → form, for the words whose form differs.

    min_count  occurrences of a form below which it is ignored

    Among equally frequent forms, the one without more capitals wins. Utterances without a lower-case letter are
    skipped. Memory grows with the number of distinct words. Raises InputError for a directory without labels, or with
    labels that are not in the set.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for data in sets:
        if not data.has_labels:
            raise InputError("no labels", "it needs a file punct", data.path)
        for utterance in data.utterances():
            if any(map(str.islower, utterance.words)):
                counts.update(zip(utterance.words, utterance.labels or ()))
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (word, name), count in counts.items():
        if name not in labels.names:
            raise InputError(f"label '{name}' is not in the label set", "give the one that the text was made with")
        capital = labels[labels.index(name)].capital
        forms[first(word.lower(), capital)][first(word, capital)] += count
    table = {}
    for plain, found in sorted(forms.items()):
        form = max(found, key=lambda form: (found[form], form == plain, form))
        if form != plain and found[form] >= min_count:
            table[plain] = form
    return table


def first(word: str, capital: bool) -> str:
    """The word with a capital first, or as it is."""
    return with_capital(word) if capital else word


def write_casing(path: str | os.PathLike, table: Mapping[str, str]) -> None:
    """Write a table, in its order."""
    with atomic_file(path) as file:
        file.writelines(f"{plain} {form}\n" for plain, form in table.items())


def read_casing(path: str | os.PathLike) -> dict[str, str]:
    """Read a table. Raises InputError for a line that is not a word and the same word in another case."""
    table = {}
    for number, line in read_lines(path):
        plain, _, form = line.partition(" ")
        if not form or " " in form or plain.lower() != form.lower():
            raise InputError("not a word and its form", "write, for example, Nato NATO", path, number)
        table[plain] = form
    return table
