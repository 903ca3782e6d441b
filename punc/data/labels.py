"""Label sets: which marks are read as which label, and how a label is written.

A label set is a file, `labels.txt`, with one label per line, the weakest label first:

    # label   written  marks that are read as this label
    O         w
    COMMA     w,       , : - –
    PERIOD    w.       . ; !
    QUESTION  w?       ?

The first label is the empty label: nothing is written in the slot. The second column shows how a word is written with
the label: `w` is the unchanged word, and `W` is the word with its first letter in upper case, so `W,` is a capitalized
word with a comma. Characters before `w` or `W` are written before the word: `¿W` is a capitalized word that begins a
Spanish question. Labels further down are stronger: if a slot has several marks, the strongest label wins.

A data directory records its label set in `punct.labels`. Programs compare it with the label set that they are given.
"""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_file, read_lines

MOST = 127  # the maximum number of labels in a set
# A mark with one of these characters ends a sentence: most of Unicode's Sentence_Terminal, and the ellipsis.
SENTENCE_ENDS = frozenset(".!?…‼⁇⁈⁉։؟۔।॥။።፧。！．？｡")


def with_capital(word: str) -> str:
    """Returns the word with its first letter in title case. (Upper case would turn one letter ß into two.)"""
    return word[:1].title() + word[1:]


@dataclass(frozen=True)
class Label:
    """One label: its name, how it is written (see above), and the marks that are read as this label."""

    name: str
    written: str
    marks: tuple[str, ...] = ()

    @property
    def capital(self) -> bool:
        """Whether the word before the slot is written with a capital."""
        return "W" in self.written

    @property
    def opening(self) -> str:
        """The characters that are written before the word, such as ¿; usually none."""
        return self.written.partition("W" if self.capital else "w")[0]

    @property
    def mark(self) -> str:
        """The mark that is written after the word; empty for the empty label."""
        return self.written.partition("W" if self.capital else "w")[2]

    def write(self, word: str) -> str:
        """Returns the word as it is written with this label."""
        if self.capital:
            return self.written.replace("W", with_capital(word), 1)
        return self.written.replace("w", word, 1)


