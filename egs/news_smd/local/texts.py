"""What a text is here: words in lower case, with commas, and one mark at the end of each sentence.

Characters (`clean`), each repair counted:

- bytes that are not UTF-8, control characters, marks of writing direction and other invisible characters vanish;
- emoji and other pictures, and modifiers that stand alone, vanish;
- typographic apostrophes and hyphens become the plain ones;
- an accent that combines is composed with its letter (NFC); one that has no composed form vanishes.

Sentences (`sentences`): a sentence ends at a token that ends with `.`, `?` or `!`, closing quotes and brackets behind,
where the next token begins with a capital or a digit, quotes and brackets before, and the token is no initial (`J.`),
no letters with points (`U.S.`), and not in conf/abbreviations.txt.

What a sentence says (`SentenceReader`) is read as `punc prepare` reads prose, and then: a point inside a sentence is
that of an abbreviation, so its label is O; the last word has the label of the sentence's own mark. A sentence without
such a mark, without a word, with more than MAX_WORDS words, or with a word of more than MAX_CHARACTERS is left out.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from punc.base.files import decode_line, open_input, read_lines
from punc.data.labels import LabelSet
from punc.text.passages import Memo
from punc.text.prose_reader import PLAIN, TextReader

CONF = Path(__file__).parents[1] / "conf"
MAX_WORDS = 60
MAX_CHARACTERS = 50  # of a word
ODD = re.compile(r"[^ -~]")
ENDING = re.compile(r"""[.?!]+["'”’)\]»]*$""")
OPENING = re.compile(r"""["'“‘(\[«<]*[A-Z0-9À-ÖØ-Þ]""")
INITIALS = re.compile(r"(?:[^\W\d_]\.)+", re.UNICODE)
MARKS = {"COMMA": ",", "PERIOD": ".", "QUESTION": "?"}


class Characters(dict):
    """Translation table of characters: itself, a blank, or None for one that vanishes; filled as they are met."""

    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        category = unicodedata.category(char)
        if code in PLAIN:
            self[code] = PLAIN[code]
        elif char.isspace():
            self[code] = " "
        elif category[0] == "C" or category in ("So", "Mn", "Me") or (category == "Sk" and not char.isascii()):
            self[code] = None
        else:
            self[code] = char
        return self[code]


CHARACTERS = Characters()


def clean(line: str, counts: Counter | None = None) -> str:
    """A line without characters that are not written text (rules: see the module)."""
    if not ODD.search(line):
        return line
    cleaned = unicodedata.normalize("NFC", line).translate(CHARACTERS)
    if counts is not None and len(cleaned) < len(unicodedata.normalize("NFC", line)):
        counts["lines with characters removed"] += 1
    return cleaned


def read_text(path: Path) -> Iterator[str]:
    """The lines of a file, without their ends; bytes that are not UTF-8 vanish."""
    with open_input(path) as file:
        for line in file:
            yield line.decode("utf-8", "ignore").rstrip("\r\n")


class SentenceReader:
    """Reads running text as sentences of the recipe.

    counts  what was read and what was left out, by reason
    """

    def __init__(self):
        self.counts = Counter()
        self.abbreviations = frozenset(word for _, word in read_lines(CONF / "abbreviations.txt"))
        labels = LabelSet.read(CONF / "labels.txt")
        # A point inside a sentence is none, so that it must not win over the comma of `the U.S., he said`.
        weakest = [labels[labels.index(name)] for name in ("O", "PERIOD")]
        reader = TextReader(LabelSet((*weakest, *(label for label in labels if label not in weakest))))
        self._attach, self._memo = reader.attach, Memo(lambda token: (reader.token(token), ""))

    def sentences(self, line: str) -> Iterator[str]:
        """The sentences of a line as texts; the empty text for what is left out, so that a gap is seen."""
        for tokens in self.split(clean(line, self.counts).split()):
            yield self.read(tokens)

    def split(self, tokens: list[str]) -> Iterator[list[str]]:
        """Blank-separated tokens by sentences."""
        start = 0
        for i, token in enumerate(tokens[:-1], 1):
            if token[-1] in ".?!\"'”’)]»" and self._ends(token) and OPENING.match(tokens[i]):
                yield tokens[start:i]
                start = i
        if tokens:
            yield tokens[start:]

    def _ends(self, token: str) -> bool:
        """Whether a token ends a sentence, if what follows may begin one."""
        ending = ENDING.search(token)
        if not ending or not ending[0].startswith(".") or ending[0].startswith(".."):
            return bool(ending)
        word = token[:ending.start()].lstrip("\"'“‘([«<").lower()
        return word not in self.abbreviations and not INITIALS.fullmatch(word + ".")

    def read(self, tokens: list[str]) -> str:
        """A sentence as a text, empty where it is left out; see the module."""
        piece = self._memo.read(tokens, self._attach, Counter())
        words, names = piece.words.split(), piece.labels.split()
        reason = self._reason(tokens, words)
        self.counts[reason or "sentences"] += 1
        if reason:
            return ""
        last = "QUESTION" if "?" in ENDING.search(tokens[-1])[0] else "PERIOD"
        names = ["O" if name == "PERIOD" else name for name in names[:-1]] + [last]
        return join(words, names)

    @staticmethod
    def _reason(tokens: list[str], words: list[str]) -> str:
        """Why a sentence is left out; empty where it is not."""
        if not words:
            return "left out: no word"
        if len(words) > MAX_WORDS:
            return f"left out: more than {MAX_WORDS} words"
        if max(map(len, words)) > MAX_CHARACTERS:
            return f"left out: a word of more than {MAX_CHARACTERS} characters"
        return "" if ENDING.search(tokens[-1]) else "left out: no mark at the end"


def join(words: Iterable[str], names: Iterable[str]) -> str:
    """Words and label names as a text."""
    return " ".join(word + MARKS.get(name, "") for word, name in zip(words, names))


def words_of(text: str) -> list[str]:
    """The words of a text without their marks."""
    return [word.rstrip(",.?") for word in text.split()]


def is_question(text: str) -> bool:
    return text.endswith("?")


def key(text: str) -> bytes:
    """What two texts have in common that are the same to a model: their words, every digit 0. 8 bytes of a digest."""
    return blake2b(re.sub(r"\d", "0", " ".join(words_of(text))).encode(), digest_size=8).digest()


def chance(seed: str, text: str) -> float:
    """A number in [0, 1) that depends on both, evenly spread: so a choice does not depend on what else is read."""
    return int.from_bytes(blake2b(f"{seed} {text}".encode(), digest_size=7).digest(), "big") / 2 ** 56


def read_documents(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Name and texts of each document that sentences.py wrote; an empty text is a gap."""
    name, texts = "", []
    with open_input(path) as file:
        for number, raw in enumerate(file, 1):
            line = decode_line(raw, path, number)
            if line.startswith("#doc "):
                if texts:
                    yield name, texts
                name, texts = line[5:], []
            else:
                texts.append(line)
    if texts:
        yield name, texts
