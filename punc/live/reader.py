"""Text that comes in pieces of any size, as items of live input."""

from punc.base.errors import InputError
from punc.live.input import BLANKS, CtmReader, End, Item, JsonReader, kind_of, read_words


class ItemReader:
    """Reads text: words are whole by the blank after them, all else by the line end. Bad lines are left out.

    source   the name of the input, for errors
    kind     what the input is (`input.INPUTS`); None: what its begin says
    """

    def __init__(self, source: str, kind: str | None = None):
        self._source, self.kind = source, kind
        self._lines: dict[str, CtmReader | JsonReader] = {"ctm": CtmReader(), "json": JsonReader()}
        self._rest: list[str] = []  # the begin of a word or a line
        self._number, self._in_line = 0, False
        self._errors: list[InputError] = []

    def take_errors(self) -> list[InputError]:
        """What was wrong with the lines that were left out, since the last call."""
        errors, self._errors = self._errors, []
        return errors

    def feed(self, text: str, whole: bool = False) -> list[Item]:
        """The items that are whole with the next piece.

        whole   nothing comes after it that could say what the input is
        """
        if self.kind is None:
            text, self._rest = "".join([*self._rest, text]), []
            self.kind = kind_of(text, whole) if text.strip(BLANKS) else None
            if self.kind is None:
                self._rest = [text]
                return []
        return self._of_words(text) if self.kind == "words" else self._of_lines(text)

    def end(self) -> list[Item]:
        """The items of a word, a line or an object that is not whole, because nothing comes after it."""
        items = self.feed("", whole=True)
        if rest := "".join(self._rest):
            self._rest = []
            items += read_words([rest])[:-1] if self.kind == "words" else self._of_lines(rest + "\n")
        if self.kind == "json":
            items += self._line(None)
        return items

    def _cut(self, text: str, ends: str) -> str:
        """All up to the last of some characters; the rest is kept, and comes first the next time."""
        cut = max(map(text.rfind, ends)) + 1
        if not cut:
            self._rest.append(text)
            return ""
        whole = "".join([*self._rest, text[:cut]])
        self._rest = [text[cut:]] if cut < len(text) else []
        return whole

    def _of_words(self, text: str) -> list[Item]:
        items: list[Item] = []
        *lines, last = self._cut(text, BLANKS).split("\n")
        for line in lines:
            of_line = read_words([line])
            # Without a word since the last line end, the line is empty.
            items += [*of_line[:-1], End.UTTERANCE if self._in_line else of_line[-1]]
            self._in_line = False
        of_line = read_words([last])[:-1]
        self._in_line = self._in_line or bool(of_line)
        return items + of_line

    def _of_lines(self, text: str) -> list[Item]:
        return [item for line in self._cut(text, "\n").split("\n")[:-1] for item in self._line(line)]

    def _line(self, line: str | None) -> list[Item]:
        """The items of a line; of None, those of an object that has no end."""
        reader = self._lines[self.kind or "json"]
        try:
            if line is None:
                return reader.end(self._source)
            self._number += 1
            return reader.read(line, self._number, self._source)
        except InputError as error:
            self._errors.append(error)
            return []
