"""Stores: data directories as a vocabulary and flat memory-mapped arrays. Models train on stores.

    STORE/vocab               one token a line; the line is its id: <unk>, </s>, then the most frequent first
    STORE/token_type          the tokenizer's name, if it is not `word` (see `tokenizer`)
    STORE/pieces.model        only for subwords: the model that cuts words into pieces
    STORE/tokenizer.json      only for the pieces of an encoder: its own tokenizer
    STORE/clitics             the rules by which words of the text were split, if any: models split their input so
    STORE/labels.txt          the label set
    STORE/conf                --name=value lines: the token type and the other options
    STORE/<set>/ids.npy       int32 (N,), the tokens of all streams, end to end
    STORE/<set>/labels.npy    int8 (N,), the label of the slot after each token; -1 if there is no slot
    STORE/<set>/pauses.npy    float32 (N,), seconds after each token; NaN unknown
    STORE/<set>/turns.npy     bool (N,), whether another speaker says the next word; missing if that is not known
    STORE/<set>/index         lines STREAM OFFSET LENGTH

Word and subword streams are stored without `</s>`; readers append it. In character streams `</s>` is the last token.
"""

import contextlib
import logging
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from punc.base.errors import InputError, one_line
from punc.base.files import atomic_dir, is_unfinished, read_blocks, read_lines, unchanged
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet, check_record
from punc.text.prose import Clitics
from punc.tokens.joined import join_sets, parse_joins
from punc.tokens.store_set import SET_FILES, StoreSet, check_numbers, read_set, write_set
from punc.tokens.tokenizer import CLITICS, TOKENIZER_FILES, Tokenizer, read_tokenizer, tokenizer_class

logger = logging.getLogger(__name__)
FILES = (*TOKENIZER_FILES, "labels.txt", "conf")
ONE_TOKEN = ("word", "class", "form")  # token types in which a word is one token
LONGEST_PATH = 10_000  # characters
STALE = (*TOKENIZER_FILES[1:], *(f"*/{name}" for name in SET_FILES))  # files of an older store


class Store:
    """A store on disk.

    token_type   the tokenizer's name
    tokenizer    makes the tokens of words; vocabulary: its tokens
    labels       the label set
    sets         the names of the sets

    Raises InputError if the directory is not a store, or an unfinished one.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        if not self.path.is_dir():
            raise InputError("no such directory", "make it: punc make-store", path)
        if not (self.path / "conf").is_file() or not (self.path / "vocab").is_file():
            raise InputError("not a store, or an unfinished one", "make it: punc make-store", path)
        self.conf = _read_conf(self.path / "conf")
        self.token_type = self.conf["token-type"]
        self.tokenizer = read_tokenizer(self.path)
        self.vocabulary = self.tokenizer.vocabulary
        self.labels = LabelSet.read(self.path / "labels.txt")
        self.sets = sorted(index.parent.name for index in self.path.glob("*/index"))

    def set(self, name: str) -> StoreSet:
        """Open one set.

        Raises InputError if it is missing or truncated, if its files do not fit together, or if they have tokens or
        labels that the store does not have. Reads the files once for that: 100 million tokens take 0.1 s from the page
        cache.
        """
        if name not in self.sets:
            raise InputError(f"no set '{name}' in the store", f"it has {' '.join(self.sets)}", self.path)
        check_numbers(self.path / name, len(self.vocabulary), len(self.labels))
        return read_set(self.path / name)

    def checksums(self, sets: Iterable[str]) -> dict[str, int]:
        """The CRC-32 of each file that training on some sets depends on, by its name in the store.

        They tell a changed store from one that was made again and is the same, with new times. Sets that are not given
        do not count. Files are read block by block, so memory is flat; 100 million tokens take 0.7 s.
        """
        names = [name for name in FILES if name != "conf"]
        names += [f"{name}/{file}" for name in sorted(sets) for file in SET_FILES]
        return {name: crc32_of(self.path / name) for name in names if (self.path / name).is_file()}


def _read_conf(path: Path) -> dict[str, str]:
    """The options in a store's conf. Raises InputError if it is not one, or that of an early version."""
    again = "make the store again: punc make-store"
    conf = {}
    for number, line in read_lines(path):
        name, equals, value = line.removeprefix("--").partition("=")
        if not equals:
            raise InputError("not --name=value", again, path, number)
        conf[name] = value
    if "token-type" not in conf:
        raise InputError("no --token-type: an early version made this store", again, path)
    return conf


def crc32_of(path: Path) -> int:
    """The CRC-32 of a file."""
    total = 0
    for block in read_blocks(path, 1 << 18):
        total = zlib.crc32(block, total)
    return total


@dataclass(frozen=True)
class StorePlan:
    """A store to make, with options that have been checked.

    sets        the data directories by name
    joined      the members of each set that is joined
    kind        the tokenizer's class
    vocab_size, min_count   as in `make_store`
    tokenizer   that of the vocabulary to use; None: a new one is made
    train       the sets whose words make the vocabulary
    label_set   the label set
    clitics     the rules by which the words of the sets were split; None: they were not
    conf        the content of the store's conf; it depends on all options and inputs
    """

    sets: dict[str, DataDir]
    joined: dict[str, list[str]]
    kind: type[Tokenizer]
    vocab_size: int
    min_count: int
    tokenizer: Tokenizer | None
    train: list[DataDir]
    label_set: LabelSet
    clitics: Clitics | None
    conf: str

    def finished(self, path: Path) -> bool:
        """Whether the directory is this store, with the same options and inputs."""
        return (path / "conf").is_file() and (path / "conf").read_bytes() == self.conf.encode()


