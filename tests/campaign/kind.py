"""A kind of input in the campaign: how inputs are made, how the program reads them, and which words are counted.

A counted word consists of `qz`, three letters and `q`. Every reader leaves it unchanged, and nothing else looks like
it.
"""

import importlib.util
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORD = re.compile(rb"(?=(qz[a-p]{3}q))")  # the lookahead finds counted words that overlap by a letter
LABELS = "O w\nCOMMA w, ,\nPERIOD w. . !\nQUESTIONMARK w? ?\n"
NAMES = ("O", "COMMA", "PERIOD", "QUESTIONMARK")


@dataclass
class Read:
    """Words that were read, as bytes, and the number of words that messages report as left out."""

    words: bytes = b""
    named: int = 0


@dataclass(frozen=True)
class Kind:
    """A kind of input.

    name     name in the printed table
    make     writes valid files to a folder, using random numbers
    read     reads the files as the program does; returns None if there are no words to count
    mutated  names of files; one of them is mutated
    visible  returns the part of a file that contains words; None: words are not counted
    alter    changes the structure of the files in a folder; None: files are changed only by `mutate.mutated`
    share    how many inputs are of this kind, relative to other kinds
    """

    name: str
    make: Callable[[Path, random.Random], None]
    read: Callable[[Path, random.Random], Read | None]
    mutated: tuple[str, ...]
    visible: Callable[[bytes], bytes] | None = None
    alter: Callable[[Path, random.Random], None] | None = None
    share: int = 8


def word(rng: random.Random) -> str:
    return "qz" + "".join(rng.choices("abcdefghijklmnop", k=3)) + "q"


def words(rng: random.Random, number: int) -> list[str]:
    return [rng.choice(("a", "the", "é", "3.5", "it's", word(rng), word(rng))) for _ in range(number)]


def counted(text: bytes) -> Counter[bytes]:
    """Count words such as `qzabcq` in a text. Of words without a space between them, only the first is counted."""
    return Counter(match[1] for match in map(WORD.search, text.split()) if match)


def found(text: bytes) -> Counter[bytes]:
    return Counter(WORD.findall(text))


def named(counts: Counter[str]) -> int:
    """Return the sum of the counts in messages about what was left out, removed or dropped."""
    return sum(number for what, number in counts.items() if re.search(r"left out|removed|dropped", what))


def changed(content: Any, rng: random.Random, values: Sequence[Any], odd: Sequence[str] = (),
            other: Callable[[Any], Any] = lambda value: None) -> Any:
    """Return a copy of nested dictionaries and lists in which one value is changed, left out or doubled.

    odd      strings that may replace a string or be added to it
    other    takes a value that `odd` has not changed, and returns its replacement, or None
    values   replacements, used where `other` returns None
    """
    if isinstance(content, dict | list) and content and rng.randrange(10):
        items = dict(content) if isinstance(content, dict) else dict(enumerate(content))
        key, choice = rng.choice([*items]), rng.randrange(8)
        if choice == 0:
            del items[key]
        elif choice == 1:
            items[f"{key}" if isinstance(content, dict) else len(items)] = rng.choice([*items.values()])
        else:
            items[key] = changed(items[key], rng, values, odd, other)
        return items if isinstance(content, dict) else [*items.values()]
    if isinstance(content, str) and odd and rng.randrange(4):
        return rng.choice((*odd, content + rng.choice(odd), rng.choice(odd) + content))
    new = other(content)
    return rng.choice(values) if new is None else new


def all_kinds() -> Iterator[Kind]:
    for path in sorted(Path(__file__).parent.glob("inputs_*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield from module.kinds()
