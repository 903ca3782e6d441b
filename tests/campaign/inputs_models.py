"""Kinds of inputs: the files of every model, trained or packed, and the progress of a training run."""

import json
import random
import shutil
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import tiny_encoder
import torch
from inputs_data import make_tokens
from kind import Kind, changed

from punc.decoding.decode import decode, load_model
from punc.decoding.pack import pack
from punc.decoding.packed import checksum, load_packed
from punc.models.base import create, model_class, names, option_defaults, save
from punc.models.ngram.model import tokens_of
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet
from punc.training.optim import Optimizer
from punc.training.options import TrainingOptions
from punc.training.state import Progress, Run
from punc.training.train import finished

SIZES = {"embedding_dim": 4, "hidden_dim": 8, "filters": 4, "delay": 2, "ngram": 4, "pool": 2,
         "dilated_layers": 2, "layers": 1, "iterations": 5, "order": 2}
CONF = {"model": "t_lstm", "store": "s"}
FILES = ("final.pt", "vocab", "labels.txt")
VALUES: tuple[Any, ...] = (0, -1, 1, 2, 7, 10**12, 2**63, 1.5, float("nan"), "x", "", None, True, [], {}, [1],
                           {"model": "t_lstm"})


def kinds() -> Iterator[Kind]:
    torch.set_num_threads(1)
    for name in known_models():
        yield Kind(f"model {name}", partial(make_model, name), read_model, FILES, alter=alter_model, share=1)
    for name in ("bi_lstm", "delay", "t_lstm"):
        yield Kind(f"packed {name}", partial(make_packed, name), read_packed,
                   ("model.json", "model.onnx", "vocab", "labels.txt"), alter=alter_packed, share=1)
    yield Kind("progress", make_progress, read_progress, ("progress.pt", "final.pt"), alter=alter_progress, share=1)


def known_models() -> list[str]:
    return [name for name in names() if find_spec("transformers") or "encoder" not in (
        model_class(name).token_types or ())]


def made(name: str, place: Path) -> Path:
    """Return a model's directory. The model is made on first use."""
    folder = place / f"made_model_{name}"
    if folder.is_dir():
        return folder
    tokens = "encoder" if "encoder" in (model_class(name).token_types or ()) else "word"
    store_folder = place / f"made_for_models_{tokens}"
    if not store_folder.is_dir():
        store_folder.mkdir()
        make_tokens(tokens, store_folder, random.Random(1))
    store = Store(store_folder / "store")
    known, given = option_defaults(name), dict(SIZES)
    if tokens == "encoder":
        given["encoder"] = str(tiny_encoder.make_encoder("roberta", place / "encoder"))
    if name == "ngram":
        write_arpa(place / "arpa", tokens_of(store.vocabulary, store.labels))
        given["arpa"] = str(place / "arpa")
    for option in ("lm_model", "text_model"):
        if option in known and name != "word_crf":
            given[option] = str(made("ngram" if option == "lm_model" else "encoder" if tokens == "encoder" else
                                     "t_lstm", place))
    torch.manual_seed(1)
    options = {option: given[option] for option in known if option in given}
    model = create(name, store.vocabulary, store.labels, options, store.tokenizer)
    if not model.trained_by_gradient:
        model.fit(store, ["train"], "train")
    folder.mkdir()
    save(model, folder / "final.pt", conf={"model": name})
    model.tokenizer.write(folder)
    model.labels.write(folder / "labels.txt")
    return folder


def write_arpa(path: Path, tokens: list[str]) -> None:
    ones = [f"-1.5\t{token}\t-0.3\n" for token in dict.fromkeys([*tokens, "<unk>"])]
    twos = [f"-0.5\t{one} {other}\n" for one, other in pairwise(tokens[2:20])]
    path.write_text(f"\\data\\\nngram 1={len(ones)}\nngram 2={len(twos)}\n\n\\1-grams:\n{''.join(ones)}\n\\2-grams:\n"
                    f"{''.join(twos)}\n\\end\\\n", encoding="utf-8")


def make_model(name: str, folder: Path, rng: random.Random) -> None:
    shutil.copytree(made(name, folder.parent), folder, dirs_exist_ok=True)


