"""The batches of an epoch: which tokens count in the loss, at which rates they are learned, a thread for a GPU."""

import gc
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from punc.tokens.batches import Batch
from punc.tokens.store_set import StoreSet
from punc.training.batching import (
    AHEAD,
    ahead,
    at_rates,
    count_slots,
    cut_streams,
    epoch_batches,
    prefetch,
    training_set,
)
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


def batches(count, error=None):
    for number in range(count):
        yield Batch(torch.full((2, 3), number), None, torch.full((2, 3), -number), number == 0)
    if error:
        raise error


def same(batch):
    return batch


def numbers(found):
    return [int(batch.tokens[0, 0]) for batch in found]


@pytest.fixture(autouse=True)
def no_thread_stays():
    yield
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("prefetch")]


@pytest.mark.parametrize("count", [0, 1, 3 * AHEAD])
def test_ahead_keeps_the_order(count):
    found = list(ahead(batches(count), same))
    assert numbers(found) == list(range(count))
    assert [batch.fresh for batch in found] == [number == 0 for number in range(count)]


@pytest.mark.parametrize("prepared", [True, False])
@pytest.mark.parametrize("error", [KeyError("x"), KeyboardInterrupt(), SystemExit(3)])
def test_ahead_raises_the_error_itself_after_the_batches_before(prepared, error):
    def prepare(batch):
        if prepared and int(batch.tokens[0, 0]) == 2:
            raise error
        return batch

    found = []
    with pytest.raises(type(error)) as raised:
        found.extend(iter_into(found, ahead(batches(3 if prepared else 2, None if prepared else error), prepare)))
    assert raised.value is error
    assert numbers(found) == [0, 1]


def iter_into(found, source):
    """Append what the source yields, so that it is there after an error too."""
    for batch in source:
        found.append(batch)
    return []


def test_ahead_prepares_some_batches_and_no_more():
    prepared = []
    source = ahead(batches(100), lambda batch: prepared.append(batch) or batch)
    next(source)
    deadline = time.monotonic() + 10
    while len(prepared) < AHEAD + 1 and time.monotonic() < deadline:
        time.sleep(0.001)
    assert len(prepared) == AHEAD + 1  # those that wait, and the one that was used
    source.close()


@pytest.mark.parametrize("used", [0, 1, 2 * AHEAD, 100])
def test_ahead_closed_early_ends_the_thread(used):
    source = ahead(batches(100), same)
    for _ in range(used):
        next(source)
    source.close()
    assert list(source) == []


def test_ahead_ends_the_thread_if_the_loop_fails():
    def loop():
        for _ in ahead(batches(100), same):
            raise ValueError("in the loop")

    with pytest.raises(ValueError, match="in the loop") as raised:
        loop()
    del raised
    gc.collect()


def test_prefetch_on_the_cpu_has_no_thread():
    source = batches(3)
    assert prefetch(source, torch.device("cpu")) is source


def test_prefetch_for_a_gpu_pins_each_tensor(monkeypatch):
    """PyTorch is replaced where it would use the GPU; the GPU of the model is the thread's while it pins."""
    current, pinned = [], []

    @contextmanager
    def device(name):
        current.append((threading.current_thread().name, str(name)))
        yield
        current.pop()

    def pin_memory(tensor):
        assert current == [("prefetch_0", "cuda:1")]
        assert tensor.is_contiguous()
        pinned.append(tensor)
        return tensor

    monkeypatch.setattr(torch.cuda, "device", device)
    monkeypatch.setattr(torch.Tensor, "pin_memory", pin_memory)
    labels = torch.arange(6).view(2, 3).t()
    for pauses in (None, torch.zeros(3, 2)):
        pinned.clear()
        given = Batch(torch.ones(3, 2), pauses, labels, False, torch.tensor([2, 1]))
        found, = prefetch(iter([given]), torch.device("cuda:1"))
        assert [id(tensor) for tensor in found[:3] if tensor is not None] == [id(tensor) for tensor in pinned]
        assert not found.fresh
        assert found.counts is given.counts
        assert found.pauses is pauses
        assert torch.equal(found.labels, labels)
