"""The interface of tokenizers. Each tokenizer is a module in punc/tokens/tokenizers.

The directory of a store or a model contains these files of its tokenizer:

    vocab          one token per line
    token_type     the tokenizer's name; missing if it is `word`
    pieces.model   for subwords: the model that cuts words into pieces
    tokenizer.json for the pieces of an encoder: the encoder's own tokenizer
    clitics        the rules that split the words of the training text, if any (`text.prose.Clitics`)
"""

import importlib
import keyword
import pkgutil
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_file, open_input, read_lines
from punc.data.datadir import DataDir
from punc.text.prose import Clitics
from punc.tokens import tokenizers
from punc.tokens.vocabulary import END, SPECIALS, UNK, Vocabulary, count_words, most_frequent

CACHED = 1 << 13  # the maximum number of words whose tokens a `word_encoder` caches
CLITICS = "clitics"
TOKENIZER_FILES = ("vocab", "token_type", "pieces.model", "tokenizer.json", CLITICS)
DEFAULT = "word"  # the token type of a directory without a file token_type
AGAIN = "make the store again: punc make-store --token-type={}"


class Encoding(NamedTuple):
    ids: np.ndarray  # int32 (N,)
    slots: np.ndarray  # int64 (words,), ascending: the index of the token before each word's slot
    lost: int  # the number of unknown tokens, of spelled words (for `spelled`), or of characters left out (for `char`)


class Tokenizer(ABC):
    """Converts words to tokens, and finds the token before the slot of each word. The tokens of a word do not depend on
    other words."""

    token_type: ClassVar[str]  # the tokenizer's name: the name of its module, and the value of `--token-type`
    meaning: ClassVar[str]  # what a token is, for `--help`
    vocab_size: ClassVar[int] = 100000  # default of `--vocab-size`
    ends_with_end: ClassVar[bool] = False  # whether END replaces the last token of a stream; if not, readers append END
    by_character: ClassVar[bool] = False  # whether the words of a text are its characters, not separated by spaces
    context: ClassVar[int] = 256  # the number of tokens that are read on each side of a chunk in decoding
    # The message of `punc make-store` about a set.
    summary: ClassVar[str] = "{words} words in {streams} streams, {percent:.2f} % unknown"
    vocabulary: Vocabulary
    clitics: Clitics | None = None  # the rules that split the words of the training text

    @classmethod
    @abstractmethod
    def read(cls, path: StrPath) -> "Tokenizer":
        """Read a vocabulary file. Raises InputError if it is not a vocabulary of this token type."""

    @classmethod
    def make(cls, sets: Sequence[DataDir], size: int, min_count: int = 1, nj: int = 1) -> "Tokenizer":
        """Make a tokenizer for the words of data directories. For `size` and `min_count`, see `vocab_size` and
        `min_count` of `make_store`. The result does not depend on `nj`."""
        return cls.learn(cls.count(sets, size, nj), size, min_count)

    @classmethod
    @abstractmethod
    def learn(cls, counts: dict[bytes, int], size: int, min_count: int = 1) -> "Tokenizer":
        """Make a tokenizer from the result of `count`. For the other arguments, see `make`."""

    @classmethod
    def is_token(cls, word: bytes) -> bool:
        """Return whether a word may become a token of the vocabulary, provided that it is frequent enough."""
        return True

    @classmethod
    def count(cls, sets: Sequence[DataDir], size: int, nj: int = 1) -> dict[bytes, int]:
        return count_words(sets, size, nj, cls.is_token)

    def write(self, directory: Path) -> None:
        self.vocabulary.write(directory / "vocab")
        if self.token_type != DEFAULT:
            with atomic_file(directory / "token_type") as file:
                file.write(f"{self.token_type}\n")
        if self.clitics:
            self.clitics.write(directory / CLITICS)
        else:
            (directory / CLITICS).unlink(missing_ok=True)

    @abstractmethod
    def encode(self, words: Sequence[str]) -> Encoding:
        """Return the tokens of words. As a bound method, `encode` must be picklable, so that other processes can call
        it."""

    @property
    def splitter(self) -> Callable[[str], list[str]] | None:
        """The function that splits an input word by the rules of the training text, or None if words are not split."""
        return self.clitics.split if self.clitics else None

    def encode_input(self, words: Sequence[str]) -> Encoding:
        """Split input words by the rules of the training text, and return the tokens of the parts. The slot of a word
        is the slot of its last part."""
        if not (splitter := self.splitter):
            return self.encode(words)
        split = lru_cache(CACHED)(splitter)
        parts = [split(word) for word in words]
        encoding = self.encode(list(chain.from_iterable(parts)))
        lasts = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts))) - 1
        return encoding._replace(slots=encoding.slots[lasts])

    def word_encoder(self) -> Callable[[str], Sequence[int]]:
        """Return a function that maps a single word to the ids of its tokens, as in `encode_input`, and caches them."""
        return lru_cache(CACHED)(lambda word: self.encode_input((word,)).ids.tolist())


