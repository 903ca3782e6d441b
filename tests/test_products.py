"""Products by oneDNN are those of PyTorch up to rounding; they are taken where they are faster, and nowhere else."""

import contextlib

import pytest
import torch
from torch import nn

from punc.base import products
from punc.base.products import LEAST, fast_products

CPU = torch.device("cpu")
needs_onednn = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="PyTorch without oneDNN")


@pytest.fixture
def products_by_onednn(monkeypatch):
    """As on a processor on which oneDNN is faster. A list that gets the sizes of all inputs that oneDNN reads."""
    monkeypatch.setattr(products, "_is_faster", lambda: True)
    sizes, to_mkldnn = [], torch.Tensor.to_mkldnn

    def counted(self):
        sizes.append(tuple(self.shape))
        return to_mkldnn(self)

    monkeypatch.setattr(torch.Tensor, "to_mkldnn", counted)
    return sizes


def large(*shape, size=1024):
    """Inputs, of such a shape but for the last dimension, and a layer for them that has LEAST multiplications."""
    torch.manual_seed(0)
    inputs = torch.randn(*shape, size)
    return inputs, nn.Linear(size, LEAST // inputs.numel() + 1)


@needs_onednn
@pytest.mark.parametrize("shape", [(64,), (8, 32), (2, 4, 8), (1, 64)])
@pytest.mark.parametrize("bias", [True, False])
@torch.inference_mode()
def test_large_products_are_those_of_pytorch(shape, bias, products_by_onednn):
    inputs, layer = large(*shape)
    if not bias:
        layer.bias = None
    with fast_products(CPU):
        fast = layer(inputs)
    assert products_by_onednn == [(*shape, 1024)]
    assert type(fast) is torch.Tensor
    assert fast.layout == torch.strided
    torch.testing.assert_close(fast, layer(inputs))


@needs_onednn
@torch.inference_mode()
def test_inputs_need_not_be_contiguous(products_by_onednn):
    inputs, layer = large(64)
    inputs = inputs.T.contiguous().T
    assert not inputs.is_contiguous()
    with fast_products(CPU):
        fast = layer(inputs)
    assert products_by_onednn
    torch.testing.assert_close(fast, layer(inputs))


@needs_onednn
@pytest.mark.parametrize("change", ["small", "empty", "float64", "gradients", "autocast", "other function"])
def test_other_products_are_left_to_pytorch(change, products_by_onednn):
    inputs, layer = large(64)
    function = layer
    with contextlib.ExitStack() as stack:
        if change == "small":
            inputs = inputs[:32]
        elif change == "empty":
            inputs = inputs[:0]
        elif change == "float64":
            inputs, layer = inputs.double(), layer.double()
        elif change == "autocast":
            stack.enter_context(torch.autocast("cpu", torch.bfloat16))
        elif change == "other function":
            function = torch.tanh
        if change != "gradients":
            stack.enter_context(torch.no_grad())
        with fast_products(CPU):
            result = function(inputs)
        expected = function(inputs)
    assert not products_by_onednn
    assert torch.equal(result, expected)
    assert result.requires_grad == (change == "gradients")


@torch.inference_mode()
def test_calls_on_other_devices_are_not_watched(products_by_onednn):
    inputs, layer = large(64)
    with fast_products(torch.device("cuda")):
        layer(inputs)
    assert not products_by_onednn


@pytest.mark.parametrize(("vendor", "capability", "onednn", "faster"), [
    ("AuthenticAMD", "AVX512", True, True),
    ("AuthenticAMD", "AVX2", True, False),
    ("GenuineIntel", "AVX512", True, False),
    (None, "AVX512", True, False),
    ("AuthenticAMD", "AVX512", False, False)])
def test_onednn_is_taken_on_amd_with_avx512(vendor, capability, onednn, faster, tmp_path, monkeypatch):
    path = tmp_path / "cpuinfo"
    if vendor:
        path.write_text(f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: 26\n", encoding="utf-8")
    monkeypatch.setattr(products, "CPUINFO", path)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: onednn)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
    products._is_faster.cache_clear()
    try:
        assert products._is_faster() == faster
    finally:
        products._is_faster.cache_clear()
