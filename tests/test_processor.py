"""Devices by name, with and without GPUs; bfloat16; freed memory, kept or returned; matrix products by oneDNN."""

import contextlib
import subprocess
import sys

import pytest
import torch
from torch import nn

from punc.base import products
from punc.base.errors import InputError
from punc.base.processor import built_for_cpu, check_device, find_device, has_bfloat16, keep_freed_memory
from punc.base.products import LEAST, fast_products


@pytest.fixture
def gpus(monkeypatch):
    def see(count):
        monkeypatch.setattr("punc.base.processor.built_for_cpu", lambda: False)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    before = torch.backends.cudnn.allow_tf32
    yield see
    torch.backends.cudnn.allow_tf32 = before


@pytest.mark.parametrize("name", ["", "gpu", "CPU", "cpu:0", "cuda:", "cuda:x", "cuda:1 ", "cuda:\u0661", "meta"])
def test_check_device_other_name_is_an_error(name):
    for function in (check_device, find_device):
        with pytest.raises(InputError) as error:
            function(name)
        assert str(error.value) == f"--device={name}; choose auto, cpu, cuda, or one of several GPUs: cuda:0, cuda:1, …"


@pytest.mark.parametrize(("count", "name", "found"), [
    (0, "auto", "cpu"), (0, "cpu", "cpu"), (1, "auto", "cuda"), (1, "cpu", "cpu"), (1, "cuda", "cuda"),
    (1, "cuda:0", "cuda:0"), (2, "cuda:1", "cuda:1"), (2, "auto", "cuda")])
def test_find_device(gpus, count, name, found):
    gpus(count)
    torch.backends.cudnn.allow_tf32 = True
    assert find_device(name) == found
    assert torch.backends.cudnn.allow_tf32 == (found == "cpu")


@pytest.mark.parametrize(("count", "name", "message"), [
    (0, "cuda", "PyTorch sees no GPU; use --device cpu, or install a CUDA build (docs/install.md)"),
    (0, "cuda:1", "PyTorch sees no GPU; use --device cpu, or install a CUDA build (docs/install.md)"),
    (1, "cuda:1", "PyTorch sees 1 GPU; choose from cuda:0"),
    (2, "cuda:2", "PyTorch sees 2 GPUs; choose from cuda:0, cuda:1")])
def test_find_device_missing_gpu_is_an_error(gpus, count, name, message):
    gpus(count)
    with pytest.raises(InputError) as error:
        find_device(name)
    assert str(error.value) == f"--device {name}: {message}"


def test_built_for_cpu_agrees_with_pytorch():
    assert not (built_for_cpu() and torch.cuda.is_available())
    assert not built_for_cpu() or torch.version.cuda is None


@pytest.mark.parametrize("name", ["cpu", "auto"])
def test_find_device_without_a_gpu_does_not_import_torch(name):
    if name == "auto" and not built_for_cpu():
        pytest.skip("only PyTorch itself knows whether it sees a GPU")
    code = f"import sys; from punc.base.processor import find_device; assert find_device('{name}') == 'cpu'; " \
        "sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture(autouse=True)
def no_cache():
    has_bfloat16.cache_clear()
    yield
    has_bfloat16.cache_clear()


def test_has_bfloat16_false_if_pytorch_fails(monkeypatch):
    def fails(*_):
        raise RuntimeError("could not create a primitive descriptor")
    monkeypatch.setattr(torch.nn.LSTM, "forward", fails)
    assert not has_bfloat16()


# A program that allocates bytes objects, not NumPy arrays: NumPy uses huge pages if it can, and these cause too few
# page faults to count.
TAKE = """
import resource
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    array = b"x" * (1 << 26)
    del array
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(first):
    """Return the number of page faults of a process that allocates and frees 64 MiB twenty times. The code `first` runs
    beforehand, and is not counted."""
    run = [sys.executable, "-c", f"{first}\n{TAKE}"]
    return int(subprocess.run(run, capture_output=True, text=True, check=True).stdout)


def test_keep_freed_memory_second_large_array_costs_no_pages():
    assert keep_freed_memory()
    kept = faults("from punc.base.processor import keep_freed_memory; keep_freed_memory()")
    assert 2 * kept < faults("import punc.base.processor")


def test_give_back_freed_memory_takes_less_memory():
    """A process keeps small freed blocks that lie below a block in use. `give_back_freed_memory` returns them to the
    system."""
    code = """
import ctypes, os
from punc.base.processor import give_back_freed_memory
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
blocks = [libc.malloc(50_000) for _ in range(2000)]
for block in blocks:
    ctypes.memset(ctypes.c_void_p(block), 1, 50_000)
for block in blocks[:-1]:
    libc.free(block)
pages = lambda: int(open("/proc/self/statm").read().split()[1])
before = pages()
print(give_back_freed_memory(), (before - pages()) * os.sysconf("SC_PAGESIZE") > 50_000_000)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "True True\n"


CPU = torch.device("cpu")
needs_onednn = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="PyTorch without oneDNN")


@pytest.fixture
def products_by_onednn(monkeypatch):
    """Use oneDNN even if it is not faster on this processor. Return a list to which the shape of each input of oneDNN
    is appended."""
    monkeypatch.setattr(products, "_is_faster", lambda: True)
    sizes, to_mkldnn = [], torch.Tensor.to_mkldnn

    def counted(self):
        sizes.append(tuple(self.shape))
        return to_mkldnn(self)

    monkeypatch.setattr(torch.Tensor, "to_mkldnn", counted)
    return sizes


def large(*shape, size=1024):
    """Return inputs (*shape, size), and a linear layer that needs at least LEAST multiplications for them."""
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
