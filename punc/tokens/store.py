"""Stores: data directories as a vocabulary and flat memory-mapped arrays, which is what models train on.

    STORE/vocab               one token a line, the line is its id: <unk>, </s>, then the most frequent first
    STORE/unit, pieces.model  what else makes tokens of words, where these are not the tokens (punc.tokens.tokenizers)
    STORE/labels.txt          the label set
    STORE/conf                --name=value lines: the unit and the options
    STORE/<set>/ids.npy       int32 (N,), the tokens of all streams one after another
    STORE/<set>/labels.npy    int8 (N,), the label of the slot after each token, -1 where there is no slot
    STORE/<set>/pauses.npy    float32 (N,), seconds after each token, NaN unknown
    STORE/<set>/index         stream offset length, one line a stream

Who reads a stream reads `</s>` after its end; of words and subwords none is stored, of characters it is the last token.
"""

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import atomic_dir, atomic_file, open_input, read_lines
from punc.base.lookup import Lookup
from punc.base.parallel import map_ordered
from punc.data.block_reader import ENCODE_BYTES, Encoded, Irregular, encode_block, encode_by_time, explain, line_blocks
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.tokens.tokenizer import Tokenizer, read_tokenizer, tokenizer_class
from punc.tokens.vocabulary import END, UNK, Vocabulary

__all__ = ["END", "UNK", "Store", "StoreSet", "Vocabulary", "make_store"]

SET_FILES = ("ids.npy", "labels.npy", "pauses.npy", "index")
FILES = ("vocab", "token_type", "pieces.model", "labels.txt", "conf")


class StoreSet(NamedTuple):
    """One data directory of a store, read only and memory-mapped.

    ids      int32 (N,)
    labels   int8 (N,), -1 where there is no slot; None where the directory has no labels
    pauses   float32 (N,) in seconds, NaN unknown; None where the directory has none
    streams  the streams' names
    offsets  int64 (len(streams) + 1,): stream i is [offsets[i]:offsets[i + 1]] of the arrays
    """

    ids: np.ndarray
    labels: np.ndarray | None
    pauses: np.ndarray | None
    streams: list[str]
    offsets: np.ndarray


class Store:
    """A store on disk: `vocabulary`, `tokenizer` (punc.tokens.tokenizers), `labels`, `unit`, `sets` (names), and `set(name)`.

    Raises InputError for a directory that is no store, or an unfinished one.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        if not self.path.is_dir():
            raise InputError("no such directory", "make it: punc make-store", path)
        if not (self.path / "conf").is_file() or not (self.path / "vocab").is_file():
            raise InputError("not a store, or an unfinished one", "make it: punc make-store", path)
        self.conf = dict(line[2:].split("=", 1) for _, line in read_lines(self.path / "conf"))
        self.token_type = self.conf["token-type"]
        self.tokenizer = read_tokenizer(self.path)
        self.vocabulary = self.tokenizer.vocabulary
        self.labels = LabelSet.read(self.path / "labels.txt")
        self.sets = sorted(index.parent.name for index in self.path.glob("*/index"))

    def set(self, name: str) -> StoreSet:
        """Open one set. Raises InputError where it is missing, truncated, or its files do not fit together."""
        folder = self.path / name
        if name not in self.sets:
            raise InputError(f"no set '{name}' in the store", f"it has {' '.join(self.sets)}", self.path)
        ids = _open_array(folder / "ids.npy", np.int32)
        labels, pauses = (_open_array(folder / f, kind) if (folder / f).exists() else None
                          for f, kind in (("labels.npy", np.int8), ("pauses.npy", np.float32)))
        streams, starts, lengths = _read_index(folder / "index")
        offsets = np.append(starts, len(ids))
        fit = all(len(array) == len(ids) for array in (labels, pauses) if array is not None)
        if not fit or not len(starts) or starts[0] or not np.array_equal(np.diff(offsets), lengths):
            raise InputError("its files do not fit together", "make the store again: punc make-store", folder)
        return StoreSet(ids, labels, pauses, streams, offsets)


def _read_index(path: Path) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The streams, where each begins, and their lengths."""
    with open_input(path) as file:
        try:
            rows = [line.split(" ") for line in file.read().decode().split("\n")[:-1]]
            streams, starts, lengths = zip(*rows, strict=True) if rows else ((), (), ())
            return list(streams), np.array(starts, np.int64), np.array(lengths, np.int64)
        except ValueError:
            raise InputError("not STREAM OFFSET LENGTH lines", "make the store again: punc make-store", path) from None


