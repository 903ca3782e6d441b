#!/usr/bin/env python3
"""usage: utils/learn_casing.py LABELS-FILE CASED-DATA-DIR OUT [TABLE]

Learns from a cased text (`punc prepare --lowercase false`) how to write words with capitals after the first letter
(punc.text.casing). Writes the learned spellings to OUT. If TABLE is given, its entries are added; they replace learned
spellings of the same words.
"""

import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import atomic_file
from punc.bin.script import run_script
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.text.casing import first, read_casing


def learn(sets: Iterable[DataDir], labels: LabelSet, min_count: int = 2) -> dict[str, str]:
    """Learn a table that maps a word, capitalised as its label says, to its usual spelling, if the two differ.

    min_count  spellings that occur fewer times than this are ignored

    The usual spelling must account for at least two thirds of all uses of the word, in lower case or with capitals: CAT
    is not the usual spelling of `cat`, even if most capitalised occurrences are CAT. Utterances without a word in lower
    case are skipped. Memory grows with the number of different words. Raises InputError for a directory without labels,
    or with labels that are not in `labels`.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for data in sets:
        if not data.has_labels:
            raise InputError("no labels", "add the file punct", data.path)
        for utterance in data.utterances():
            if any(map(str.islower, utterance.words)):
                counts.update(zip(utterance.words, utterance.labels or ()))
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    uses: Counter[str] = Counter()
    for (word, name), count in counts.items():
        if name not in labels.names:
            raise InputError(f"label '{name}' is not in the label set", "give the one that the text was made with")
        capital = labels[labels.index(name)].capital
        forms[first(word.lower(), capital)][first(word, capital)] += count
        uses[word.lower()] += count
    table = {}
    for plain, found in sorted(forms.items()):
        form, count = found.most_common(1)[0]
        if form != plain and count >= min_count and 3 * count >= 2 * uses[plain.lower()]:
            table[plain] = form
    return table


def write_casing(path: str | os.PathLike, table: Mapping[str, str]) -> None:
    """Write the entries of a table to a file, in the table's order."""
    with atomic_file(path) as file:
        file.writelines(f"{plain} {form}\n" for plain, form in table.items())


def main(labels: Path, cased: Path, out: Path, table: str = "") -> None:
    learned = learn([DataDir(cased)], LabelSet.read(labels)) | (read_casing(table) if table else {})
    write_casing(out, learned)
    print(f"{out}: {len(learned)} words", file=sys.stderr)


if __name__ == "__main__":
    run_script(main, __doc__)
