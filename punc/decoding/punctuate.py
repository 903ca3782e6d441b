"""Punctuation restored: a data directory in, a punctuated one out.

Besides the tables of a data directory, with the labels as `punct`, OUT-DIR gets

    text_punct           the words as the label set writes them, one line an utterance
    post.ark, post.scp   posteriors before any scaling, a Kaldi float matrix (words × labels) an utterance
    ctm_punct            the timed words of a CTM with their marks, where there is a CTM

Memory is some groups of tokens (punc.decoding.segments). Several processes decode, each with one thread: batches
are too small to be shared between threads.

Torch takes a second to load, so it is imported where something is decoded: not in the parent of
several processes, which reads and writes while they load it.
"""

import os
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from kaldiio.matio import write_array
from tqdm import tqdm

from punc.base.errors import InputError
from punc.base.files import atomic_dir
from punc.base.log import hide_progress
from punc.base.options import nearest
from punc.base.parallel import map_ordered
from punc.data.datadir import DataDir, Utterance, write_tables
from punc.data.labels import LabelSet
from punc.data.tables import sort_table
from punc.decoding.marked_ctm import write_marked_ctm
from punc.decoding.segments import BATCH_SIZE, CHUNK_SIZE, CONTEXT, Part, groups, joined
from punc.text.casing import read_casing
from punc.text.prose_reader import Clitics, written
from punc.text.prose_writer import ProseWriter
from punc.tokens.store import StoreSet
from punc.tokens.tokenizer import read_tokenizer

STALE = ("text_punct", "ctm_punct", "post.ark", "post.scp", "pauses.ark", "pauses.scp")


class Task(NamedTuple):
    """What of a group is decoded: `StoreSet`'s ids, pauses and offsets of the parts; the tokens of the slots kept.

    begins   bool (parts,), whether a part begins a stream
    """

    ids: np.ndarray
    pauses: np.ndarray | None
    offsets: np.ndarray
    slots: np.ndarray
    begins: np.ndarray


def task(group: list[Part]) -> Task:
    """The parts of a group as streams of one set."""
    offsets = np.cumsum([0, *(len(part.ids) for part in group)])
    slots = np.concatenate([offset + part.slots for offset, part in zip(offsets.tolist(), group)])
    return Task(joined([part.ids for part in group]), joined([part.pauses for part in group]), offsets, slots,
                np.array([part.begins for part in group]))


class Decoder:
    """Tasks to labels, int8 (slots,), and posteriors, float32 (slots, L) or None; loads the model at its first task.

    It has to be a class, since it goes to other processes as it is here: without the model.
    """

    def __init__(self, directory: Path, scale: np.ndarray | None, chunk_size: int, context: int, batch_size: int,
                 posteriors: bool, case_rule: bool = False, viterbi: bool = True):
        self.directory, self.scale, self.posteriors = directory, scale, posteriors
        self.case_rule, self.viterbi = case_rule, viterbi
        self.chunk_size, self.context, self.batch_size = chunk_size, context, batch_size
        self.model = self.uncased = None  # uncased: bool (vocabulary,), for case_rule

    def __call__(self, work: Task) -> tuple[np.ndarray, np.ndarray | None]:
        import torch

        from punc.base.memory import keep_freed_memory
        from punc.decoding.decode import decode
        from punc.models.base import load
        if self.model is None:
            torch.set_num_threads(1)
            keep_freed_memory()
            self.model = load(self.directory)
            if self.chunk_size and (self.model.lookahead or 0) > max(self.chunk_size, self.context):
                raise InputError(f"the model reads {self.model.lookahead} tokens past a slot, but --chunk-size={self.chunk_size}",
                                 "give that many or more")
        streams = StoreSet(work.ids, None, work.pauses, [""] * (len(work.offsets) - 1), work.offsets)
        chosen, log_probs = decode(self.model, streams, self.scale, viterbi=self.viterbi and not self.case_rule,
                              posteriors=self.posteriors or self.case_rule, chunk_size=self.chunk_size, context=self.context,
                              batch_size=self.batch_size)
        if len(work.slots) < len(chosen):
            chosen, log_probs = chosen[work.slots], None if log_probs is None else log_probs[work.slots]
        if self.case_rule:
            chosen = self._agreeing(log_probs, work)
        return chosen.astype(np.int8), np.exp(log_probs) if self.posteriors else None

    def _agreeing(self, log_probs: np.ndarray, work: Task) -> np.ndarray:
        """The labels whose marks and capitals agree; a part is not bound by the one that it continues."""
        from punc.decoding.constraints import case_rules, constrained, has_case
        from punc.decoding.decode import scaled
        if self.model.token_type != "word":
            raise InputError(f"--case-rule with a model that reads {self.model.token_type} tokens", "leave it out")
        if self.uncased is None:
            self.uncased = ~has_case(self.model.vocabulary.tokens)
        free = self.uncased[work.ids[work.slots]]
        bounds = np.searchsorted(work.slots, work.offsets)
        free[bounds[:-1][(np.diff(bounds) > 0) & ~work.begins]] = True
        return constrained(scaled(log_probs, self.scale), bounds, *case_rules(self.model.labels), free)