def _open_array(path: Path, kind: type) -> np.ndarray:
    try:
        array = np.load(path, mmap_mode="r")
        if array.dtype == kind and array.ndim == 1:
            return array
    except FileNotFoundError:
        raise InputError("no such file", "make the store again: punc make-store", path) from None
    except (ValueError, EOFError, OSError):
        pass
    raise InputError(f"not a flat {np.dtype(kind)} array, or truncated", "make the store again: punc make-store", path)


def make_store(path: str | os.PathLike, data_dirs: Sequence[str | os.PathLike], labels: str | os.PathLike,
               token_type: str = "word", vocab_size: int | None = None, min_count: int = 1,
               vocab: str | os.PathLike | None = None, train: str | None = None, nj: int = 2) -> None:
    """Make a store of some data directories; each is a set, named as the directory.

    labels      the label set's file
    unit        what a token is: word, char or subword (punc.tokens.tokenizers)
    vocab_size  how many tokens the vocabulary has besides the special ones, at most; None: 100000, subwords 8000
    min_count   how often a token of the vocabulary occurs, at least; of subwords, a word that they are learnt from
    vocab       a vocabulary's file, instead of making one; of subwords, pieces.model stands beside it
    train       the sets whose words make the vocabulary, with commas between; else the first
    nj          processes; the store does not depend on it

    A finished store whose options and inputs (size and time of each table) are as they were is not made
    again. Raises InputError for options that do not fit, and whatever is wrong in the data directories.
    """
    path, sets = Path(path), _name_sets(data_dirs)
    kind = tokenizer_class(token_type)
    vocab_size = kind.vocab_size if vocab_size is None else vocab_size
    if min(vocab_size, min_count, nj) < 1:
        raise InputError(f"--vocab-size={vocab_size} --min-count={min_count} --nj={nj}", "give positive numbers")
    train = train or next(iter(sets))
    for name in train.split(","):
        if name not in sets:
            raise InputError(f"no data directory is named '{name}'", f"--train is of {' '.join(sets)}")
    if path.exists() and (not path.is_dir() or (any(path.iterdir()) and not (path / "vocab").is_file())):
        raise InputError("this is there, and no store", "name another STORE-DIR", path)
    label_set = LabelSet.read(labels)
    if len(label_set) > 127:
        raise InputError("more than 127 labels", "a store keeps a label in one byte", labels)
    tokenizer = kind.read(vocab) if vocab else None
    conf = _conf(token_type, vocab_size, min_count, vocab, train, labels, sets)
    if (path / "conf").is_file() and (path / "conf").read_text(encoding="utf-8") == conf:
        print(f"{path}: finished, and its inputs have not changed", file=sys.stderr)
        return
    tokenizer = tokenizer or kind.make([sets[name] for name in train.split(",")], vocab_size, min_count, nj)
    with atomic_dir(path) as tmp:
        tokenizer.write(tmp)
        label_set.write(tmp / "labels.txt")
        for name, data in sets.items():
            write_set(tmp / name, data, tokenizer, label_set, nj)
        _remove_stale(path, tmp)
    # Last: a store whose files were not all put in place has no conf, and is neither opened nor taken as finished.
    with atomic_file(path / "conf") as file:
        file.write(conf)


def _name_sets(data_dirs: Sequence[str | os.PathLike]) -> dict[str, DataDir]:
    sets = {}
    for folder in data_dirs:
        name = Path(folder).resolve().name
        if name in sets or name in FILES:
            raise InputError(f"'{name}' cannot name one more set of the store", "rename the directory", folder)
        sets[name] = DataDir(folder)
    return sets


