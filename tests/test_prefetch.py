"""Batches prepared in a thread: the same batches in order, errors as they are, and no thread that stays."""

import gc
import threading
import time
from contextlib import contextmanager

import pytest
import torch

from punc.tokens.batches import Batch
from punc.training import prefetch as module
from punc.training.prefetch import AHEAD, ahead, prefetch


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
    assert "prefetch" not in {thread.name for thread in threading.enumerate()}


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
    while len(prepared) < AHEAD + 2 and time.monotonic() < deadline:  # the queue is full, and one waits for room
        time.sleep(0.001)
    assert len(prepared) == AHEAD + 2
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
        assert current == [("prefetch", "cuda:1")]
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
    assert module.AHEAD > 1
