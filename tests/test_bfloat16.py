"""Whether layers run in bfloat16 here."""

import pytest
import torch

from punc.base.bfloat16 import has_bfloat16


@pytest.fixture(autouse=True)
def empty_cache():
    has_bfloat16.cache_clear()
    yield
    has_bfloat16.cache_clear()


def test_has_bfloat16_larger_lstm_runs():
    if has_bfloat16():
        with torch.autocast("cpu", torch.bfloat16):
            assert torch.nn.LSTM(5, 4)(torch.rand(3, 2, 5))[0].dtype == torch.bfloat16


def test_has_bfloat16_false_if_pytorch_fails(monkeypatch):
    def fails(*_):
        raise RuntimeError("could not create a primitive descriptor")
    monkeypatch.setattr(torch.nn.LSTM, "forward", fails)
    assert not has_bfloat16()


def test_has_bfloat16_true_if_pytorch_runs(monkeypatch):
    monkeypatch.setattr(torch.nn.LSTM, "forward", lambda *_: None)
    assert has_bfloat16()
