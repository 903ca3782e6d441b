"""The device by its name, with and without GPUs; PyTorch is not loaded where it cannot see a GPU."""

import subprocess
import sys

import pytest
import torch

from punc.base import device
from punc.base.device import built_for_cpu, check_device, find_device
from punc.base.errors import InputError


@pytest.fixture
def gpus(monkeypatch):
    """Sets how many GPUs PyTorch sees."""
    def see(count):
        monkeypatch.setattr(device, "built_for_cpu", lambda: False)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    before = torch.backends.cudnn.allow_tf32
    yield see
    torch.backends.cudnn.allow_tf32 = before


@pytest.mark.parametrize("name", ["auto", "cpu", "cuda", "cuda:0", "cuda:12"])
def test_check_device_allowed(name):
    check_device(name)


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
    code = f"import sys; from punc.base.device import find_device; assert find_device('{name}') == 'cpu'; " \
        "sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
