"""Label sets define which marks are read as each label, and how each label is written.

A label set is a file, `labels.txt`, with one label per line. The weakest label comes first:

    # label   written  marks that are read as this label
    O         w
    COMMA     w,       , : - –
    PERIOD    w.       . ; !
    QUESTION  w?       ?

The first label is the empty label, which stands for no mark. The second column shows how a word is written with the
label: `w` stands for the unchanged word, and `W` for the word with a capital. For example, `W,` is a capitalized word
with a comma, and `¿W` is a capitalized word that begins a Spanish question. If a slot has several marks, it gets the
strongest of their labels, which is the one furthest down in the file.

A data directory records its label set in `punct.labels`. Commands compare this record with the label set that they are
given.
"""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_file, read_lines

MOST = 127  # the maximum number of labels in a set
# A mark ends a sentence if it contains one of these characters: most of Unicode's Sentence_Terminal, and the ellipsis.
SENTENCE_ENDS = frozenset(".!?…‼⁇⁈⁉։؟۔।॥။።፧。！．？｡")


def with_capital(word: str) -> str:
    """Return the word with its first letter in title case. Upper case would turn ß into SS instead of Ss."""
    return word[:1].title() + word[1:]


@dataclass(frozen=True)
class Label:
    """A label: its name, its pattern from the second column, and the marks that are read as this label."""

    name: str
    written: str
    marks: tuple[str, ...] = ()

    @property
    def capital(self) -> bool:
        return "W" in self.written

    @property
    def opening(self) -> str:
        """The characters that are written before the word, such as ¿. Most labels have none."""
        return self.written.partition("W" if self.capital else "w")[0]

    @property
    def mark(self) -> str:
        """The mark that is written after the word. It may be empty."""
        return self.written.partition("W" if self.capital else "w")[2]

    def write(self, word: str) -> str:
        if self.capital:
            return self.written.replace("W", with_capital(word), 1)
        return self.written.replace("w", word, 1)


@dataclass(frozen=True)
class LabelSet:
    """A list of labels, weakest first. Raises InputError if there are more than MOST labels, the first label is not the
    empty one, two labels have the same name, or a mark is read as two labels with the same case and opening."""

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
        """Read a `labels.txt`. Raises InputError for a line that is not a label, and for an invalid label set."""
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
        return any(label.capital for label in self.labels)

    @property
    def sentence_ends(self) -> frozenset[str]:
        """The names of the labels that end a sentence: those whose `mark` contains a character of SENTENCE_ENDS."""
        return frozenset(label.name for label in self.labels if SENTENCE_ENDS & set(label.mark))

    @property
    def marks(self) -> frozenset[str]:
        return frozenset(mark for mark, _, _ in self._reading if mark)

    @property
    def openings(self) -> frozenset[str]:
        return frozenset(label.opening for label in self.labels if label.opening)

    def index(self, name: str) -> int:
        """Return the index of the label `name`. Raises KeyError for a name that is not in the set."""
        return self._index[name]

    def strongest(self, names: Iterable[str]) -> str:
        """Return the name of the strongest of the labels `names`, or of the empty label if `names` is empty."""
        return self.labels[max(map(self._index.__getitem__, names), default=0)].name

    def reading(self, marks: Iterable[str], capital: bool = False, opening: str = "") -> str:
        """Return the name of the strongest label for a word that is followed by `marks`. Unknown marks are ignored.

        capital   whether the word begins with a capital; ignored if the label set has no capitals
        opening   the characters before the word; ignored if no label has this opening with the same case and mark
        """
        capital = capital and self.cased
        plain = self._reading.get(("", capital, opening), self._reading.get(("", capital, ""), 0))
        keys = [(m, capital, opening if (m, capital, opening) in self._reading else "") for m in marks]
        known = [self._reading[key] for key in keys if key in self._reading]
        return self.labels[max(known, default=plain)].name


logger = logging.getLogger(__name__)
RECORD = "punct.labels"


def check_record(path: StrPath, labels: LabelSet, remedy: str = "prepare it again") -> None:
    """Compare the recorded label set of the data directory `path` with `labels`. Raises InputError if a recorded label
    is not in `labels` or is written differently. Warns about other differences, because they may be intended."""
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
    """Warn if the label set of the data directory `path` differs from `labels`, the label set of a model."""
    record = Path(path) / RECORD
    if record.is_file() and (own := LabelSet.read(record)) != labels:
        logger.warning("%s: the model has another label set: %s", record, difference(labels, own))


def difference(one: LabelSet, other: LabelSet) -> str:
    """Describe how the label set `one` differs from `other`. In the description, "it" is `one`."""
    if more := [name for name in other.names if name not in one.names]:
        return f"it lacks {' '.join(more)}"
    if less := [name for name in one.names if name not in other.names]:
        return f"it also has {' '.join(less)}"
    changed = [label.name for label in other if label != one[one.index(label.name)]]
    return f"it has other marks for {' '.join(changed)}" if changed else "the labels have another order"
