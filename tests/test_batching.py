"""The batches of an epoch: which tokens count in the loss, and at which rates they are learned."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from punc.tokens.batches import Batch
from punc.tokens.store_set import StoreSet
from punc.training.batching import at_rates, count_slots, cut_streams, epoch_batches, training_set
from punc.training.options import TrainingOptions

# Two streams of characters, "ab c" and "abcde", with a slot after each word.
DATA = StoreSet(np.arange(2, 11, dtype=np.int32), np.array([-1, 1, -1, 2, -1, -1, -1, -1, 0], np.int8), None,
                ["a", "b"], np.array([0, 4, 9]))


@pytest.mark.parametrize(("batching", "lookahead"), [("chunks", 2), ("chunks", None), ("stateful", 2)])
def test_loss_on_tokens_gives_each_token_a_label(batching, lookahead):
    labels = {}
    for loss_on in ("slots", "tokens"):
        options = TrainingOptions(batching=batching, batch_size=2, bptt=3, chunk_size=3, context=1, loss_on=loss_on)
        model = SimpleNamespace(lookahead=lookahead, reads_turns=False, labels=["O", "COMMA", "PERIOD"])
        data = training_set(model, DATA, options)
        batches = [*epoch_batches(model, data, cut_streams(model, data, options), options, 0)]
        labels[loss_on] = np.concatenate([batch.labels.flatten().numpy() for batch in batches])
        assert count_slots(data) == (labels[loss_on] >= 0).sum() == (3 if loss_on == "slots" else 9)
    slots, tokens = labels["slots"], labels["tokens"]
    assert (tokens[slots >= 0] == slots[slots >= 0]).all()
    assert sorted(tokens[(slots < 0) & (tokens >= 0)]) == [0] * 6


def test_loss_on_slots_is_the_set_itself():
    assert training_set(SimpleNamespace(reads_turns=False), DATA, TrainingOptions()) is DATA


@pytest.mark.parametrize(("fall", "warmup"), [(0.0, 0.5), (0.04, 0.5), (0.04, 1.5), (0.04, 0.0)])
def test_at_rates_rise_in_the_warmup_and_fall(fall, warmup):
    """By hand: batches of 4, 0 and 6 slots, in epochs of 10."""
    seen, rate = [], 0.1
    updates = SimpleNamespace(set_learning_rate=seen.append)
    for epoch in range(2):
        batches = (Batch(torch.zeros(1, 8), None, torch.arange(8).unsqueeze(0) - 8 + size) for size in (4, 0, 6))
        assert len([*at_rates(batches, updates, rate, fall, 10, epoch, warmup)]) == 3
        rate -= fall
    done = np.array([[0, 4, 4], [0, 4, 4]]) / 10
    after = np.array([[4, 4, 10], [14, 14, 20]]) / 10
    warm = np.minimum(after / warmup, 1) if warmup else np.ones((2, 3))
    np.testing.assert_allclose(np.reshape(seen, (2, 3)), warm * (np.array([[0.1], [0.1 - fall]]) - fall * done))
