"""Makes and reads stores, on which models are trained. A store contains a vocabulary, and data directories as arrays.

    STORE/vocab               one token per line; <unk> and </s> are the first two; line numbers, from 0, are ids
    STORE/…                   other files of the tokenizer (see `tokenizer`)
    STORE/labels.txt          the label set
    STORE/conf                lines --name=value with all options; comments with size and modification time of all input
                              files
    STORE/<set>/ids.npy       int32 (N,), the tokens of all streams, concatenated
    STORE/<set>/labels.npy    int8 (N,), the label of the slot after each token; -1 if there is no slot
    STORE/<set>/pauses.npy    float32 (N,), the pause after each token in seconds; NaN: unknown
    STORE/<set>/turns.npy     bool (N,), whether the next word has a different speaker; missing if this is unknown
    STORE/<set>/index         lines STREAM OFFSET LENGTH

In character streams, `</s>` is the last token. Streams of other tokens are stored without `</s>`; readers append it.
"""

import logging
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from punc.base.errors import InputError, StrPath, check_at_least, one_line
from punc.base.files import atomic_dir, is_unfinished, read_blocks, read_lines, unchanged
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet, check_record
from punc.text.prose import Clitics
from punc.tokens.store_set import SET_FILES, StoreSet, check_numbers, join_sets, read_set, write_set
from punc.tokens.tokenizer import TOKENIZER_FILES, read_tokenizer, tokenizer_class

logger = logging.getLogger(__name__)
FILES = (*TOKENIZER_FILES, "labels.txt", "conf")
MODELS = ("final.pt", "best.pt", "model.json")  # a directory with one of these is a model's
ONE_TOKEN = ("word", "class", "form")  # token types in which a word is one token
LONGEST_PATH = 10_000  # characters of a path in `conf`; of a longer path, the middle is left out
# Patterns of files that are removed, because an older store may have left them.
STALE = (*TOKENIZER_FILES[1:], *(f"*/{name}" for name in SET_FILES))


class Store:
    """A store on disk. `sets` are the names of its sets. Raises InputError if `path` is not a finished store."""

    def __init__(self, path: StrPath):
        self.path = Path(path)
        if not self.path.is_dir():
            raise InputError("no such directory", "make it: punc make-store", path)
        if not (self.path / "conf").is_file() or not (self.path / "vocab").is_file():
            raise InputError("not a store, or an unfinished one", "make it: punc make-store", path)
        self.conf, self._joins = _read_conf(self.path / "conf")
        self.token_type = self.conf["token-type"]
        self.tokenizer = read_tokenizer(self.path)
        self.vocabulary = self.tokenizer.vocabulary
        self.labels = LabelSet.read(self.path / "labels.txt")
        self.sets = sorted(index.parent.name for index in self.path.glob("*/index"))

    def set(self, name: str) -> StoreSet:
        """Open a set. Raises InputError if it is missing or broken, or contains tokens or labels that the store
        lacks."""
        if name not in self.sets:
            raise InputError(f"no set '{name}' in the store", f"it has {' '.join(self.sets)}", self.path)
        check_numbers(self.path / name, len(self.vocabulary), len(self.labels))
        return read_set(self.path / name)

    def members(self, name: str) -> list[str]:
        """Return the names of the sets in a joined set, in order. For any other set, return only its name."""
        return self._joins.get(name, [name])

    def checksums(self, sets: Iterable[str]) -> dict[str, int]:
        """Return file name → CRC-32 for all files in the store on which training with these sets depends."""
        names = [name for name in FILES if name != "conf"]
        names += [f"{name}/{file}" for name in sorted(sets) for file in SET_FILES]
        return {name: crc32_of(self.path / name) for name in names if (self.path / name).is_file()}


