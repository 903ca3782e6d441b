"""How words are written that one capital in front does not make right: NATO, McDonald, iPhone.

A label says whether a word's first letter is a capital, and no more. The rest is in a table, which is learned from a
text with its case (`punc prepare --lowercase false`): the form that such a word is most often written in. A line of its
file is the word as its label alone would write it, and how it is written:

    Nato NATO
    Us US          with a capital: it is `us` without one, and `us` has no line
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
    """The table of a text: word as labels write it → form, for the words whose form that is not.

    min_count  times that a form is found, at least

    Of forms that are as frequent, the one without more capitals counts. An utterance without a small letter says
    nothing. Memory is that of the different words. Raises InputError for a directory without labels, or with others.
    """
    counts = Counter()
    for data in sets:
        if not data.has_labels:
            raise InputError("no labels", "it needs a file punct", data.path)
        for utterance in data.utterances():
            if any(map(str.islower, utterance.words)):
                counts.update(zip(utterance.words, utterance.labels))
    forms = defaultdict(Counter)
    for (word, name), count in counts.items():
        if name not in labels.names:
            raise InputError(f"label '{name}' is not in the label set", "give the --labels that it was made with")
        capital = labels[labels.index(name)].capital
        forms[first(word.lower(), capital)][first(word, capital)] += count
    table = {}
    for plain, found in sorted(forms.items()):
        form = max(found, key=lambda form: (found[form], form == plain, form))
        if form != plain and found[form] >= min_count:
            table[plain] = form
    return table


def first(word: str, capital: bool) -> str:
    """The word as a label writes it that says so of its first letter."""
    return with_capital(word) if capital else word


def write_casing(path: str | os.PathLike, table: Mapping[str, str]) -> None:
    """Write a table in the order that it has."""
    with atomic_file(path) as file:
        file.writelines(f"{plain} {form}\n" for plain, form in table.items())


def read_casing(path: str | os.PathLike) -> dict[str, str]:
    """Read a table. Raises InputError for a line that is not a word and the same word in other case."""
    table = {}
    for number, line in read_lines(path):
        plain, _, form = line.partition(" ")
        if not form or " " in form or plain.lower() != form.lower():
            raise InputError("not a word and its form", "write Nato NATO", path, number)
        table[plain] = form
    return table