class LookupTokenizer(Tokenizer):
    """Looks words up in a vocabulary, which was read from `path`. A subclass may override `complete`. Raises InputError
    if the vocabulary does not begin with the special tokens, followed by those in `first`."""

    first: ClassVar[tuple[str, ...]] = ()  # tokens that must follow the special tokens

    def __init__(self, vocabulary: Vocabulary, path: StrPath | None = None):
        begin = len(SPECIALS)
        if tuple(vocabulary.tokens[begin:begin + len(self.first)]) != self.first:
            missing = " and ".join(self.first)
            raise InputError(f"'{missing}' is missing", AGAIN.format(self.token_type), path, begin + 1)
        self.vocabulary = vocabulary

    @classmethod
    def learn(cls, counts: dict[bytes, int], size: int, min_count: int = 1) -> "LookupTokenizer":
        return cls(Vocabulary([*SPECIALS, *cls.first, *most_frequent(counts, size, min_count)]))

    @classmethod
    def read(cls, path: StrPath) -> "LookupTokenizer":
        return cls(Vocabulary.read(path), path)

    def encode(self, words: Sequence[str]) -> Encoding:
        return self.complete(self.vocabulary.ids(words), words)

    def complete(self, ids: np.ndarray, words: Sequence[str]) -> Encoding:
        """Return the encoding of words, given the words' ids, int32 (words,). Unknown words have the id UNK."""
        return Encoding(ids, np.arange(len(ids)), int((ids == UNK).sum()))


def token_types() -> list[str]:
    return sorted(module.name.rstrip("_") for module in pkgutil.iter_modules(tokenizers.__path__))


def tokenizer_class(token_type: str, path: Path | None = None) -> type[Tokenizer]:
    """Return the tokenizer class of a token type. Raises InputError, which names `path`, for an unknown token type."""
    if token_type not in token_types():
        raise InputError(f"no token type '{token_type}'", f"choose from {', '.join(token_types())}", path)
    name = f"{token_type}_" if keyword.iskeyword(token_type) else token_type
    module = importlib.import_module(f"{tokenizers.__name__}.{name}")
    return getattr(module, f"{token_type.capitalize()}Tokenizer")


def class_of(directory: StrPath) -> type[Tokenizer]:
    """Return the tokenizer class for the directory of a store or a model. Raises InputError if the file `token_type`
    contains an unknown name."""
    path = Path(directory) / "token_type"
    token_type = next((line for _, line in read_lines(path)), "") if path.is_file() else DEFAULT
    return tokenizer_class(token_type, path)


def read_tokenizer(directory: StrPath) -> Tokenizer:
    """Read the tokenizer in the directory of a store or a model. Raises InputError if files are missing or broken."""
    tokenizer = class_of(directory).read(Path(directory) / "vocab")
    if (Path(directory) / CLITICS).is_file():
        tokenizer.clitics = Clitics(Path(directory) / CLITICS)
    return tokenizer


def encode_streams(tokenizer: Tokenizer, words: Sequence[str], bounds: Sequence[int]) -> tuple[Encoding, np.ndarray]:
    """Return the tokens of complete streams, and `offsets`, int64 (streams + 1,). Stream i consists of the words
    [bounds[i]:bounds[i + 1]], at least one. Its tokens are [offsets[i]:offsets[i + 1]]."""
    encoding = tokenizer.encode_input(words)
    offsets = np.append(0, encoding.slots + 1)[bounds]
    if tokenizer.ends_with_end:
        encoding.ids[offsets[1:] - 1] = END
    return encoding, offsets


class PieceTokenizer(Tokenizer):
    """Cuts words into one or more pieces with a trained model (`content`), which is stored in `file`. The slot of a
    word is after its last piece. Raises InputError if the model is invalid."""

    summary = "{words} words, {tokens} pieces in {streams} streams, {percent:.2f} % unknown"
    unknown: tuple[int, ...] = (UNK,)  # the tokens that stand for text for which the model has no piece
    cache: int = 1 << 18  # the cache is cleared when it contains more words than this
    file: ClassVar[str]  # the name of the model's file, which is next to the vocabulary

    def __init__(self, content: bytes, path: StrPath | None = None):
        self._content = content
        self._pieces: dict[str, bytes] = {}  # word → the ids of its pieces, int32
        self.parse(content, path)

    def __getstate__(self) -> bytes:
        return self._content

    def __setstate__(self, content: bytes) -> None:
        PieceTokenizer.__init__(self, content)

    @abstractmethod
    def parse(self, content: bytes, path: StrPath | None) -> None:
        """Set the vocabulary and all other attributes that `cut_words` needs. Arguments and errors: see the class."""

    @classmethod
    def read(cls, path: StrPath) -> "PieceTokenizer":
        path = Path(path)
        with open_input(path.with_name(cls.file)) as file:
            found = cls(file.read(), path.with_name(cls.file))
        with open_input(path) as file:
            same = file.read() == "".join(f"{token}\n" for token in found.vocabulary.tokens).encode()
        if not same:
            raise InputError(f"the pieces differ from those in {cls.file}",
                             "make the store again: punc make-store", path)
        return found

    def write(self, directory: Path) -> None:
        with atomic_file(directory / self.file, "wb") as file:
            file.write(self._content)
        super().write(directory)

    @abstractmethod
    def cut_words(self, words: list[bytes]) -> Sequence[Sequence[int]]:
        """Return the ids of the pieces of each word. Each word has at least one piece. The words are in UTF-8."""

    def encode(self, words: Sequence[str]) -> Encoding:
        if len(self._pieces) > self.cache:
            self._pieces.clear()
        new = [word for word in dict.fromkeys(words) if word not in self._pieces]
        if new:
            found = self.cut_words([word.encode(errors="replace") for word in new])
            self._pieces.update(zip(new, (array("i", ids).tobytes() for ids in found)))
        parts = list(map(self._pieces.__getitem__, words))
        ids = np.frombuffer(bytearray(b"".join(parts)), np.int32)
        lengths = np.fromiter(map(len, parts), np.int64, len(parts)) // ids.itemsize
        unknown = sum(int((ids == token).sum()) for token in self.unknown)  # np.isin would be slower
        return Encoding(ids, np.cumsum(lengths) - 1, unknown)
