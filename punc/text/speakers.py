"""Who speaks, in a text: the labels of speakers at the beginnings of lines, and the ends of turns."""

import re
from collections.abc import Iterator

import numpy as np

CHANGES = "changes of speaker"  # a count of `punc prepare`


class SpeakerLabels:
    """Labels of speakers such as `#speaker Ann` or `ANN:`, found by a regular expression at the beginning of a line.

    A speaker's name is the expression's first group, or all that it matches. An empty expression finds none.
    """

    def __init__(self, expression: str):
        self._label = re.compile(f"^(?:{expression})", re.MULTILINE) if expression else None

    def split(self, text: str, line_start: bool) -> Iterator[tuple[str | None, str, bool]]:
        """Parts of a text without the labels, each with the name of who speaks, None before the first label, and with
        whether the part begins at the beginning of a line.

        line_start   whether the text does
        """
        if self._label is None:
            yield None, text, line_start
            return
        name, begin = None, 0
        for label in self._label.finditer(text, 0):
            if (label.start() == 0 and not line_start) or not label[0]:
                continue
            if begin < label.start():
                yield name, text[begin:label.start()], line_start
            name = (label[1] if label.re.groups else label[0]) or ""
            line_start = text.startswith("\n", label.end())
            begin = label.end() + line_start
        yield name, text[begin:], line_start


class TurnFlags:
    """The flags of the words that wait to be cut into utterances: whether another speaker says the next word.

    The first speaker of a stream may not be known; then no change is.
    """

    def __init__(self) -> None:
        self._flags: list[bool] = []
        self._now: str | None = None  # who speaks
        self._last: str | None = None  # who said the last word

    def begin_stream(self) -> None:
        """Forget who spoke in the stream before."""
        self._now = self._last = None

    def follow(self, speaker: str | None, words: bool) -> None:
        """A speaker begins, or goes on if None; if words follow, this flags the last word that waits."""
        self._now = self._now if speaker is None else speaker
        if words and self._flags and self._last is not None:
            self._flags[-1] = self._now != self._last

    def append(self, words: int) -> None:
        """These words of the speaker wait too; their flags are not set."""
        if words:
            self._flags += [False] * words
            self._last = self._now

    def take(self, size: int) -> np.ndarray:
        """The flags of the first words that wait, bool (size,), or fewer if fewer wait; they wait no more."""
        taken = np.array(self._flags[:size], bool)
        del self._flags[:size]
        return taken
