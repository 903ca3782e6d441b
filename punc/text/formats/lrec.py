"""One word per line: `word<TAB>LABEL`.

These repairs of broken lines are counted:

- A label without a word goes to the previous word. If that word then has several labels, the strongest wins.
- A word without a label gets the empty label.
- If a line contains several words, the last word gets the label, and the others get the empty label.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial

from punc.data.labels import LabelSet
from punc.text.format import PrepareOptions, TextFormat
from punc.text.passages import Memo, Passage, Unreadable
from punc.text.prose import Parts, legal


class Format(TextFormat):
    """Reads words and labels."""

    def __init__(self, options: PrepareOptions):
        super().__init__(options)
        self._memo = Memo(partial(read_line, labels=self.reader.labels))

    def passages(self, text: str, line_start: bool, repairs: Counter[str]) -> Iterator[Passage]:
        for stream, part in self.streams(text, line_start):
            lines = part.removesuffix("\n").split("\n")
            yield self._memo.read(lines, self.reader.attach, repairs)._replace(stream=stream)

    def position(self, text: str, fault: str) -> int:
        return f"\n{text}\n".find(f"\n{fault}\n")


def read_line(line: str, labels: LabelSet) -> Parts:
    """Return the words and labels of a line. Raises Unreadable for an unknown label."""
    word, tab, label = line.rpartition("\t")
    if not line.strip():
        return Parts("", "", "")
    if not tab:
        *words, label = line.split()
        if not words or label not in labels.names:
            words, label = [*words, label], labels[0].name
        repair = "lines without a tab, taken as words" + (" and a label" if label != labels[0].name else "")
    else:
        words = word.split()
        label = label.strip()
        repair = ""
        if label not in labels.names:
            raise Unreadable(f"label '{label}' is not in the label set", "add it to labels.txt, or fix the line", line)
    if not words:
        return Parts(label, "", "", "lines with a label but no word; the label goes to the previous word")
    if len(words) > 1 and not repair:
        repair = "lines with several words, split"
    found = [labels[0].name] * (len(words) - 1) + [label]
    return Parts("", " ".join(map(legal, words)), " ".join(found), repair)