@dataclass(frozen=True)
class LabelSet:
    """The labels of a system, weakest first. Raises InputError if label 0 writes something, if two labels have the
    same name, or if two labels of the same case and opening have the same mark."""

    labels: tuple[Label, ...]
    _index: dict[str, int] = field(init=False, repr=False, compare=False)
    _reading: dict[tuple[str, bool, str], int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", {label.name: i for i, label in enumerate(self.labels)})
        object.__setattr__(self, "_reading", {})
        if self.labels and self.labels[0].written != "w":
            raise InputError(f"the first label, {self.labels[0].name}, is not empty", "begin with a label written w")
        if len(self.labels) > MOST:
            raise InputError(f"more than {MOST} labels", "use fewer: a store keeps a label in one byte")
        if len(self._index) < len(self.labels):
            raise InputError("a label name occurs twice in the label set", "give each label one line")
        for i, label in enumerate(self.labels):
            for mark in (*label.marks, *([] if label.mark else [""])):
                if self._reading.setdefault((mark, label.capital, label.opening), i) != i:
                    raise InputError(f"mark '{mark}' is read as two labels", "name each mark once")

    @classmethod
    def read(cls, path: StrPath) -> "LabelSet":
        """Read a `labels.txt`. Raises InputError for a line that is not a label."""
        labels = []
        for number, line in read_lines(path):
            name, *rest = line.split()
            if not rest or rest[0].count("w") + rest[0].count("W") != 1:
                raise InputError("the line is not a label",
                                 "write NAME, a pattern with one w or W, the marks", path, number)
            labels.append(Label(name, rest[0], tuple(rest[1:])))
        if len(labels) < 2:
            raise InputError("fewer than two labels", "write one label a line, the empty one first", path)
        try:
            return cls(tuple(labels))
        except InputError as error:
            raise InputError(error.what, error.remedy, path) from None

    def write(self, path: StrPath) -> None:
        """Write a `labels.txt`, which `read` reads back as an equal set."""
        with atomic_file(path) as file:
            file.writelines(" ".join((label.name, label.written, *label.marks)) + "\n" for label in self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Label]:
        return iter(self.labels)

    def __getitem__(self, index: int) -> Label:
        return self.labels[index]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(label.name for label in self.labels)

    @property
    def cased(self) -> bool:
        """Whether any label writes a capital."""
        return any(label.capital for label in self.labels)

    @property
    def sentence_ends(self) -> frozenset[str]:
        """The names of the labels that end a sentence: their mark has a character of SENTENCE_ENDS."""
        return frozenset(label.name for label in self.labels if SENTENCE_ENDS & set(label.mark))

    @property
    def marks(self) -> frozenset[str]:
        """All marks that are read as a label."""
        return frozenset(mark for mark, _, _ in self._reading if mark)

    @property
    def openings(self) -> frozenset[str]:
        """All characters that labels write before words."""
        return frozenset(label.opening for label in self.labels if label.opening)

    def index(self, name: str) -> int:
        """Returns the number of a label. Raises KeyError for a name that is not in the set."""
        return self._index[name]

    def strongest(self, names: Iterable[str]) -> str:
        """Returns the strongest of these labels; the empty label if there are none."""
        return self.labels[max(map(self._index.__getitem__, names), default=0)].name

    def reading(self, marks: Iterable[str], capital: bool = False, opening: str = "") -> str:
        """Returns the strongest label that fits a word followed by `marks`. Ignores marks that no label has.

        capital   whether the word begins with a capital; ignored unless the label set has capitals
        opening   the characters before the word; ignored unless a label with this case and mark has this opening
        """
        capital = capital and self.cased
        plain = self._reading.get(("", capital, opening), self._reading.get(("", capital, ""), 0))
        keys = [(m, capital, opening if (m, capital, opening) in self._reading else "") for m in marks]
        known = [self._reading[key] for key in keys if key in self._reading]
        return self.labels[max(known, default=plain)].name


logger = logging.getLogger(__name__)
RECORD = "punct.labels"


def check_record(path: StrPath, labels: LabelSet, remedy: str = "prepare it again") -> None:
    """Raise InputError if a label of the data directory `path` is not in `labels` or is written differently there. Warn
    if the directory has fewer labels or reads other marks as these labels, because this may be intended."""
    record = Path(path) / RECORD
    if not record.is_file():
        return
    known = {label.name: label for label in labels}
    own = LabelSet.read(record)
    for label in own:
        if label.name not in known:
            raise InputError(f"label '{label.name}' is not in the label set, which has {' '.join(labels.names)}",
                             f"{remedy}, or give the label set that it was made with", record)
        if label.written != known[label.name].written:
            raise InputError(f"label '{label.name}' is written {label.written} here, but {known[label.name].written} "
                             "in the label set", f"{remedy}, or give the label set that it was made with",
                             record)
    if own != labels:
        logger.warning("%s: made with another label set: %s; %s if this is not intended", record,
                       difference(own, labels), remedy)


def note_record(path: StrPath, labels: LabelSet) -> None:
    """Warn if the data directory `path` was not made with `labels`, the label set of a model."""
    record = Path(path) / RECORD
    if record.is_file() and (own := LabelSet.read(record)) != labels:
        logger.warning("%s: the model has another label set: %s", record, difference(labels, own))


def difference(one: LabelSet, other: LabelSet) -> str:
    """Describes how the label set `one` ("it") differs from the label set `other`."""
    if more := [name for name in other.names if name not in one.names]:
        return f"it lacks {' '.join(more)}"
    if less := [name for name in one.names if name not in other.names]:
        return f"it also has {' '.join(less)}"
    changed = [label.name for label in other if label != one[one.index(label.name)]]
    return f"it has other marks for {' '.join(changed)}" if changed else "the labels have another order"
