"""A trained model as a packed one: small files, the same bytes each time, decoded without PyTorch; and back."""

import json
import logging
from pathlib import Path

import numpy as np
import torch

import punc
from punc.base.errors import InputError
from punc.base.files import atomic_dir, read_blocks
from punc.decoding.archive import checksum, write_arrays
from punc.decoding.packed_model import FORMAT, MODELS, TWO_WAYS, WEIGHTS, load_packed
from punc.decoding.shipped import CASING, SPEC
from punc.models.base import Model, load, rebuild
from punc.text.casing import read_casing
from punc.tokens.tokenizer import TOKENIZER_FILES

logger = logging.getLogger(__name__)


def pack(directory: Path, out: Path, *, factors: np.ndarray | None = None, casing: str = "", card: str = "") -> None:
    """Write the trained model of a directory as a packed one. `out` is replaced as a whole, or left as it was.

    factors  (L,) of the posteriors, which the packed model then has in it; None: all 1
    casing   a file of words with more capitals than the first letter (NATO), which the output then has
    card     the model card, a Markdown file: what it was trained on, under which licence, how good it is

    Raises InputError if there is no model, or it is not one of MODELS.
    """
    model = load(directory)
    name = model.spec["model"]
    if name not in MODELS:
        raise InputError(f"a {name} cannot be packed", f"train one of {', '.join(MODELS)}", directory / "final.pt")
    arrays = {key: tensor.numpy() for key, tensor in model.state_dict().items()}
    buffers = dict(model.named_buffers())
    if "pause_input.bounds" in buffers:  # part of the code of the layer, so not of the weights
        arrays["pause_bounds"] = buffers["pause_input.bounds"].numpy()
    if factors is not None:
        arrays["output.bias"] = arrays["output.bias"] + np.log(factors)
    layers = 1 + max(int(digits) for key in arrays if (digits := _layer(key, name)))
    if (out / "final.pt").is_file():
        raise InputError("OUT-DIR has a trained model", "name another OUT-DIR; that model would be lost", out)
    with atomic_dir(out, SPEC, [CASING, "conf", "README.md", *TOKENIZER_FILES[1:]]) as tmp:
        model.tokenizer.write(tmp)
        model.labels.write(tmp / "labels.txt")
        write_arrays(tmp / WEIGHTS, arrays)
        if casing:
            read_casing(casing)
        conf = directory / "conf"
        for source, target in ((conf if conf.is_file() else "", "conf"), (casing, CASING), (card, "README.md")):
            if source:
                (tmp / target).write_bytes(b"".join(read_blocks(source)))
        sums = {path.name: checksum(path) for path in sorted(tmp.iterdir()) if path.name != "README.md"}
        spec = {"format": FORMAT, "punc": punc.__version__, "model": name, "layers": layers,
                "lookahead": model.lookahead, "options": model.spec["options"], "sha256": sums}
        (tmp / SPEC).write_text(json.dumps(spec, indent=1) + "\n", encoding="utf-8")
        size = sum(path.stat().st_size for path in tmp.iterdir())
    numbers = sum(np.size(array) for array in arrays.values())
    logger.info("%s: %s, %d weights, %d words, %.2f MB", out, name, numbers, len(model.vocabulary), size / 1e6)


def unpack(directory: Path) -> Model:
    """The PyTorch model of a packed one, to be trained on: its weights are those of the int8 numbers.

    Raises InputError if a file is missing, was changed, or does not fit.
    """
    packed = load_packed(directory)
    tokenizer, words = packed.tokenizer, len(packed.tokenizer.vocabulary)
    spec = {"model": packed.spec["model"], "options": packed.spec.get("options"), "vocabulary": words,
            "labels": len(packed.labels), "token_type": tokenizer.token_type}
    weights = {name: torch.from_numpy(array) for name, array in packed.arrays.items() if name != "pause_bounds"}
    model = rebuild({"spec": spec, "weights": weights}, words, directory / SPEC, "pack the model again: punc pack")
    model.vocabulary, model.tokenizer, model.labels = tokenizer.vocabulary, tokenizer, packed.labels
    return model.eval()


def _layer(key: str, name: str) -> str:
    """The number of the layer that a weight belongs to; empty if it belongs to none."""
    if not key.startswith("lstms."):
        return ""
    return key.split(".")[2] if name in TWO_WAYS else key.rpartition("_l")[2]
