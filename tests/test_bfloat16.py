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


@pytest.mark.parametrize("supported", [True, False])
def test_has_bfloat16_of_a_gpu_is_what_pytorch_says(monkeypatch, supported):
    asked = []

    class Device:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            asked.append(self.name)

        def __exit__(self, *_):
            asked.append("left")

    def is_supported(including_emulation):
        assert asked == ["cuda:1"]
        return supported and not including_emulation

    monkeypatch.setattr(torch.cuda, "device", Device)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", is_supported)
    assert has_bfloat16("cuda:1") == supported
    assert asked == ["cuda:1", "left"]


def test_has_bfloat16_true_if_pytorch_runs(monkeypatch):
    monkeypatch.setattr(torch.nn.LSTM, "forward", lambda *_: None)
    assert has_bfloat16()
