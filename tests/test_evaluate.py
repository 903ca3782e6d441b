"""The loss and F1 of a model, by hand; sets without labels."""

import numpy as np
import pytest
import torch

from punc.base.errors import InputError
from punc.models.base import NeuralModel
from punc.tokens.store import Store, make_store
from punc.training.epochs import evaluate, labelled


def test_evaluate_by_hand(toy_store, tmp_path):
    """A model that gives every slot the same logits: the loss is a cross-entropy that is known."""
    class Same(NeuralModel):
        lookahead = 1

        def forward(self, tokens, pauses, state):
            return torch.log(torch.tensor([.2, .3, .5])).expand(*tokens.shape, 3), state

    store = Store(toy_store)
    model, data = Same(), store.set("dev_short")
    model.labels = store.labels
    counts = np.bincount(data.labels, minlength=3)
    loss, f1 = evaluate(model, data)
    assert loss == pytest.approx(-(counts * np.log([.2, .3, .5])).sum() / counts.sum(), rel=1e-6)
    precision, recall = counts[2] / counts.sum(), counts[2] / (counts[1] + counts[2])
    assert f1 == pytest.approx(100 * 2 * precision * recall / (precision + recall))


def test_labelled_set_without_labels_is_an_error(toy_store, tmp_path):
    place = toy_store.parent
    for name in ("text", "utt2spk"):
        (tmp_path / "d").mkdir(exist_ok=True)
        (tmp_path / "d" / name).write_bytes((place / "dev_short" / name).read_bytes())
    make_store(tmp_path / "store", [tmp_path / "d"], place / "labels.txt", vocab=place / "vocab", nj=1)
    with pytest.raises(InputError, match="set 'd' has no labels; make the store of a data directory with punct"):
        labelled(Store(tmp_path / "store"), "d")