def read_model(folder: Path, rng: random.Random) -> None:
    model = load_model(folder)
    size = len(model.tokenizer.vocabulary)
    ids = np.array([rng.randrange(size) for _ in range(12)], np.int32)
    pauses = rng.choice((None, np.array([rng.choice((0, 0.5, np.nan)) for _ in ids], np.float32)))
    with np.errstate(all="ignore"):
        chosen, _ = decode(model, StoreSet(ids, None, pauses, ["a", "b"], np.array([0, 5, 12])))
    if len(chosen) != len(ids) or max(chosen) >= len(model.labels):
        raise AssertionError("not a label for each slot")


def altered(content: Any, rng: random.Random) -> Any:
    return changed(content, rng, VALUES, other=lambda tensor: torch.from_numpy(changed_array(tensor.numpy(), rng))
                   if isinstance(tensor, torch.Tensor) else None)


def changed_array(array: np.ndarray, rng: random.Random) -> np.ndarray:
    array, choice = array.copy(), rng.randrange(8)
    if choice == 0:
        return array.reshape(-1)
    if choice == 1:
        return array[:rng.randrange(len(array) + 1)] if array.ndim else array.reshape(1)
    if choice == 2:
        return np.zeros(array.shape, rng.choice((np.float64, np.int64, np.int8, np.float32, np.bool_)))
    if choice == 3:
        return array[..., None]
    if choice == 4 and array.ndim:
        return np.concatenate([array, array])
    if choice == 5:
        return np.ascontiguousarray(array.T)
    if array.size:
        integers, floats = (-1, 0, 1, 2, 3, 10**6, -10**6), (np.nan, np.inf, -np.inf, 1e30, -1, 0)
        numbers = integers if array.dtype.kind in "iu" else floats
        flat = array.reshape(-1)
        for _ in range(rng.choice((1, 3))):
            number = rng.choice(numbers)
            flat[rng.randrange(array.size)] = number % 127 if array.dtype.itemsize == 1 else number
    return array


def alter_model(folder: Path, rng: random.Random) -> None:
    content = torch.load(folder / "final.pt", weights_only=True)
    part = rng.choice(("weights", "weights", "spec", None))
    content = {**content, part: altered(content[part], rng)} if part else altered(content, rng)
    torch.save(content, folder / "final.pt")


def make_packed(name: str, folder: Path, rng: random.Random) -> None:
    packed = folder.parent / f"made_packed_{name}"
    if not packed.is_dir():
        pack(made(name, folder.parent), packed)
    shutil.copytree(packed, folder, dirs_exist_ok=True)


def alter_packed(folder: Path, rng: random.Random) -> None:
    """Either damage the weights and update their checksum, or change a value in model.json."""
    spec = json.loads((folder / "model.json").read_text())
    if rng.randrange(3):
        content = bytearray((folder / "model.onnx").read_bytes())
        for _ in range(rng.randrange(1, 9)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        (folder / "model.onnx").write_bytes(content[:rng.choice((len(content), rng.randrange(len(content))))])
        spec["sha256"]["model.onnx"] = checksum(folder / "model.onnx")
    else:
        spec = altered(spec, rng)
    (folder / "model.json").write_text(json.dumps(spec))


def read_packed(folder: Path, rng: random.Random) -> None:
    read_model(folder, rng)
    model = load_packed(folder)
    if model.lookahead is not None:
        with np.errstate(all="ignore"):  # weights may be infinite
            state = model.initial_state(1)
            for _ in range(3):
                token = np.array([rng.randrange(len(model.tokenizer.vocabulary))])
                pause = np.array([rng.choice((0.0, 0.5, float("nan")))], np.float32)
                _, state = model.step(token, pause, state)


def make_progress(folder: Path, rng: random.Random) -> None:
    make_model("t_lstm", folder, rng)
    model, optimizer = trained(folder)
    Run(folder, model, optimizer, CONF, {"vocab": 1}).end_epoch(Progress(0.1, 1, False, 1.0, 1.0))
    save(model, folder / "final.pt", conf=CONF)


def trained(folder: Path) -> tuple[Any, Optimizer]:
    model = load_model(folder)
    return model, Optimizer(model, "adagrad", 0.1)


def read_progress(folder: Path, rng: random.Random) -> None:
    model, optimizer = trained(made("t_lstm", folder.parent))
    if (folder / "final.pt").stat().st_size and rng.randrange(2):
        finished(folder, CONF, TrainingOptions())
    Run(folder, model, optimizer, CONF, {"vocab": 1}).resume()


def alter_progress(folder: Path, rng: random.Random) -> None:
    content = torch.load(folder / "progress.pt", weights_only=True)
    torch.save(altered(content, rng), folder / "progress.pt")
