"""The texts of this recipe: words in lower case, with commas, and one mark at the end of each sentence.

`read_text` drops bytes that are not UTF-8. `clean` counts the lines from which it drops characters, and repairs
characters as follows:

- Control characters, directional marks and other invisible characters are dropped.
- Emoji, symbols such as © and °, and modifier symbols such as ´ are dropped.
- Typographic apostrophes and hyphens become plain ones.
- A combining accent is composed with its letter (NFC), or dropped if there is no composed letter.

Each line is split into sentences (`sentences`). A sentence ends at a token that ends in `.`, `?` or `!` if the next
token begins with a capital or a digit; closing and opening quotes and brackets are ignored. But initials (`J.`),
letters with periods (`U.S.`) and the words in conf/abbreviations.txt do not end a sentence inside a line.

`SentenceReader` reads a sentence as `punc prepare` reads prose. A period after a word inside a sentence is taken as
part of an abbreviation, so it is dropped. The last word gets QUESTION if there is a `?` at the end, and PERIOD
otherwise. Sentences are left out if they have no mark at the end, no word, more than MAX_WORDS words, or a word of more
than MAX_CHARACTERS characters.
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
from punc.text.prose import PLAIN, TextReader

CONF = Path(__file__).parents[1] / "conf"
MAX_WORDS = 60
MAX_CHARACTERS = 50  # characters in a word
ODD = re.compile(r"[^ -~]")
ENDING = re.compile(r"""[.?!]+["'”’)\]»]*$""")
OPENING = re.compile(r"""["'“‘(\[«<]*[A-Z0-9À-ÖØ-Þ]""")
INITIALS = re.compile(r"(?:[^\W\d_]\.)+", re.UNICODE)
MARKS = {"COMMA": ",", "PERIOD": ".", "QUESTION": "?"}


class Characters(dict):
    """A translation table that maps each character to itself, its plain form, a space, or None to drop it. Entries are
    made on first use."""

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
    if not ODD.search(line):
        return line
    cleaned = unicodedata.normalize("NFC", line).translate(CHARACTERS)
    if counts is not None and len(cleaned) < len(unicodedata.normalize("NFC", line)):
        counts["lines with characters removed"] += 1
    return cleaned


def read_text(path: Path) -> Iterator[str]:
    """Yield the lines of a file without line ends, dropping bytes that are not UTF-8."""
    with open_input(path) as file:
        for line in file:
            yield line.decode("utf-8", "ignore").rstrip("\r\n")


class SentenceReader:
    """Reads running text as sentences.

    counts  how many sentences are kept, how many are left out for each reason, and how many lines lost characters
    """

    def __init__(self):
        self.counts = Counter()
        self.abbreviations = frozenset(word for _, word in read_lines(CONF / "abbreviations.txt"))
        labels = LabelSet.read(CONF / "labels.txt")
        # A period inside a sentence is dropped, so it must not win over the comma of `the U.S., he said`.
        weakest = [labels[labels.index(name)] for name in ("O", "PERIOD")]
        reader = TextReader(LabelSet((*weakest, *(label for label in labels if label not in weakest))))
        self._attach, self._memo = reader.attach, Memo(reader.token)

    def sentences(self, line: str) -> Iterator[str]:
        """Yield each sentence of a line as a text, or "" if the sentence is left out."""
        for tokens in self.split(clean(line, self.counts).split()):
            yield self.read(tokens)

    def split(self, tokens: list[str]) -> Iterator[list[str]]:
        start = 0
        for i, token in enumerate(tokens[:-1], 1):
            if token[-1] in ".?!\"'”’)]»" and self._ends(token) and OPENING.match(tokens[i]):
                yield tokens[start:i]
                start = i
        if tokens:
            yield tokens[start:]

    def _ends(self, token: str) -> bool:
        """Return whether a token ends a sentence, given that the next token can begin one."""
        ending = ENDING.search(token)
        if not ending or not ending[0].startswith(".") or ending[0].startswith(".."):
            return bool(ending)
        word = token[:ending.start()].lstrip("\"'“‘([«<").lower()
        return word not in self.abbreviations and not INITIALS.fullmatch(word + ".")

    def read(self, tokens: list[str]) -> str:
        """Return a sentence as a text, or "" if it is left out."""
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
        """Return the reason why a sentence is left out, or "" if it is kept."""
        if not words:
            return "left out: no word"
        if len(words) > MAX_WORDS:
            return f"left out: more than {MAX_WORDS} words"
        if max(map(len, words)) > MAX_CHARACTERS:
            return f"left out: a word of more than {MAX_CHARACTERS} characters"
        return "" if ENDING.search(tokens[-1]) else "left out: no mark at the end"


def join(words: Iterable[str], names: Iterable[str]) -> str:
    """Make a text from words and the names of their labels."""
    return " ".join(word + MARKS.get(name, "") for word, name in zip(words, names))


def words_of(text: str) -> list[str]:
    return [word.rstrip(",.?") for word in text.split()]


def is_question(text: str) -> bool:
    return text.endswith("?")


def key(text: str) -> bytes:
    """Return an 8-byte digest of a text's words, without marks. Digits are replaced by 0, as in character models, so
    two texts have the same digest if such a model reads the same words in both."""
    return blake2b(re.sub(r"\d", "0", " ".join(words_of(text))).encode(), digest_size=8).digest()


def chance(seed: str, text: str) -> float:
    """Return a pseudo-random number, uniform in [0, 1), that depends only on the seed and the text."""
    return int.from_bytes(blake2b(f"{seed} {text}".encode(), digest_size=7).digest(), "big") / 2 ** 56


def read_documents(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the texts of each document in a file that sentences.py wrote. An empty text shows that
    something was left out there, or that the speaker changes."""
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
