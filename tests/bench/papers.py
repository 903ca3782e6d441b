"""Makes models of the sizes reported in their papers, and random training sets for them.

Words are drawn from a vocabulary as large as that of TED talks, with frequencies ∝ 1 / rank. The vocabulary's words
have about six letters on average. A text of characters has 80 tokens; the last one is END. About every sixth character
is followed by a slot.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch

from punc.data.labels import Label, LabelSet
from punc.models.base import create, model_class, option_defaults
from punc.tokens.chunks import by_length, cut
from punc.tokens.store_set import StoreSet
from punc.tokens.vocabulary import END, Vocabulary
from punc.training.batching import Batch, gather, stateful
from punc.training.optim import Optimizer

WORDS, CHARACTERS, LENGTH = 28000, 50, 80
LABELS = LabelSet(tuple(Label(name, "w" + mark) for name, mark in zip("OABCDEFGHI", ["", *",.?!:;-()"])))
MODELS = {"T-LSTM": "t_lstm", "TA-LSTM-p": "ta_lstm", "BLSTM-CRF": "blstm_crf", "Bi-LSTM": "bi_lstm",
          "CNN-Feature": "cnn_feature"}
OF_CHARACTERS = ("Bi-LSTM", "CNN-Feature")


def vocabulary() -> Vocabulary:
    rng, words = np.random.default_rng(0), dict.fromkeys(("<unk>", "</s>"))
    while len(words) < WORDS:
        words["".join(rng.choice(list("etaoinshrdlucmfwypvbgkjqxz"), rng.poisson(5) + 1))] = None
    return Vocabulary(list(words))


def words_of(count: int) -> StoreSet:
    rng = np.random.default_rng(0)
    ranks = np.exp(rng.random(count) * np.log(WORDS - 2)).astype(np.int32)
    labels = rng.choice(len(LABELS), count, p=[0.73, *[0.03] * 9]).astype(np.int8)
    return StoreSet(ranks + 1, labels, rng.exponential(0.2, count).astype(np.float32), ["s"], np.array([0, count]))


def characters_of(count: int) -> StoreSet:
    rng = np.random.default_rng(0)
    offsets = np.arange(max(count // LENGTH, 100) + 1) * LENGTH
    ids = rng.integers(2, CHARACTERS, offsets[-1]).astype(np.int32)
    labels = np.where(rng.random(offsets[-1]) < 1 / 6, rng.integers(0, 4, offsets[-1]), -1).astype(np.int8)
    ids[offsets[1:] - 1], labels[offsets[1:] - 1] = END, 2
    return StoreSet(ids, labels, None, [""] * (len(offsets) - 1), offsets)


def model_of(title: str, **given: float) -> torch.nn.Module:
    """Return a new model. Options that the model does not have are ignored."""
    name = MODELS[title]
    options = {option: value for option, value in given.items() if option in option_defaults(name)}
    if title in OF_CHARACTERS:
        return model_class(name)(CHARACTERS, 4, **options)
    words = vocabulary()
    if title == "TA-LSTM-p":
        return model_class(name)(len(words), len(LABELS), text_model=create("t_lstm", words, LABELS, {}).spec)
    return create(name, words, LABELS, options)


def batches_of(title: str, tokens: int) -> tuple[Callable[[], Iterator[Batch]], int]:
    """Return two values: a function that yields the training batches, and the number of tokens in the training set,
    which is about `tokens`."""
    data = characters_of(tokens) if title in OF_CHARACTERS else words_of(tokens)
    if title.startswith("T"):
        return partial(stateful, data, 1, 100, 5), len(data.ids)
    rows, chunk_size, context = (100, 1 << 20, 0) if title in OF_CHARACTERS else (32, 128, 16)
    lookahead = 3 if title == "CNN-Feature" else None
    chunks = cut(data.offsets, lookahead, chunk_size, context)
    groups = by_length(chunks, rows)
    return lambda: (gather(data, chunks, group, lookahead) for group in groups), len(data.ids)


def optimizer_of(model: torch.nn.Module, title: str) -> Optimizer:
    name, rate = ("adagrad", 0.1) if title.startswith("T") else ("adam", 0.001)
    return Optimizer(model, name, rate, max_grad_norm=5.0)