def _read_conf(path: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    again = "make the store again: punc make-store"
    conf, joins = {}, {}
    for number, line in read_lines(path):
        name, equals, value = line.removeprefix("--").partition("=")
        if not equals:
            raise InputError("the line is not --name=value", again, path, number)
        if name == "join":
            joined, _, members = value.partition("=")
            joins[joined] = members.split(",")
        conf[name] = value
    if "token-type" not in conf:
        raise InputError("no --token-type, because an early version made this store", again, path)
    return conf, joins


def crc32_of(path: Path) -> int:
    total = 0
    for block in read_blocks(path, 1 << 18):
        total = zlib.crc32(block, total)
    return total


def make_store(path: StrPath, data_dirs: Sequence[StrPath], labels: StrPath, token_type: str = "word",
               vocab_size: int | None = None, min_count: int = 1, vocab: StrPath | None = None,
               train: str | None = None, nj: int = 2, joins: Sequence[str] = (), clitics: str = "") -> None:
    """Make a store from data directories. Each directory becomes a set with the directory's name. Does nothing if the
    store is finished, and the options and each input's size and modification time are the same as before.

    labels      file of the label set
    vocab       file of an existing vocabulary (for subwords, with pieces.model next to it), or an encoder's directory;
                None: make a vocabulary
    vocab_size  the maximum number of tokens, not counting special tokens and tokens that the tokenizer always adds
                (such as forms); None: the tokenizer's default
    min_count   the minimum count of a token or, for subwords, of a word from which pieces are learned
    train       names, separated by commas, of the sets from which the vocabulary is made; None: the first set
    joins       joined sets, which concatenate other sets of the store; each is given as NAME=SET,SET,…
    clitics     file of the rules by which the words of the data directories were split; empty if they were not split

    Raises InputError for options that do not fit together, and for errors in the data directories.
    """
    path = Path(path)
    sets = _name_sets(data_dirs)
    kind = tokenizer_class(token_type)
    vocab_size = kind.vocab_size if vocab_size is None else vocab_size
    check_at_least(1, **{"--vocab-size": vocab_size, "--min-count": min_count, "--nj": nj})
    train = train or next(iter(sets))
    for name in train.split(","):
        if name not in sets:
            raise InputError(f"no data directory is named '{name}'", f"--train names some of {' '.join(sets)}")
    label_set = LabelSet.read(labels)
    has_model = any((path / name).is_file() for name in MODELS)
    if has_model or not ((path / "vocab").is_file() or is_unfinished(path)):
        raise InputError("this directory exists and is not a store", "give another STORE-DIR", path)
    for data in sets.values():
        check_record(data.path, label_set)
    if clitics and token_type not in ONE_TOKEN:
        raise InputError(f"--clitics does not apply to {token_type} tokens",
                         f"leave it out; it is for {', '.join(ONE_TOKEN)}")
    rules = Clitics(clitics) if clitics else None
    tokenizer = kind.read(vocab) if vocab else None
    joined = _parse_joins(joins, list(sets))
    conf = _conf({"token-type": token_type, "vocab-size": vocab_size, "min-count": min_count, "train": train,
                  "vocab": vocab, "join": joins, "clitics": clitics}, [labels, vocab, clitics], sets)
    if is_finished(path, conf):
        return
    with atomic_dir(path, "conf", STALE) as tmp:
        tokenizer = tokenizer or kind.make([sets[name] for name in train.split(",")], vocab_size, min_count, nj)
        tokenizer.clitics = rules
        tokenizer.write(tmp)
        label_set.write(tmp / "labels.txt")
        for name, data in sets.items():
            with unchanged(data.path / "text"):
                write_set(tmp / name, data, tokenizer, label_set, nj)
        for name, members in joined.items():
            join_sets(tmp, name, members)
        (tmp / "conf").write_text(conf, encoding="utf-8")


def is_store(path: Path) -> bool:
    """Return whether a directory contains a set of a store."""
    return any(path.glob("*/index"))


def is_finished(path: Path, conf: str) -> bool:
    """Return whether a directory is finished: whether its file `conf`, which is written last, has the content `conf`.
    If so, logs a message."""
    if not (path / "conf").is_file() or (path / "conf").read_bytes() != conf.encode():
        return False
    logger.info("%s: finished, and its inputs have not changed", path)
    return True


def _name_sets(data_dirs: Sequence[StrPath]) -> dict[str, DataDir]:
    sets: dict[str, DataDir] = {}
    for folder in data_dirs:
        name = Path(folder).resolve().name
        if name in sets or name in FILES:
            raise InputError(f"'{name}' is already a set or file of the store", "rename the directory", folder)
        sets[name] = DataDir(folder)
    return sets


def _parse_joins(joins: Sequence[str], sets: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for join in joins:
        name, _, members = join.partition("=")
        found[name] = members.split(",")
        for member in found[name]:
            if member not in sets:
                raise InputError(f"--join {join}: no set '{member}'", f"write NAME=SET,SET with {' '.join(sets)}")
        if not name or name in sets or "/" in name:
            raise InputError(f"--join {join}: '{name}' cannot name a joined set", "give it another name")
    return found


def _conf(options: Mapping[str, Any], given: Iterable[StrPath | None], sets: Mapping[str, DataDir]) -> str:
    """Return the content of a conf: the options and, in comments, size and modification time of each input file."""
    lines = []
    for name, value in options.items():
        values = [value] if isinstance(value, (str, int, os.PathLike)) else value or ()
        lines += [f"--{name}={one}" for one in values if one]
    files = [Path(file) for file in given if file]
    for data in sets.values():
        files += [data.path / table for table in data.tables]
    for file in files:
        state = os.stat(file)
        lines.append(f"# {one_line(os.path.abspath(file), LONGEST_PATH)} {state.st_size} bytes {state.st_mtime_ns}")
    if wrong := next((line for line in lines if "\n" in line), None):
        raise InputError(f"{wrong} contains a line end", "rename the file or the set")
    return "\n".join(lines).encode(errors="replace").decode() + "\n"  # some file names are not UTF-8
