"""The Triton kernels of the peephole LSTM compute what the loop computes.

No GPU is needed: the kernels run as Python. The stand-in below has the few operations of Triton that they use, on
PyTorch tensors, and checks every address. Triton's own interpreter runs them too where Triton is installed.
"""

import importlib
import sys
from types import ModuleType, SimpleNamespace

import pytest
import torch

from punc.layers import lstm, lstm_loop

torch.set_num_threads(1)


class Pointer:
    """Addresses in the memory of a tensor."""

    def __init__(self, memory, index=0):
        self.memory, self.index = memory, index

    def __add__(self, steps):
        return Pointer(self.memory, self.index + steps)

    def __sub__(self, steps):
        return Pointer(self.memory, self.index - steps)

    def checked(self, mask):
        """The addresses that the mask admits. Raises AssertionError if one is outside the memory."""
        index = self.index[mask]
        assert 0 <= int(index.min()) <= int(index.max()) < len(self.memory)
        return index


class Kernel:
    """A kernel whose programs run one after another; a place is written by one program alone, and once."""

    def __init__(self, function, language):
        self.function, self.language = function, language

    def __getitem__(self, grid):
        def launch(*arguments, num_warps, **constants):
            assert num_warps in (4, 8, 16)
            self.language.written = set()
            arguments = [Pointer(a.view(-1)) if isinstance(a, torch.Tensor) else torch.tensor(a) for a in arguments]
            for number in range(*grid):
                self.language.program_id = lambda axis, number=number: (number,)[axis]
                self.function(*arguments, **constants)
        return launch

    def __call__(self, *arguments):
        return self.function(*arguments)


def stand_in():
    """The modules triton and triton.language."""
    language = ModuleType("triton.language")

    def load(pointer, mask, other):
        values = torch.full(mask.shape, other)
        if mask.any():
            values[mask] = pointer.memory[pointer.checked(mask)]
        return values

    def store(pointer, values, mask):
        if mask.any():
            index = pointer.checked(mask)
            places = {(pointer.memory.data_ptr(), place) for place in index.tolist()}
            assert len(places) == len(index)
            assert not places & language.written
            language.written |= places
            pointer.memory[index] = values[mask]

    vars(language).update(load=load, store=store, arange=torch.arange, sigmoid=torch.sigmoid, float32=torch.float32,
                          int64=torch.int64, sum=lambda a, axis: a.sum(axis), constexpr=int,
                          zeros=lambda shape, dtype: torch.zeros(shape, dtype=dtype))
    triton = ModuleType("triton")
    vars(triton).update(language=language, cdiv=lambda a, b: -(-a // b),
                        next_power_of_2=lambda n: 1 << (n - 1).bit_length(),
                        jit=lambda function=None, **_: (lambda f: Kernel(f, language)) if function is None
                        else Kernel(function, language))
    return {"triton": triton, "triton.language": language}


@pytest.fixture(params=["stand-in", "interpreter"])
def kernels(request, monkeypatch):
    """The module lstm_triton, whose kernels run as Python."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.delitem(sys.modules, "punc.layers.lstm_triton", raising=False)
    if request.param == "interpreter":
        pytest.importorskip("triton", reason="Triton is not installed")
    else:
        for name, module in stand_in().items():
            monkeypatch.setitem(sys.modules, name, module)
    yield importlib.import_module("punc.layers.lstm_triton")
    sys.modules.pop("punc.layers.lstm_triton", None)


def inputs(steps, batch, size, scale=1.0):
    torch.manual_seed(1)
    return [torch.randn(steps, batch, 4 * size) * scale, torch.randn(size, 4 * size) / size**0.5,
            torch.randn(3, size), torch.randn(batch, size), torch.randn(batch, size)]


@pytest.mark.parametrize(("steps", "batch", "size"), [(1, 1, 1), (3, 2, 5), (2, 6, 17)])
def test_forward_and_backward_match_the_loop(kernels, monkeypatch, steps, batch, size):
    monkeypatch.setattr(kernels, "PROGRAMS", 3)  # six rows are two programs of ROWS
    given = inputs(steps, batch, size)
    made, expected = kernels.forward(*given), lstm_loop.forward(*given)
    torch.testing.assert_close(made, expected, rtol=0, atol=1e-5)
    # Gradients as autograd gives them: those of a sum are one number, repeated, and not contiguous.
    for grad_outputs in (torch.randn(steps, batch, size), torch.ones(()).expand(steps, batch, size)):
        grad_cell = torch.randn(size, batch).t()
        found = kernels.backward(grad_outputs, grad_cell, made, *given[1:3])
        torch.testing.assert_close(found, lstm_loop.backward(grad_outputs, grad_cell, expected, *given[1:3]), rtol=0,
                                   atol=1e-5)


@pytest.mark.filterwarnings("ignore:overflow")
def test_forward_large_inputs_saturate(kernels):
    given = inputs(2, 1, 3, 1e30)
    torch.testing.assert_close(kernels.forward(*given), lstm_loop.forward(*given), rtol=0, atol=1e-5)


@pytest.mark.parametrize(("batch", "width", "grid", "shape"), [
    (100, 400, 100, {"SIZE": 100, "ROWS": 1, "UNITS": 128, "num_warps": 16}),
    (130, 400, 33, {"SIZE": 100, "ROWS": 4, "UNITS": 128, "num_warps": 16}),
    (1, 4, 1, {"SIZE": 1, "ROWS": 1, "UNITS": 16, "num_warps": 4})])
def test_launch_covers_all_rows(kernels, batch, width, grid, shape):
    assert kernels._launch(5, batch, width) == ((grid,), shape)


def test_layer_has_the_same_gradients_by_the_kernels(kernels, monkeypatch):
    layer = lstm.PeepholeLSTM(3, 4)
    for weight in layer.parameters():
        torch.nn.init.uniform_(weight, -0.8, 0.8)
    steps, results = torch.randn(3, 2, 3), []
    for form in (lstm_loop, kernels):
        monkeypatch.setattr(lstm, "_fastest_form", lambda _, form=form: form)
        outputs, (_, cell) = layer(steps, layer.initial_state(2))
        results.append((outputs, *torch.autograd.grad((outputs * outputs).sum() + cell.sum(), [*layer.parameters()])))
    torch.testing.assert_close(*results, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("device", "installed", "dtype", "units", "fits"), [
    ("cuda", True, torch.float32, 128, True), ("cuda", True, torch.float32, 129, False),
    ("cuda", True, torch.float64, 100, False), ("cuda", False, torch.float32, 100, False),
    ("cpu", True, torch.float32, 100, False)])
def test_fastest_form(kernels, monkeypatch, device, installed, dtype, units, fits):
    monkeypatch.setattr(lstm, "_has_triton", lambda: installed)
    given = SimpleNamespace(device=SimpleNamespace(type=device), dtype=dtype, shape=(5, 2, 4 * units))
    assert lstm._fastest_form(given) is (kernels if fits else lstm_loop)