def punctuate(directory: Path, data: DataDir, out: Path, *, scale: str = "", chunk_size: int = CHUNK_SIZE,
              context: int = CONTEXT, batch_size: int = BATCH_SIZE, posteriors: bool = True, viterbi: bool = True,
              case_rule: bool = False, casing: str = "", clitics: str = "", ctm: str = "", nj: int = 2) -> None:
    """Punctuate a data directory with the model of a directory, whole or not at all.

    scale       multiply posteriors of labels before the choice: LABEL=FACTOR,…
    chunk_size  tokens of a stream that are decoded in one go; 0: all, however much memory that takes
    context     tokens before a piece (and after it, for a model that reads both ways) that are read with it
    batch_size  chunks in a batch; changes the speed, not the labels
    posteriors  write post.ark and post.scp
    viterbi     a CRF's labels are those of its most probable sequence; else each slot has its most probable one
    case_rule   after a mark that ends a sentence, and where a text begins, a word has a capital (punc.decoding.constraints)
    casing      text_punct as prose: how words are written that have more capitals, a file (punc.text.casing, punc.text.prose_writer)
    clitics     text_punct as prose: words that are joined to others, a file
    ctm         timed words to be punctuated, else those of DATA-DIR/ctm
    nj          processes

    Raises InputError for a directory that has no model or is no data directory, and for options that do not fit.
    """
    for name, value, least in (("chunk-size", chunk_size, 0), ("context", context, 0), ("batch-size", batch_size, 1), ("nj", nj, 1)):
        if value < least:
            raise InputError(f"--{name}={value} is too small", f"give {least} or more")
    if out.exists() and os.path.samefile(out, data.path):
        raise InputError("this is DATA-DIR too", "name another OUT-DIR: labels there would be lost", out)
    tokenizer, label_set = read_tokenizer(directory), LabelSet.read(directory / "labels.txt")
    if not (directory / "final.pt").is_file():
        raise InputError("no such file", "train the model, or name another directory", directory / "final.pt")
    if ctm and not Path(ctm).is_file():
        raise InputError("no such file", "name a CTM, or leave --ctm out", ctm)
    timed = ctm or (data.path / "ctm" if (data.path / "ctm").is_file() else None)
    decoder = Decoder(directory, parse_scale(scale, label_set), chunk_size, context, batch_size, posteriors, case_rule, viterbi)
    results = _decoded(groups(data, tokenizer, chunk_size, context), decoder, nj)
    counts = Counter()
    with atomic_dir(out) as tmp:
        with ExitStack() as stack:
            text = stack.enter_context(open(tmp / "text_punct", "wb"))
            prose = _prose_writer(text, label_set, casing, clitics) if casing or clitics else None
            files = [stack.enter_context(open(tmp / f"post.{end}", "wb")) for end in ("ark", "scp") if posteriors]
            matrices = _Matrices(*files, os.path.abspath(out / "post.ark")) if posteriors else None
            tables = write_tables(tmp, out, _labelled(results, label_set, text, prose, matrices, counts), data)
        if not counts.total():
            raise InputError("not one word", "punctuate a text that has words", data.path / "text")
        extra = ["text_punct"] + ["post.scp"] * posteriors
        for name in extra if data.has_segments else ():
            sort_table(tmp / name)
        if timed:
            write_marked_ctm(tmp / "ctm_punct", timed, DataDir(tmp), label_set)
        made = {*tables, *(file.name for file in tmp.iterdir())}
    for name in set(STALE) - made:
        (out / name).unlink(missing_ok=True)
    numbers = " ".join(f"{label.name} {counts[label.name]}" for label in label_set)
    print(f"{out}: {counts.total()} words: {numbers}", file=sys.stderr)


