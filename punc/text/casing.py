"""Writes words that have capitals after the first letter: NATO, McDonald, iPhone.

A label only states whether a word's first letter is a capital. The other capitals come from a table, which
utils/learn_casing.py learns from a cased text. Each line of the table contains a word as its label alone would write
it, then the word's most frequent form:

    Nato NATO
    Us US          for a label with a capital; `us` has no line, so it does not change
    iphone iPhone

A line also applies to the word with 's: NATO's.
"""

import os
from collections.abc import Iterable, Mapping, Sequence

from punc.base.errors import InputError, StrPath
from punc.base.files import read_lines
from punc.data.labels import Label, LabelSet, with_capital
from punc.text.prose import written

OWNER = "'s"  # the ending of possessives


def first(word: str, capital: bool) -> str:
    return with_capital(word) if capital else word


def read_casing(path: StrPath) -> dict[str, str]:
    """Read a table. Raises InputError unless each line consists of a word and the same word with other capitals."""
    table = {}
    for number, line in read_lines(path):
        plain, _, form = line.partition(" ")
        if not form or " " in form or plain.lower() != form.lower():
            raise InputError("the line is not a word and its form", "write, for example, Nato NATO", path, number)
        table[plain] = form
    return table


class Casing:
    """Writes words with the capitals and marks of their labels, and with the forms in a casing table.

    sentences  also write a capital at the start of a stream and after the end of a sentence, whatever the label states
    """

    def __init__(self, labels: LabelSet, table: Mapping[str, str], sentences: bool = False):
        self.table, self.sentences, self._label_set = table, sentences, labels
        self._labels = {label.name: label for label in labels}
        self._ends = labels.sentence_ends
        # The input forms of all words that the table may change. `write` looks up only these in the table.
        self._words = {form + end for plain in table for form in (plain, plain[:1].lower() + plain[1:])
                       for end in ("", OWNER)}
        self.begins = True  # whether the next word begins a sentence

    @classmethod
    def read(cls, labels: LabelSet, path: StrPath, sentences: bool = False) -> "Casing":
        """Read the table from a file; a missing file counts as empty. Raises InputError for an invalid table."""
        return cls(labels, read_casing(path) if os.path.isfile(path) else {}, sentences)

    def write_word(self, word: str, label: Label) -> str:
        """Return the text of a word with the mark of its label, and with the capitals of its label or of the table."""
        if word not in self._words:
            return label.write(word)
        for stem, end in ((word, ""), (word.removesuffix(OWNER), OWNER)):
            # `iphone` becomes iPhone with any label.
            form = self.table.get(first(stem, label.capital), self.table.get(stem))
            if form is not None:
                return label.opening + form + end + label.mark
        return label.write(word)

    def write(self, words: Sequence[str], names: Sequence[str], starts: Iterable[int] = ()) -> list[str]:
        """Return the text of each word. `names`: the labels' names; `starts`: indices of words that begin streams."""
        texts = written(words, names, self._label_set)
        known = self._words
        for i in [i for i, word in enumerate(words) if word in known] if known else ():
            texts[i] = self.write_word(words[i], self._labels[names[i]])
        if self.sentences and texts:
            begins = [i for i, name in enumerate(names, 1) if name in self._ends]
            for i in {*begins, *starts, *([0] if self.begins else ())} - {len(texts)}:
                texts[i] = with_capital(texts[i]) if texts[i] == texts[i].lower() else texts[i]  # iPhone stays iPhone
            self.begins = names[-1] in self._ends
        return texts
