"""Saves and loads models. `final.pt` contains the weights and the spec; vocabulary and labels are separate files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

import punc
from punc.base.errors import InputError
from punc.base.files import atomic_file, open_input
from punc.data.labels import LabelSet
from punc.models.base.build import build
from punc.models.base.model import Model
from punc.tokens.tokenizer import read_tokenizer

FORMAT = "punc model 1"
MOST = 10**6  # the largest number allowed in a model's spec, unless twice the vocabulary's size is larger


def save(model: Model, path: Path, **facts: Any) -> None:
    """Write weights, spec and `facts` (seed, …) to a file. Loading this file never runs code from it."""
    with atomic_file(path, "wb") as file:
        torch.save({"format": FORMAT, "punc": punc.__version__, "torch": str(torch.__version__), **facts,
                    "spec": model.spec, "weights": cpu_weights(model)}, file)


def cpu_weights(model: Model) -> dict[str, Any]:
    """Return a model's weights on the CPU, so that a saved model can be loaded without a GPU."""
    weights = model.state_dict()
    for name in weights:
        weights[name] = weights[name].cpu()
    return weights


def read_checkpoint(path: Path, file_format: str = FORMAT) -> dict[str, Any]:
    """Read a model file. Raises InputError if it is missing or truncated, or if its format is not `file_format`."""
    with open_input(path, "train the model, or give another directory"):  # raises InputError if it is unreadable
        pass
    try:
        content = torch.load(path, weights_only=True, mmap=True, map_location="cpu")
    except MemoryError:
        raise
    except Exception:  # torch.load raises various exceptions for broken files
        raise InputError("not a model file, or a truncated one", "train the model again", path) from None
    if not isinstance(content, dict) or not str(content.get("format")).startswith(file_format.rpartition(" ")[0]):
        raise InputError("not a model file of punc", "give a directory that punc train wrote", path)
    if content["format"] != file_format:
        raise InputError(f"the format is '{content['format']}', but this version of punc reads '{file_format}'",
                         "train it again", path)
    return content


def load(directory: str | Path) -> Model:
    """Load the trained model in a directory. Raises InputError if files are missing or do not fit together."""
    directory = Path(directory)
    content = read_checkpoint(directory / "final.pt")
    tokenizer = read_tokenizer(directory)
    labels = LabelSet.read(directory / "labels.txt")
    model = rebuild(content, len(tokenizer.vocabulary), directory / "final.pt", "train it again")
    if name := not_finite(content["weights"]):
        raise InputError(f"{name} has weights that are NaN or infinite",
                         "train the model again, with a lower --learning-rate", directory / "final.pt")
    for file, found, size in (("vocab", len(tokenizer.vocabulary), model.spec["vocabulary"]),
                              ("labels.txt", len(labels), model.spec["labels"])):
        if found != size:
            raise InputError(f"{found} lines, but the model has {size}", "copy the file that it was trained with",
                             directory / file)
    if model.token_type != tokenizer.token_type:
        raise InputError(f"its tokens are {tokenizer.token_type}, the model's are {model.token_type}",
                         "copy vocab, token_type and pieces.model from the model's own directory", directory)
    model.vocabulary, model.tokenizer, model.labels = tokenizer.vocabulary, tokenizer, labels
    model.conf = content.get("conf", {})
    return model.eval()


def rebuild(content: Mapping[str, Any], words: int, path: Path, remedy: str) -> Model:
    """Build the model with the spec and the weights in `content`, the contents of the file `path`. Raises InputError if
    the weights do not match the spec, or if a number in the spec is too large: larger than both MOST and twice the size
    of the vocabulary, `words`. In these cases, the message contains `remedy`."""
    try:
        if _largest(content["spec"]) > max(MOST, 2 * words):
            raise ValueError("it would take all memory")
        model = build(content["spec"])
        model.load_state_dict(content["weights"])
    except InputError as error:
        raise InputError(error.what, error.remedy, error.file or path, error.line) from None
    except Exception:  # layers and models raise various exceptions for wrong options, sizes and types
        raise InputError("its weights do not match its spec", remedy, path) from None
    return model


def _largest(value: Any) -> int:
    if isinstance(value, dict | list):
        return max(map(_largest, value.values() if isinstance(value, dict) else value), default=0)
    return value if isinstance(value, int) else 0


def not_finite(weights: Mapping[str, torch.Tensor]) -> str | None:
    """Return the name of the first tensor that contains NaN or an infinite number, or None if there is none."""
    for name, weight in weights.items():
        # The sum is checked first, which is several times faster. It may be infinite even if all numbers are finite.
        if weight.is_floating_point() and not weight.sum().isfinite() and not weight.isfinite().all():
            return name
    return None


def submodel(option: str, spec: str | dict[str, Any], architecture: str) -> Model:
    """Return a model that is a frozen part of another model. If `spec` is a directory, loads the trained model in it.
    Otherwise, builds the model, whose weights are loaded later. Raises InputError if `spec` is empty, the directory
    contains no model, or the model's architecture is not `architecture`."""
    if not spec:
        raise InputError(f"{option}=", f"give the directory of a trained {architecture}")
    model = load(spec) if isinstance(spec, str) else build(spec)
    if model.spec["model"] != architecture:
        raise InputError(f"{option}={spec} is a {model.spec['model']}",
                         f"give the directory of a trained {architecture}")
    return model.requires_grad_(False)
