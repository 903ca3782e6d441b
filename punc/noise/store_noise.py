"""Draws errors for a set of a store. Each seed gives different errors.

A word is a run of tokens of which only the last has a slot. Words that are not in the noise table are treated like rare
words. The store's tokenizer converts the recogniser's words to tokens, so words outside the vocabulary become `<unk>`
or several tokens. A noisy set is drawn in blocks and written to unnamed temporary files, so memory does not grow with
the corpus.
"""

import logging
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import IO, NamedTuple

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.runs import find_sorted, ranges
from punc.noise.confusions import read_confusions
from punc.noise.draw import Drawn, Fluency, align_drawn, draw, drawn_pauses
from punc.noise.table import make_table
from punc.timing.align import project_labels
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizer import LookupTokenizer, Tokenizer
from punc.tokens.vocabulary import SPECIALS, UNK

logger = logging.getLogger(__name__)

BLOCK = 1 << 19  # the maximum number of tokens in a block
STRETCH = 1024  # the number of words in a stretch; either all words of a stretch may get errors, or none


class Block(NamedTuple):
    """A block of n complete words of a set."""

    ids: np.ndarray  # int32, the tokens
    ends: np.ndarray  # int64 (n,): the end of each word in `ids`
    labels: np.ndarray  # int8 (n,)
    pauses: np.ndarray | None  # float32 (n,)
    # int64: for each stream that begins in the block, the index of its first word. A stream without words gets the
    # index of the next word
    streams: np.ndarray

    @property
    def first(self) -> np.ndarray:
        """Whether each word is the first of a stream or of the block, bool (n,)."""
        first = np.zeros(len(self.ends), bool)
        first[self.streams] = True
        first[:1] = True
        return first


def blocks(data: StoreSet, size: int = BLOCK) -> Iterator[Block]:
    """Yield the words of a labelled set in blocks. Leaves out the tokens after the set's last slot."""
    begin = stream = 0
    assert data.labels is not None, "the set is labelled"
    while begin < len(data.ids):
        labels = data.labels[begin:begin + size]
        slots = np.flatnonzero(labels >= 0)
        if not len(slots):  # the next word is longer than a block, or no word follows
            size *= 2
            if begin + size > 2 * len(data.ids):
                return
            continue
        length = int(slots[-1]) + 1
        last = int(np.searchsorted(data.offsets[:-1], begin + length))
        starts = np.searchsorted(slots + 1, data.offsets[stream:last] - begin, "right")
        yield Block(np.array(data.ids[begin:begin + length]), slots + 1, labels[slots],
                    None if data.pauses is None else data.pauses[begin + slots], starts)
        begin, stream = begin + length, last


class WordRuns:
    """Assigns types (see noise.table) to words. Words with the same tokens have the same type; type 0 stands for the
    unknown token. `types` maps words to types."""

    def __init__(self, tokenizer: Tokenizer, words: list[str]):
        encoding = tokenizer.encode(words)
        self._tokens = np.concatenate([np.array([UNK], np.int32), encoding.ids])
        self._ends = np.concatenate([[1], encoding.slots + 2])
        self._hashes, self._types, same = np.unique(hash_runs(self._tokens, self._ends), return_index=True,
                                                    return_inverse=True)
        self.types = dict(zip(words, self._types[same][1:].tolist()))

    def find(self, block: Block) -> np.ndarray:
        """Return the types of the words in a block, int64. Unknown words have type 0."""
        places = find_sorted(self._hashes, hash_runs(block.ids, block.ends))
        return np.where(places < 0, 0, self._types[places])

    def spell(self, block: Block, drawn: Drawn) -> tuple[np.ndarray, np.ndarray]:
        """Return the tokens of a text with errors, int32, and the end of each word, int64."""
        kept = drawn.kept[drawn.source] & drawn.spoken
        pool = np.concatenate([block.ids, self._tokens])
        own_starts, own_lengths = _stretches(block.ends, 0)
        other_starts, other_lengths = _stretches(self._ends, len(block.ids))
        starts = np.where(kept, own_starts[drawn.source], other_starts[drawn.words])
        lengths = np.where(kept, own_lengths[drawn.source], other_lengths[drawn.words])
        return pool[ranges(starts, lengths)], np.cumsum(lengths)


