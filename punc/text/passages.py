"""Passages: stretches of text with labels, on their way from a file to utterances.

Each distinct line or word is analysed once and remembered, so that most tokens cost one look-up.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from punc.text.prose_reader import Parts

MEMORY = 150_000  # distinct lines or words to remember: about 45 MB, whatever the size of the corpus


class Unreadable(Exception):
    """Text that no repair can fix; its arguments are what is wrong, what to do, and the text at fault."""


class Passage(NamedTuple):
    """Words that follow one another in a stream.

    words, labels  separated by blanks; as many labels as words
    pauses         float32 (words,), seconds; None if the format has none
    lead           name of the label for the word before the passage; empty for none
    lead_pause     pause after the word before the passage; None for none
    stream         name of the stream that begins with this passage, possibly empty; None if no stream begins
    end            whether an utterance ends with this passage
    speaker        who speaks from this passage on; None: as before, or not known
    """

    words: str
    labels: str
    pauses: np.ndarray | None = None
    lead: str = ""
    lead_pause: float | None = None
    stream: str | None = None
    end: bool = False
    speaker: str | None = None


class Memo(dict[str, str]):
    """Remembers the analysis of items (lines or words): item → its words, empty if the item is special.

    analyse   item → its parts, and the repair that was made (empty for none)

    `labels` maps each item to its labels. `special` holds the analysis of items that need more than a look-up:
    those with a lead, with a repair, or without words.
    """

    def __init__(self, analyse: Callable[[str], tuple[Parts, str]]):
        self.analyse = analyse
        self.labels: dict[str, str] = {}
        self.special: dict[str, tuple[Parts, str]] = {}

    def __missing__(self, item: str) -> str:
        parts, repair = self.analyse(item)
        if parts.lead or repair or not parts.words:
            self.special[item] = parts, repair
            self[item] = self.labels[item] = ""
        else:
            self[item], self.labels[item] = parts.words, parts.labels
        return self[item]

    def forget(self) -> None:
        """Forget everything once there are more than MEMORY items, so that memory does not grow with the corpus."""
        if len(self) > MEMORY:
            self.clear()
            self.labels.clear()
            self.special.clear()

    def read(self, items: Sequence[str], attach: Callable[[str, str], str], repairs: Counter[str]) -> Passage:
        """The passage that the items make; `attach(label, lead)` gives a lead to the word before it."""
        words, lead, at, before = list(map(self.__getitem__, items)), "", -1, -1
        labels = list(map(self.labels.__getitem__, items))
        for _ in range(words.count("")):
            last, at = at, words.index("", at + 1)
            parts, repair = self.special[items[at]]
            if repair:
                repairs[repair] += 1
            if at > last + 1:
                before = at - 1
            if parts.lead and before >= 0:
                head, blank, label = labels[before].rpartition(" ")
                labels[before] = head + blank + attach(label, parts.lead)
            elif parts.lead:
                lead = attach(lead, parts.lead) if lead else parts.lead
            words[at], labels[at] = parts.words, parts.labels
            if parts.words:
                before = at
        self.forget()
        if at >= 0:
            words, labels = list(filter(None, words)), list(filter(None, labels))
        return Passage(" ".join(words), " ".join(labels), lead=lead)
