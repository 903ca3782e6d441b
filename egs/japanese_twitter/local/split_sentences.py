"""Splits lines of Japanese text into sentences."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from punc.data.labels import LabelSet
from punc.text.characters import CharacterReader, Split

ENDS = {"P", "Q", "E"}
BREAK = "__BR__"
OPENING, CLOSING = "「『（(【《〈“", "」』）)】》〉”"


class Sentence(NamedTuple):
    """A sentence as written, and its key. The key is the tokens of the sentence, without marks, as one string."""

    text: str
    key: str


class Line(NamedTuple):
    """The sentences of a line of text or of a whole book. `together` is true for a post or book: its sentences belong
    together."""

    sentences: list[Sentence]
    together: bool


class SentenceReader:
    """Splits lines into sentences.

    A sentence ends after 。, ？ or ！ outside brackets. If one of these marks is the last character inside brackets,
    the sentence ends after the closing brackets, but only if the line ends there or an opening bracket follows. Text
    after the last sentence of a line is dropped.

    line_breaks  how a post's line breaks (BREAK) are read. "stop": a line break ends a sentence, unless it follows a
                 comma, and 。 is added to a line without a mark at its end. "drop": line breaks are ignored
    """

    def __init__(self, labels: LabelSet, line_breaks: str):
        self.reader, self.stop = CharacterReader(labels), line_breaks == "stop"
        self.counts = Counter()

    def line(self, line: str, post: bool) -> Line:
        if post and self.stop:
            parts = [self._stopped(self.reader.split(part)) for part in line.split(BREAK)]
            found = [sentence for part in joined(parts) for sentence in self._sentences(part)]
        else:
            found = list(self._sentences(self.reader.split(line.replace(BREAK, " ") if post else line)))
        return Line(found, post)

    def _stopped(self, split: Split) -> Split:
        """Add 。 if the text does not end with a mark."""
        if split.tokens and split.labels[-1] == "N" and not ended(split):
            split.labels[-1] = "P"
            self.counts["lines of posts that got a full stop"] += 1
        return split

    def _sentences(self, split: Split) -> Iterator[Sentence]:
        begin, depth, marked = 0, 0, False  # marked: the last tokens are a mark and any closing brackets after it
        for i, (token, label) in enumerate(zip(split.tokens, split.labels)):
            depth = max(0, depth + (token in OPENING) - (token in CLOSING))
            marked = label in ENDS or (marked and token in CLOSING)
            after = split.tokens[i + 1] if i + 1 < len(split.tokens) else OPENING[0]
            quoted = label not in ENDS and after not in OPENING  # 「はい。」と言った。 continues after 」
            if marked and not depth and after not in CLOSING and not quoted:
                yield self._sentence(split, begin, i + 1)
                begin, marked = i + 1, False
        if depth and marked:  # the line ends with a mark, but an opening bracket was never closed
            yield self._sentence(split, begin, len(split.tokens))
        elif begin < len(split.tokens):
            self.counts["ends of lines without a mark, dropped"] += 1

    def _sentence(self, split: Split, begin: int, end: int) -> Sentence:
        tokens = split.tokens[begin:end]
        part = Split(tokens, [], ["", *split.rests[begin + 1:end], ""], [])
        return Sentence(self.reader.write(part, split.labels[begin:end]), "".join(tokens))


def ended(split: Split) -> bool:
    """Return whether the text ends with 。, ？ or ！, or with one of these marks and closing brackets."""
    for token, label in zip(reversed(split.tokens), reversed(split.labels)):
        if label in ENDS:
            return True
        if token not in CLOSING:
            return False
    return False


def joined(parts: Iterable[Split]) -> Iterator[Split]:
    """Yield the lines of a post, after joining each line that ends with a comma to the next line."""
    before = Split([], [], [""], [])
    for part in parts:
        before = Split(before.tokens + part.tokens, before.labels + part.labels,
                       before.rests + part.rests[1:], [])
        if before.labels and before.labels[-1] != "C":
            yield before
            before = Split([], [], [""], [])
    if before.tokens:
        yield before