def _conf(token_type: str, vocab_size: int, min_count: int, vocab: str | os.PathLike | None, train: str,
          labels: str | os.PathLike,
          sets: dict[str, DataDir]) -> str:
    """The options as a conf file, and in comments the state of each input."""
    given = [vocab] if vocab else []
    lines = [f"--token-type={token_type}", f"--vocab-size={vocab_size}", f"--min-count={min_count}", f"--train={train}",
             *(f"--vocab={file}" for file in given)]
    for file in (labels, *given, *(d.path / table for d in sets.values() for table in d.tables)):
        state = os.stat(file)
        lines.append(f"# {os.path.abspath(file)} {state.st_size} bytes {state.st_mtime_ns}")
    return "\n".join(lines) + "\n"


def _remove_stale(path: Path, tmp: Path) -> None:
    """Remove what of an earlier store at `path` would not fit the new files."""
    for name in ("conf", "token_type", "pieces.model"):
        if not (tmp / name).exists():
            (path / name).unlink(missing_ok=True)
    for index in path.glob("*/index"):
        for file in SET_FILES:
            if not (tmp / index.parent.name / file).exists():
                (index.parent / file).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # a user's own files stay
            index.parent.rmdir()


def write_set(folder: Path, data: DataDir, tokenizer: Tokenizer, labels: LabelSet,
              nj: int = 1) -> None:
    """Write one set of a store into a new directory; memory is a few blocks, time one pass."""
    folder.mkdir()
    code, classes = tokenizer.text_encoder(), Lookup(labels.names, -1)
    names = [name for name in ("text", "utt2spk", "punct", "pauses.scp") if (data.path / name).is_file()]
    if data.has_segments:
        parts = encode_by_time(data, code, classes)
    else:
        function = partial(encode_block, data.path, code, classes)
        parts = map_ordered(function, line_blocks(data, names, ENCODE_BYTES), nj)
    try:
        counts = _write_parts(folder, parts, data)
    except Irregular:
        raise explain(data, labels) from None
    if not counts["words"]:
        raise InputError("not one word", "a set of a store has words", data.path / "text")
    if tokenizer.ends_with_end:
        _end_streams(folder)
    percent = 100 * counts["lost"] / counts["tokens"]
    print(f"{folder.name}: {tokenizer.summary.format(**counts, percent=percent)}", file=sys.stderr)


def _end_streams(folder: Path) -> None:
    """Make the last token of each stream of a set END."""
    _, starts, lengths = _read_index(folder / "index")
    ids = np.load(folder / "ids.npy", mmap_mode="r+")
    ids[(starts + lengths - 1)[lengths > 0]] = END
    ids.flush()


def _write_parts(folder: Path, parts: Iterable[Encoded], data: DataDir) -> dict[str, int]:
    """Append encoded parts to the files of a set; returns how many words, tokens, lost ones and streams these are."""
    total = words = lost = streams = start = 0
    stream, key = None, ""
    with contextlib.ExitStack() as stack:
        ids = stack.enter_context(flat_file(folder / "ids.npy", np.int32))
        labels = stack.enter_context(flat_file(folder / "labels.npy", np.int8)) if data.has_labels else None
        pauses = stack.enter_context(flat_file(folder / "pauses.npy", np.float32)) if data.has_pauses else None
        index = stack.enter_context(open(folder / "index", "w", encoding="utf-8", newline="\n"))
        for part in parts:
            if not data.has_segments and (part.first <= key or part.streams[0][0] < (stream or "")):
                raise Irregular
            key = part.last
            for file, array in (ids, part.ids), (labels, part.labels), (pauses, part.pauses):
                if file:
                    file.write(array)
            words, lost = words + part.words, lost + part.lost
            for name, tokens in part.streams:
                if name != stream and stream is not None:
                    index.write(f"{stream} {start} {total - start}\n")
                if name != stream:
                    stream, start, streams = name, total, streams + 1
                total += tokens
        index.write(f"{stream} {start} {total - start}\n")
    return {"words": words, "tokens": total, "lost": lost, "streams": streams}


@contextlib.contextmanager
def flat_file(path: Path, kind: type) -> Iterator[IO[bytes]]:
    """Open an npy file to append items to; its header is completed when the block ends."""
    def header(items: int) -> bytes:
        descr = np.lib.format.dtype_to_descr(np.dtype(kind))
        text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({items},), }}"
        return b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + text.ljust(117).encode() + b"\n"

    with open(path, "wb") as file:
        file.write(header(0))
        yield file
        items = (file.tell() - 128) // np.dtype(kind).itemsize
        file.seek(0)
        file.write(header(items))
