"""Pause-Window compared with its equations, and on pauses alone."""

import numpy as np
import pytest
import torch

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.decoding.decode import log_posteriors
from punc.models import base
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet
from punc.tokens.vocabulary import END, Vocabulary
from punc.training.options import TrainingOptions
from punc.training.train import train

LABELS = LabelSet((Label("O", "w"), Label("COMMA", "w,"), Label("PERIOD", "w.")))
VOCABULARY = Vocabulary(["<unk>", "</s>", *"abcdef"])


def make(**options):
    torch.manual_seed(1)
    return base.create("pause_window", VOCABULARY, LABELS, {"embedding_dim": 3, "hidden_dim": 4, **options}).eval()


def by_hand(model, ids, pauses, slot):
    """The logits of a slot: what is outside the text has no word and no pause."""
    n, inputs = model.window, []
    if model.pauses:
        for t in range(slot - n, slot + n + 1):
            pause = pauses[t] if 0 <= t < len(ids) else np.nan
            inputs.append(0.0 if np.isnan(pause) else pause)
    if model.embedding:
        for t in range(slot - n + 1, slot + n + 1):
            inputs += model.embedding.weight[ids[t] if 0 <= t < len(ids) else END].tolist()
    return model.output(model.hidden(torch.tensor(inputs)).tanh()).detach()


@pytest.mark.parametrize("options", [{}, {"window": 1}, {"window": 3}, {"words": False}, {"pauses": False}])
def test_logits_match_equations(options):
    model = make(**options)
    lengths = [7, 1, 4]
    ids = [np.random.default_rng(i).integers(2, 8, n) for i, n in enumerate(lengths)]
    pauses = [np.random.default_rng(i).choice(np.array([0, 0.3, 1.2, np.nan], np.float32), n)
              for i, n in enumerate(lengths)]
    data = StoreSet(np.concatenate(ids).astype(np.int32), None, np.concatenate(pauses), [*"xyz"],
                    np.cumsum([0, *lengths]))
    expected = torch.stack([by_hand(model, i, p, slot).log_softmax(0) for i, p in zip(ids, pauses)
                            for slot in range(len(i))])
    found = log_posteriors(model, data, chunk_size=0, batch_size=3)
    np.testing.assert_allclose(found, expected.numpy(), rtol=0, atol=1e-5)


def test_pauses_alone_are_learned(toy_store, tmp_path):
    train(toy_store, tmp_path, "pause_window", {"words": False, "hidden_dim": 8}, TrainingOptions(
        train_set="train_pause", dev_set="dev_pause", optimizer="adam", learning_rate=0.03, batch_size=10, epochs=5,
        chunk_size=32, context=8, threads=1))
    model, data = base.load(tmp_path), Store(toy_store).set("dev_pause")
    other = data._replace(ids=np.full_like(data.ids, 2))
    assert np.array_equal(log_posteriors(model, other), log_posteriors(model, data))
    assert np.mean((log_posteriors(model, data).argmax(1) == data.labels)[~np.isnan(data.pauses)]) > 0.95


def test_neither_words_nor_pauses_raises():
    with pytest.raises(InputError, match="words=false and pauses=false; the model needs one of them"):
        make(words=False, pauses=False)