def plan_store(path: Path | None, data_dirs: Sequence[str | os.PathLike], labels: str | os.PathLike,
               token_type: str, vocab_size: int | None, min_count: int, vocab: str | os.PathLike | None,
               train: str | None, joins: Sequence[str], clitics: str) -> StorePlan:
    """Check the arguments of `make_store`; `path` None: of a part. Raises InputError for options that do not fit."""
    sets, kind = _name_sets(data_dirs), tokenizer_class(token_type)
    vocab_size = kind.vocab_size if vocab_size is None else vocab_size
    if min(vocab_size, min_count) < 1:
        raise InputError(f"--vocab-size={vocab_size} --min-count={min_count}", "give positive numbers")
    train = train or next(iter(sets))
    for name in train.split(","):
        if name not in sets:
            raise InputError(f"no data directory is named '{name}'", f"--train names some of {' '.join(sets)}")
    if path and not (path / "vocab").is_file() and not is_unfinished(path):
        raise InputError("this exists and is not a store", "name another STORE-DIR", path)
    label_set = LabelSet.read(labels)
    for data in sets.values():
        check_record(data.path, label_set)
    tokenizer = kind.read(vocab) if vocab else None
    joined = parse_joins(joins, list(sets))
    if clitics and token_type not in ONE_TOKEN:
        raise InputError(f"--clitics with {token_type} tokens", f"leave it out; it is for {', '.join(ONE_TOKEN)}")
    conf = _conf(token_type, vocab_size, min_count, vocab, train, labels, sets, joins, clitics)
    return StorePlan(sets, joined, kind, vocab_size, min_count, tokenizer, [sets[name] for name in train.split(",")],
                     label_set, Clitics(clitics) if clitics else None, conf)


def make_store(path: str | os.PathLike, data_dirs: Sequence[str | os.PathLike], labels: str | os.PathLike,
               token_type: str = "word", vocab_size: int | None = None, min_count: int = 1,
               vocab: str | os.PathLike | None = None, train: str | None = None, nj: int = 2,
               joins: Sequence[str] = (), clitics: str = "") -> None:
    """Make a store of data directories; each becomes a set of its name.

    labels      file of the label set
    token_type  name of the tokenizer
    vocab_size  the largest number of tokens, without the special ones; None: the tokenizer's default
    min_count   tokens that occur less often are left out; for subwords, words that the pieces are learned from
    vocab       vocabulary file to use instead of making one; for subwords, pieces.model is next to it
    train       sets whose words make the vocabulary, with commas between; None: the first
    nj          processes; the store does not depend on it
    joins       more sets, each NAME=SET,SET,…: those sets end to end
    clitics     file of the rules by which the words of the data directories were split; models keep them

    Does nothing if the store is finished and neither the options nor the inputs (size and time of each table) have
    changed. Raises InputError for options that do not fit, and for errors in the data directories.
    """
    path = Path(path)
    if nj < 1:
        raise InputError(f"--nj={nj}", "give a positive number")
    plan = plan_store(path, data_dirs, labels, token_type, vocab_size, min_count, vocab, train, joins, clitics)
    if plan.finished(path):
        logger.info("%s: finished, and its inputs have not changed", path)
        return
    with new_store(path, plan) as tmp:
        tokenizer = plan.tokenizer or plan.kind.make(plan.train, plan.vocab_size, min_count, nj)
        tokenizer.write(tmp)
        for name, data in plan.sets.items():
            with unchanged(data.path / "text"):
                write_set(tmp / name, data, tokenizer, plan.label_set, nj)


@contextlib.contextmanager
def new_store(path: Path, plan: StorePlan) -> Iterator[Path]:
    """A directory to write the tokenizer and the sets of a store to. When the block ends, they replace an older store.
    """
    with atomic_dir(path, "conf", STALE) as tmp:
        yield tmp
        join_sets(tmp, plan.joined)
        plan.label_set.write(tmp / "labels.txt")
        if plan.clitics:
            plan.clitics.write(tmp / CLITICS)
        (tmp / "conf").write_text(plan.conf, encoding="utf-8")


def _name_sets(data_dirs: Sequence[str | os.PathLike]) -> dict[str, DataDir]:
    """The data directories by name. Raises InputError if two have the same name, or if a file of the store has it."""
    sets: dict[str, DataDir] = {}
    for folder in data_dirs:
        name = Path(folder).resolve().name
        if name in sets or name in FILES:
            raise InputError(f"'{name}' cannot name one more set of the store", "rename the directory", folder)
        sets[name] = DataDir(folder)
    return sets


def _conf(token_type: str, vocab_size: int, min_count: int, vocab: str | os.PathLike | None, train: str,
          labels: str | os.PathLike, sets: dict[str, DataDir], joins: Sequence[str], clitics: str) -> str:
    """The options as a conf file, with the size and time of each input in comments."""
    given = [vocab] if vocab else []
    rules = [clitics] if clitics else []
    lines = [f"--token-type={token_type}", f"--vocab-size={vocab_size}", f"--min-count={min_count}", f"--train={train}",
             *(f"--vocab={file}" for file in given), *(f"--join={join}" for join in joins),
             *(f"--clitics={file}" for file in rules)]
    for file in (labels, *given, *rules, *(d.path / table for d in sets.values() for table in d.tables)):
        state = os.stat(file)
        lines.append(f"# {one_line(os.path.abspath(file), LONGEST_PATH)} {state.st_size} bytes {state.st_mtime_ns}")
    if wrong := next((line for line in lines if "\n" in line), None):
        raise InputError(f"a line end in {wrong}", "rename the file or the set")
    return "\n".join(lines).encode(errors="replace").decode() + "\n"  # names of files need not be UTF-8
