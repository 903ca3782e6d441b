"""A set of a store with errors, drawn anew for each seed.

A run of tokens that is no known word is an unknown word: it is kept, deleted, or replaced as rare words are. What a
recogniser wrote becomes tokens by the store's tokenizer, so a word outside the vocabulary is `<unk>`, or spelled. A
noisy set is drawn in blocks, into temporary files without a name, so memory does not grow with the corpus.
"""

import logging
import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from typing import IO

import numpy as np

from punc.base.errors import InputError
from punc.noise.confusions import read_confusions
from punc.noise.draw import align_drawn, draw, drawn_pauses
from punc.noise.fluency import Fluency
from punc.noise.table import make_table
from punc.noise.word_runs import WordRuns, blocks
from punc.timing.align import project_labels
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizer import LookupTokenizer
from punc.tokens.vocabulary import SPECIALS

logger = logging.getLogger(__name__)

STRETCH = 1024  # words that have errors, or have none


class StoreNoise:
    """The errors of a set of a store.

    data        the set, with labels
    confusions  what `punc confusions` wrote
    wer         the word error rate to expect
    share       of the text that has errors, in stretches of STRETCH words drawn anew for each seed; the rest has none
    draws       how often a wrong word is drawn, to take the draw that fits best into the text

    Raises InputError for confusions that cannot be read, or give no such rate, and for a token type in which a word
    does not end with a token of its own.
    """

    def __init__(self, data: StoreSet, store: Store, confusions: str | os.PathLike, wer: float,
                 share: float = 1.0, draws: int = 1):
        if store.tokenizer.ends_with_end:
            raise InputError(f"ASR noise on tokens of type '{store.token_type}'",
                             "train on words, or on pieces of words", store.path)
        self._share, self._fluency = share, Fluency(draws) if draws > 1 else None
        self._data, self._has_mark = data, np.array([bool(label.mark) for label in store.labels])
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
        """The set with the errors of a seed. Its arrays are memory-mapped."""
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
                begins = np.append(0, ends)[np.searchsorted(drawn.source, block.streams)]
                starts.append(tokens + begins)
                pauses = np.zeros(0) if block.pauses is None else drawn_pauses(block.pauses, drawn)
                _write(files, ids, ends, project_labels(alignment, block.labels), pauses)
                words, tokens, changed = words + len(types), tokens + len(ids), changed + alignment.distance
                deleted, inserted = deleted + drawn.deleted, inserted + drawn.inserted
            ids, labels, pauses = (_mapped(file, kind, tokens) for file, kind in
                                   zip(files, (np.int32, np.int8, np.float32)))
        logger.info("ASR noise: %s words, %s deleted, %s inserted: %s words, WER %.2f %%", f"{words:,}",
                    f"{deleted:,}", f"{inserted:,}", f"{words - deleted + inserted:,}", 100 * changed / max(words, 1))
        found = np.concatenate(starts)
        offsets = np.append(found, np.full(len(self._data.offsets) - len(found), tokens))
        return self._data._replace(ids=ids, labels=labels, offsets=offsets,
                                   pauses=None if self._data.pauses is None else pauses, turns=None)

    def _clean(self, count: int, seed: tuple[int, ...]) -> np.ndarray | None:
        """Which words have no errors, bool (count,); None: any may have some."""
        if self._share == 1:
            return None
        stretches = np.random.default_rng(seed).random(-(-count // STRETCH)) >= self._share
        return np.repeat(stretches, STRETCH)[:count]


def _write(files: Sequence[IO[bytes]], ids: np.ndarray, ends: np.ndarray, labels: np.ndarray,
           pauses: np.ndarray) -> None:
    """Append tokens, and the labels and pauses of the words that end at `ends`, to the files of a set."""
    all_labels, all_pauses = np.full(len(ids), -1, np.int8), np.full(len(ids), np.nan, np.float32)
    all_labels[ends - 1] = labels
    if len(pauses):
        all_pauses[ends - 1] = pauses
    arrays: tuple[np.ndarray, ...] = ids, all_labels, all_pauses
    for file, array in zip(files, arrays):
        file.write(array.tobytes())


def _mapped(file: IO[bytes], kind: type, items: int) -> np.ndarray:
    """The content of a file as an array, memory-mapped and read-only; it outlives the file."""
    file.flush()
    return np.memmap(file, kind, "r", shape=(items,))
