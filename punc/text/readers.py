"""Raw punctuated text, in blocks of bytes, to pieces of words, labels and pauses.

Formats:

    prose       punctuated text
    characters  punctuated text without blanks between words: every character is a token (punc.text.characters)
    lrec        one word a line: `word<TAB>LABEL`
    sil         blank-separated words, pauses and marks: `word <sil=0.123> ,COMMA word .PERIOD`
    mteval      XML: `<doc docid="…">` is a stream, `<seg>` an utterance of prose

Repairs, each counted:

- Bytes that are not UTF-8 are removed; where a converter put `?` for the last byte of a character, it goes too.
- Carriage returns are line ends.
- A broken `lrec` line: without a word, its label goes to the word before (the strongest wins); without a
  label, its word has the empty label; with several words, the last has the label.
- A negative pause, and negative zero, is 0.
- A mark before a stream's first word, or (`sil`) one that the label set does not read, is dropped.
"""

import html
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from punc.base.errors import InputError
from punc.data.labels import LabelSet
from punc.text.characters import CharacterReader
from punc.text.chunks import Memo, Piece, Unreadable
from punc.text.prose_reader import Parts, TextReader, legal

CUT_CHARACTER = re.compile("[\udcc2-\udcf4][\udc80-\udcbf]+[?]|[\udc80-\udcff]")
SILENCE = re.compile(r"<sil=([^>]*)>")
SPELT_MARK = re.compile(r"([^\w\s<]+)[A-Z]{4,}")
TAG = re.compile(r"<doc\b([^>]*)>|<seg\b[^>]*>([^<]*(?:<(?!/?seg\b)[^<]*)*)</seg\s*>", re.IGNORECASE)
DOCID = re.compile(r"""docid\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.IGNORECASE)


@dataclass(frozen=True)
class RawFormat:
    """How raw text is read; see the module and the options of `punc prepare`.

    lines   every line (`mteval`: always every `<seg>`) is an utterance
    doc     a line that begins so begins a new stream, which the rest of the line names; empty: no line does
    skip    lines that begin so are left out; empty: none is
    delete  text that this regular expression matches is left out; empty: none is
    named   the stream of a file has the file's name, without its ending and without a number
    """

    name: str
    reader: TextReader
    lines: bool = False
    document_prefix: str = ""
    skip_prefix: str = ""
    remove: str = ""
    keep_names: bool = False

    @property
    def utterances(self) -> bool:
        """Whether the text has utterances of its own."""
        return self.lines or self.name == "mteval"

    @property
    def delimiter(self) -> bytes:
        """What blocks of the input end with."""
        return b"</seg>" if self.name == "mteval" else b"\n"


def decode(block: bytes, repairs: Counter) -> str:
    """A block as text with plain line ends. Raises InputError for a NUL byte."""
    if (at := block.find(b"\0")) >= 0:
        raise InputError("a NUL byte", "convert the text to UTF-8: iconv -f UTF-16 -t UTF-8",
                         line=block.count(b"\n", 0, at) + 1)
    try:
        text = block.decode()
    except UnicodeDecodeError:
        text, count = CUT_CHARACTER.subn("", block.decode("utf-8", "surrogateescape"))
        repairs["bytes or cut characters that are not UTF-8, removed"] += count
    if "\r" in text:
        repairs["carriage returns, taken as line ends"] += text.count("\r")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.removeprefix("\ufeff")


def lrec_line(line: str, labels: LabelSet) -> tuple[Parts, str]:
    """What a line of an `lrec` file says, and how it was repaired. Raises Unreadable for an unknown label."""
    word, tab, label = line.rpartition("\t")
    if not line.strip():
        return Parts("", "", ""), ""
    if not tab:
        *words, label = line.split()
        if not words or label not in labels.names:
            words, label = [*words, label], labels[0].name
        repair = "lines without a tab, taken as words" + (" and a label" if label != labels[0].name else "")
    else:
        words, label, repair = word.split(), label.strip(), ""
        if label not in labels.names:
            raise Unreadable(f"label '{label}' is not in the label set", "add it to labels.txt, or mend the line", line)
    if not words:
        return Parts(label, "", ""), "lines with a label and no word, given to the word before"
    if len(words) > 1 and not repair:
        repair = "lines with several words, split"
    return Parts("", " ".join(map(legal, words)), " ".join([labels[0].name] * (len(words) - 1) + [label])), repair


def prose_token(token: str, reader: TextReader) -> tuple[Parts, str]:
    return reader.token(token), ""


class RawReader:
    """Turns blocks of raw text into pieces, one after another; remembers what it has analysed."""

    def __init__(self, raw: RawFormat):
        self.raw, self.reader, labels = raw, raw.reader, raw.reader.labels
        self._parse = {"prose": self._prose, "characters": self._prose, "mteval": self._mteval, "lrec": self._lrec,
                       "sil": self._sil}[raw.name]
        self._characters = CharacterReader(labels) if raw.name == "characters" else None
        self._memo = Memo(partial(lrec_line, labels=labels) if raw.name == "lrec"
                          else partial(prose_token, reader=self.reader))
        self._delete = re.compile(raw.remove) if raw.remove else None

    def pieces(self, block: bytes, line_start: bool = True) -> tuple[list[Piece], Counter]:
        """The pieces of a block and the repairs that were made.

        line_start  whether the block begins at the beginning of a line

        Raises InputError, its line counted from the block's first, for text that cannot be repaired.
        """
        repairs = Counter()
        text = decode(block, repairs)
        try:
            return list(self._parse(text, line_start, repairs)), repairs
        except Unreadable as error:
            what, remedy, unit = error.args
            lrec = self.raw.name == "lrec"
            at = f"\n{text}\n".find(f"\n{unit}\n") if lrec else text.find(unit)
            raise InputError(what, remedy, line=text.count("\n", 0, max(at, 0)) + 1) from None

    def _streams(self, text: str, line_start: bool) -> Iterator[tuple[str | None, str]]:
        """The text of each stream in a block, and the name of a stream that begins, with lines left out."""
        document_prefix, skip_prefix = self.raw.document_prefix, self.raw.skip_prefix
        if line_start and (document_prefix or skip_prefix):
            text = "\n" + text
        if skip_prefix:
            first, *rest = text.split("\n" + skip_prefix)
            text = "\n".join([first, *(part.partition("\n")[2] for part in rest)])
        first, *rest = text.split("\n" + document_prefix) if document_prefix else [text]
        if not rest or first.strip():
            yield None, first
        for part in rest:
            name, _, part = part.partition("\n")
            yield name.strip(), part

    def _prose(self, text: str, line_start: bool, repairs: Counter) -> Iterator[Piece]:
        for stream, part in self._streams(text, line_start):
            if self._delete:
                part = self._delete.sub(" ", part)
            if not self.raw.lines:
                yield self._piece(part, repairs)._replace(stream=stream)
                continue
            *lines, rest = part.split("\n")
            for i, line in enumerate([*lines, rest]):
                if i < len(lines) or line:
                    piece = self._piece(line, repairs)
                    yield piece._replace(stream=stream if i == 0 else None, end=i < len(lines))

    def _piece(self, text: str, repairs: Counter) -> Piece:
        """A text of words, or of characters, as a piece."""
        if not self._characters:
            return self._memo.read(text.split(), self.reader.attach, repairs)
        split = self._characters.split(text)
        lead = self.reader.labels.reading(split.lead) if split.lead else ""
        return Piece(" ".join(split.tokens), " ".join(split.labels), lead=lead)

    def _lrec(self, text: str, line_start: bool, repairs: Counter) -> Iterator[Piece]:
        for stream, part in self._streams(text, line_start):
            lines = part.removesuffix("\n").split("\n")
            yield self._memo.read(lines, self.reader.attach, repairs)._replace(stream=stream)

    def _mteval(self, text: str, line_start: bool, repairs: Counter) -> Iterator[Piece]:
        stream, matches = None, list(TAG.finditer(text))
        segments = [match for match in matches if match[2] is not None]
        opened = list(re.finditer(r"<seg\b", text, re.IGNORECASE))
        if len(segments) != len(opened):
            begins = {match.start() for match in segments}
            cut = next((match.start() for match in opened if match.start() not in begins), 0)
            raise Unreadable("a <seg> without its </seg>", "mend the file: it is cut short or broken", text[cut:])
        for match in matches:
            if match[2] is None:
                docid = DOCID.search(match[1])
                stream = next(filter(None, docid.groups()), "") if docid else ""
                continue
            part = html.unescape(re.sub(r"<[^<>]*>", " ", match[2]))
            part = self._delete.sub(" ", part) if self._delete else part
            yield self._piece(part, repairs)._replace(stream=stream, end=True)
            stream = None

    def _sil(self, text: str, line_start: bool, repairs: Counter) -> Iterator[Piece]:
        for stream, part in self._streams(text, line_start):
            yield self._sil_piece(part.split(), repairs)._replace(stream=stream)

    def _sil_piece(self, units: list[str], repairs: Counter) -> Piece:
        words, labels, pauses, lead, lead_pause = [], [], [], "", None
        for unit in units:
            if silence := SILENCE.fullmatch(unit):
                pause = self._pause(silence[1], repairs)
                if words:
                    pauses[-1] = pause
                else:
                    lead_pause = pause
            elif mark := SPELT_MARK.fullmatch(unit):
                label = self.reader.labels.reading([mark[1]])
                if mark[1] not in self.reader.labels.marks:
                    repairs["marks that the label set does not read, dropped"] += 1
                elif words:
                    labels[-1] = self.reader.attach(labels[-1], label)
                else:
                    lead = self.reader.attach(lead, label) if lead else label
            else:
                words.append(legal(unit.lower() if self.reader.lowercase else unit))
                labels.append(self.reader.labels[0].name)
                pauses.append(np.nan)
        return Piece(" ".join(words), " ".join(labels), np.array(pauses, np.float32), lead, lead_pause)

    def _pause(self, value: str, repairs: Counter) -> float:
        try:
            pause = float(value)
            if not pause < float("inf"):
                raise ValueError
        except ValueError:
            raise Unreadable(f"'{value}' is not a pause", "write <sil=SECONDS>", f"<sil={value}>") from None
        if pause < 0 or value.startswith("-"):
            repairs["negative pauses, taken as 0"] += 1
        return max(pause, 0.0) + 0.0
