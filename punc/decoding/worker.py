"""The decoder that runs in worker processes: it receives token arrays and returns label numbers and posteriors.

Importing torch takes a second, so only processes that decode with an unpacked model import it. Each process uses one
thread, because batches are too small to be divided among threads. On a GPU, a single process decodes.
"""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.processor import find_device
from punc.base.runs import bounds_of
from punc.data.labels import LabelSet
from punc.data.questions import paired
from punc.data.transitions import best_sequences, case_rules, has_case
from punc.decoding.decode import AnyModel, decode, first_parts, fit_chunk, joins_parts, load_model, of_words, scaled
from punc.decoding.options import PACKED_CONTEXT, DecodingOptions, parse_scale
from punc.decoding.packed import read_spec
from punc.decoding.shipped import is_packed
from punc.decoding.spans import Span, joined
from punc.tokens.store_set import StoreSet
from punc.tokens.tokenizer import class_of, read_tokenizer


class Task(NamedTuple):
    """Streams or spans of streams to decode. `ids`, `pauses`, `offsets` and `turns` are as in a `StoreSet`."""

    ids: np.ndarray
    pauses: np.ndarray | None
    offsets: np.ndarray
    slots: np.ndarray  # int64 (S,): the indices of the tokens whose slots are labelled
    begins: np.ndarray  # bool, one per stream: false if it continues an earlier span
    turns: np.ndarray | None = None
    # int8 (S,): 1 if a slot's label must end a sentence, −1 if it must not, 0 if it may; None: all may
    ends: np.ndarray | None = None


def task_of(spans: list[Span]) -> Task:
    """Make a task in which each span is a separate stream."""
    offsets = bounds_of(len(span.ids) for span in spans)
    slots = np.concatenate([offset + span.slots for offset, span in zip(offsets.tolist(), spans)])
    return Task(np.concatenate([span.ids for span in spans]), joined([span.pauses for span in spans]), offsets, slots,
                np.array([span.begins for span in spans]), joined([span.turns for span in spans]))


class Decoder:
    """Maps a task to label numbers, int8 (S,), and posteriors, float32 (S, L). The posteriors are None unless
    `posteriors` is true. Worker processes receive the decoder without its model, and load the model for their first
    task.

    Raises InputError if an option does not fit the model or the device is missing.
    """

    def __init__(self, directory: Path, options: DecodingOptions, posteriors: bool = False):
        labels = LabelSet.read(directory / "labels.txt")
        self.packed = is_packed(directory)
        if not self.packed and not (directory / "final.pt").is_file():
            raise InputError("no such file", "train the model, or give another directory", directory / "final.pt")
        if options.case_rule:
            _check_case_rule(directory, labels)
        self.directory, self.options, self.posteriors = directory, options, posteriors
        self.scale = parse_scale(options.scale, labels)
        self._ends = np.array([name in labels.sentence_ends for name in labels.names])
        own_context = PACKED_CONTEXT if self.packed else class_of(directory).context
        self.context = own_context if options.context is None else options.context
        if self.packed:
            chunk_size = fit_chunk(read_spec(directory).get("longest"), options.chunk_size, self.context)
            self.options = replace(options, chunk_size=chunk_size)
        self.device = _device(directory, options.device)
        self._uncased: np.ndarray | None = None  # bool (vocabulary,): whether a token has no case

    @cached_property
    def model(self) -> AnyModel:
        """The model, which is loaded when it is first used."""
        model = load_model(self.directory, self.device)
        chunk_size, ahead = self.options.chunk_size, model.lookahead or 0
        if chunk_size and ahead > max(chunk_size, self.context):
            raise InputError(f"the model reads {ahead} tokens past a slot, but --chunk-size={chunk_size}",
                             "give at least that many")
        return model

    def __call__(self, task: Task) -> tuple[np.ndarray, np.ndarray | None]:
        streams = StoreSet(task.ids, None, task.pauses, [""] * (len(task.offsets) - 1), task.offsets, task.turns)
        options, model = self.options, self.model
        transitions = case_rules(model.labels) if options.case_rule else model.transitions
        joins = joins_parts(model)
        chosen, log_probs = decode(model, streams, self.scale, viterbi=options.viterbi and not transitions,
                                   posteriors=bool(self.posteriors or transitions or joins or task.ends is not None),
                                   chunk_size=options.chunk_size, context=self.context)
        if len(task.slots) < len(chosen):
            firsts = first_parts(task.slots, task.offsets, task.begins) if joins else task.slots
            chosen, log_probs = of_words(model, chosen, log_probs, task.slots, firsts, self.scale, options.viterbi)
        if log_probs is not None:
            weighted = scaled(log_probs, self.scale)
            if task.ends is not None and self._ends.any():
                barred = np.where(self._ends, task.ends[:, None] < 0, task.ends[:, None] > 0)
                weighted = np.where(barred, -np.inf, weighted)
                chosen = np.where(barred.any(1), weighted.argmax(1), chosen)
            if transitions:
                bounds = np.searchsorted(task.slots, task.offsets)
                chosen = best_sequences(weighted, bounds, transitions, self._free(model, task, bounds))
                chosen = paired(weighted, chosen, bounds, task.begins, model.labels)
        return chosen.astype(np.int8), np.exp(log_probs) if self.posteriors and log_probs is not None else None

    def _free(self, model: AnyModel, task: Task, bounds: np.ndarray) -> np.ndarray:
        """Mark the slots to which no weights of label transitions apply, bool (S,): the first slot of each span that
        continues an earlier span and, with the case rule, the slots of words without case."""
        free = np.zeros(len(task.slots), bool)
        if self.options.case_rule:
            if self._uncased is None:
                self._uncased = ~has_case(model.tokenizer.vocabulary.tokens)
            free = self._uncased[task.ids[task.slots]]
        free[bounds[:-1][(np.diff(bounds) > 0) & ~task.begins]] = True
        return free


def _device(directory: Path, name: str) -> str:
    """Return the device that `name` stands for, or the CPU if the model is packed or not trained by gradient descent.
    Raises InputError if a packed model is to run on a GPU."""
    if is_packed(directory):
        if name not in ("auto", "cpu"):
            raise InputError(f"--device={name} does not apply to a packed model",
                             "use --device cpu: ONNX Runtime decodes it")
        return "cpu"
    if name == "auto":
        name = find_device(name)
    if name == "cpu":
        return name
    from punc.models.base import model_class, read_checkpoint
    model = model_class(read_checkpoint(directory / "final.pt")["spec"]["model"])
    return find_device(name) if model.trained_by_gradient else "cpu"


def _check_case_rule(directory: Path, labels: LabelSet) -> None:
    token_type = read_tokenizer(directory).token_type
    if token_type not in ("word", "spelled"):
        raise InputError(f"--case-rule does not apply to a model that reads {token_type} tokens", "leave it out")
    if not labels.cased:
        raise InputError("--case-rule does not apply to labels without capitals",
                         "leave it out", directory / "labels.txt")