def _stretches(ends: np.ndarray, shift: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the start (plus `shift`) and the length of each run of tokens, given the ends of the runs."""
    lengths = np.diff(ends, prepend=0)
    return ends - lengths + shift, lengths


def hash_runs(tokens: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return a 64-bit hash of each run of tokens. No run may be empty."""
    starts, lengths = _stretches(ends, 0)
    places = ranges(np.zeros_like(lengths), lengths)
    mixed = (tokens.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= places.astype(np.uint64) * np.uint64(0xBF58476D1CE4E5B8) + np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(32)
    return np.add.reduceat(mixed, starts) if len(starts) else np.zeros(0, np.uint64)


class StoreNoise:
    """Draws errors for a labelled set of a store, with the word error rate `wer`. The errors are drawn from
    `confusions`, a file that `punc confusions` wrote.

    share   the fraction of the text that can have errors; each seed selects different stretches of STRETCH words
    draws   the number of replacements drawn for each wrong word; the best-fitting one is used

    Raises InputError for confusions that cannot be read or cannot give this rate, and for character tokens.
    """

    def __init__(self, data: StoreSet, store: Store, confusions: StrPath, wer: float,
                 share: float = 1.0, draws: int = 1):
        if store.tokenizer.ends_with_end:
            raise InputError(f"ASR noise does not work with tokens of type '{store.token_type}'",
                             "train on words, or on pieces of words", store.path)
        self._share, self._fluency = share, Fluency(draws) if draws > 1 else None
        self._data = data
        self._has_mark = np.array([bool(label.mark) for label in store.labels])
        counted, own = read_confusions(confusions), []
        if isinstance(store.tokenizer, LookupTokenizer):
            own = store.vocabulary.tokens[len(SPECIALS):]
        self._runs = WordRuns(store.tokenizer, [*dict.fromkeys([*own, *counted.words])])
        table = make_table(counted, self._runs.types, {*own, *counted.seen})
        counts, marks = np.zeros(len(table.errors)), 0
        for block in blocks(data):
            types = self._runs.find(block)
            counts += np.bincount(types, minlength=len(counts))
            if self._fluency:
                self._fluency.add(types, block.first)
            marks += int(self._has_mark[block.labels].sum())
        self._table = table.at_wer(wer, counts, marks / max(counts.sum(), 1))

    def draw(self, seed: int) -> StoreSet:
        """Return a copy of the set with errors, drawn with this seed. The arrays are memory-mapped."""
        words = changed = deleted = inserted = tokens = 0
        starts: list[np.ndarray] = []
        with ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            for number, block in enumerate(blocks(self._data)):
                types, first = self._runs.find(block), block.first
                drawn = draw(self._table, types, self._has_mark[block.labels], first,
                             np.random.default_rng((seed, number)), self._clean(len(types), (seed, number, 1)),
                             self._fluency)
                alignment = align_drawn(types, first, drawn)
                ids, ends = self._runs.spell(block, drawn)
                before = np.searchsorted(drawn.source, block.streams)  # number of drawn words before each stream
                starts.append(tokens + np.concatenate([[0], ends])[before])
                pauses = np.zeros(0) if block.pauses is None else drawn_pauses(block.pauses, drawn)
                _write(files, ids, ends, project_labels(alignment, block.labels), pauses)
                words += len(types)
                tokens += len(ids)
                changed += alignment.distance
                deleted += drawn.deleted
                inserted += drawn.inserted
            ids = _mapped(files[0], np.int32, tokens)
            labels = _mapped(files[1], np.int8, tokens)
            pauses = _mapped(files[2], np.float32, tokens)
        logger.info("ASR noise: %s words, %s deleted, %s inserted: %s words, WER %.2f %%", f"{words:,}",
                    f"{deleted:,}", f"{inserted:,}", f"{words - deleted + inserted:,}", 100 * changed / max(words, 1))
        found = np.concatenate(starts)
        offsets = np.append(found, np.full(len(self._data.offsets) - len(found), tokens))
        return self._data._replace(ids=ids, labels=labels, offsets=offsets,
                                   pauses=None if self._data.pauses is None else pauses, turns=None)

    def _clean(self, count: int, seed: tuple[int, ...]) -> np.ndarray | None:
        if self._share == 1:
            return None
        stretches = np.random.default_rng(seed).random(-(-count // STRETCH)) >= self._share
        return np.repeat(stretches, STRETCH)[:count]


def _write(files: Sequence[IO[bytes]], ids: np.ndarray, ends: np.ndarray, labels: np.ndarray,
           pauses: np.ndarray) -> None:
    all_labels = np.full(len(ids), -1, np.int8)
    all_pauses = np.full(len(ids), np.nan, np.float32)
    all_labels[ends - 1] = labels
    if len(pauses):
        all_pauses[ends - 1] = pauses
    arrays: tuple[np.ndarray, ...] = ids, all_labels, all_pauses
    for file, array in zip(files, arrays):
        file.write(array.tobytes())


def _mapped(file: IO[bytes], kind: type, items: int) -> np.ndarray:
    """Map the content of a file into memory as a read-only array. The array stays valid after the file is closed."""
    file.flush()
    return np.memmap(file, kind, "r", shape=(items,))
