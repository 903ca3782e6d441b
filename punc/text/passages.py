"""Passages: stretches of text with labels, on their way from a file to utterances.

Each distinct line or word is analysed once and remembered, so that most tokens cost one look-up.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from punc.text.abbreviations import REACH, Abbreviations, Dot, count_dot
from punc.text.prose import Parts

MEMORY = 150_000  # distinct lines or words to remember: about 45 MB, whatever the size of the corpus


class Unreadable(Exception):
    """Text that no repair can fix; its arguments are what is wrong, what to do, and the text at fault."""


class OpenDot(NamedTuple):
    """The dot of a passage's last word, if only what follows says whether a sentence ends there; else its `label`."""

    dot: Dot
    label: str


class Passage(NamedTuple):
    """Words that follow one another in a stream.

    words, labels  separated by blanks; as many labels as words
    lead, lead_pause  the label (empty for none) and the pause (None for none) of the word before the passage
    stream         name of the stream that begins with this passage, possibly empty; None if no stream begins
    dot            the dot of the last word, whose label is that of a sentence's end; None if it is decided
    """

    words: str
    labels: str
    pauses: np.ndarray | None = None  # float32 (words,), seconds; None if the format has none
    lead: str = ""
    lead_pause: float | None = None
    stream: str | None = None
    end: bool = False  # whether an utterance ends with this passage
    dot: OpenDot | None = None
    first: tuple[str, ...] = ()  # the first tokens, for the open dot of the passage before
    speaker: str | None = None  # who speaks from this passage on; None: as before, or not known


class Memo(dict[str, str]):
    """Remembers the analysis of items (lines or words): item → its words, empty if the item is `special`.

    Those have a lead, a repair, no words, or a dot that may be no mark (by `abbreviations`, if items are tokens).
    """

    def __init__(self, analyse: Callable[[str], Parts], abbreviations: Abbreviations | None = None):
        self.analyse, self.abbreviations = analyse, abbreviations
        self.labels: dict[str, str] = {}
        self.special: dict[str, Parts] = {}
        self.dots: dict[str, tuple[Dot, Parts]] = {}  # item → its dot, and what the item says without the dot

    def __missing__(self, item: str) -> str:
        parts = self.analyse(item)
        if self.abbreviations and (dot := self.abbreviations.dot(item)):
            without = self.analyse(dot.bare)
            if without != parts:  # else the label set does not read the dot, or a stronger mark follows it
                self.dots[item] = dot, without
        if parts.lead or parts.repair or not parts.words or item in self.dots:
            self.special[item] = parts
            self[item] = self.labels[item] = ""
        else:
            self[item], self.labels[item] = parts.words, parts.labels
        return self[item]

    def read(self, items: Sequence[str], attach: Callable[[str, str], str], repairs: Counter[str]) -> Passage:
        """The passage that the items make; `attach(label, lead)` gives a lead to the word before it."""
        words = list(map(self.__getitem__, items))
        lead = ""
        at = -1
        before = -1
        labels = list(map(self.labels.__getitem__, items))
        open_dot = None
        for _ in range(words.count("")):
            last, at = at, words.index("", at + 1)
            parts = self.special[items[at]]
            if at > last + 1:
                before = at - 1
            if items[at] in self.dots:
                label = labels[before] if before >= 0 else ""
                parts, open_dot = self._decide(items, at, label, repairs)
            if parts.repair:
                repairs[parts.repair] += 1
            if parts.lead and before >= 0:
                head, blank, label = labels[before].rpartition(" ")
                labels[before] = head + blank + attach(label, parts.lead)
            elif parts.lead:
                lead = attach(lead, parts.lead) if lead else parts.lead
            words[at], labels[at] = parts.words, parts.labels
            if parts.words:
                before = at
        if len(self) > MEMORY:  # it does not grow with the corpus
            for table in (self, self.labels, self.special, self.dots):
                table.clear()
        first = tuple(items[:REACH]) if self.abbreviations else ()
        return Passage(" ".join(filter(None, words)), " ".join(filter(None, labels)), lead=lead, dot=open_dot,
                       first=first)

    def _decide(self, items: Sequence[str], at: int, label: str,
                counts: Counter[str]) -> tuple[Parts, OpenDot | None]:
        """What an item with a dot says, and its dot if that is open; `label` ends with that of the word before."""
        dot, without = self.dots[items[at]]
        behind = items[at + 1:at + 1 + REACH]
        ends = self.abbreviations.ends(dot, behind) if self.abbreviations else None
        label = (without.labels or label).rpartition(" ")[2]  # an ellipsis that stands alone has no word
        if ends is None and len(behind) < REACH and label:
            return self.special[items[at]], OpenDot(dot, label)
        count_dot(dot, ends is not False, counts)
        return without if ends is False else self.special[items[at]], None