def parse_scale(text: str, labels: LabelSet) -> np.ndarray | None:
    """Factors of the labels' posteriors, float32 (L,), of `LABEL=FACTOR,…`; None for none. Raises InputError."""
    factors = np.ones(len(labels), np.float32)
    for item in text.split(",") if text else ():
        name, _, number = item.partition("=")
        if name not in labels.names:
            raise InputError(f"--scale: no label '{name}'", nearest(name, labels.names))
        try:
            factors[labels.index(name)] = factor = float(number)
        except ValueError:
            factor = 0.0
        if not 0 < factor < float("inf"):
            raise InputError(f"--scale: '{number}' is no factor of {name}", "give a number above 0, as in O=0.5")
    return factors if text else None


def _decoded(parted: Iterable[list[Part]], decoder: Decoder, nj: int) -> Iterator[tuple[list[Utterance], tuple]]:
    """The utterances of each group with what the decoder returns for them."""
    waiting = deque()

    def tasks() -> Iterator[Task]:
        for group in parted:
            waiting.append([utterance for part in group for utterance in part.utterances])
            yield task(group)

    with tqdm(desc="punctuating", unit="word", unit_scale=True, leave=False, delay=2, disable=hide_progress()) as bar:
        for result in map_ordered(decoder, tasks(), nj):
            yield waiting.popleft(), result
            bar.update(len(result[0]))


def _prose_writer(text: IO[bytes], label_set: LabelSet, casing: str, clitics: str) -> ProseWriter:
    return ProseWriter(text, label_set, read_casing(casing) if casing else {},
                       Clitics(clitics).tokens if clitics else frozenset())


def _labelled(results: Iterable, label_set: LabelSet, text: IO[bytes], prose: ProseWriter | None,
              matrices: "_Matrices | None", counts: Counter) -> Iterator[Utterance]:
    """The utterances with their labels; on the way, writes them as text, and their posteriors."""
    names = np.array(label_set.names, object)
    for utterances, (chosen, posteriors) in results:
        labels = names[chosen].tolist()
        if not prose:
            words = written(list(chain.from_iterable(u.words for u in utterances)), labels, label_set)
        counts.update(dict(zip(label_set.names, np.bincount(chosen, minlength=len(names)).tolist())))
        begin = 0
        for utterance in utterances:
            end = begin + len(utterance.words)
            if prose:
                prose.write(utterance.id, utterance.stream, utterance.words, labels[begin:end])
            else:
                text.write(" ".join((utterance.id, *words[begin:end])).encode() + b"\n")
            if matrices:
                matrices.write(utterance.id, posteriors[begin:end])
            yield utterance._replace(labels=labels[begin:end])
            begin = end
    if prose:
        prose.close()


class _Matrices:
    """Writes Kaldi matrices to an archive that will be at `place`, and its index."""

    def __init__(self, ark: IO[bytes], index: IO[bytes], place: str):
        self.ark, self.index, self.place = ark, index, place

    def write(self, key: str, matrix: np.ndarray) -> None:
        """Append a float32 matrix; one without rows has no columns either, as Kaldi wants it."""
        self.ark.write(key.encode() + b" ")
        self.index.write(f"{key} {self.place}:{self.ark.tell()}\n".encode())
        write_array(self.ark, matrix if len(matrix) else np.zeros((0, 0), np.float32))
