"""Kinds of inputs: soft targets, confusions, abbreviations, and speaker turns in RTTM."""

import importlib
import os
import random
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from inputs_data import make_tokens
from inputs_models import changed_array
from kind import Kind

from punc.tokens.soft_targets import facts_of, read_targets
from punc.tokens.store import Store

CONFUSIONS = ("punc confusions 1\nruns\t20\nslots\t600\tnone\nslots\t90\tmark\nseen\t50\tqzabcq\nseen\t9\tit's\n"
              "heard\t40\tqzabcq\nreplaced\t5\tqzabcq\tand\nreplaced\t2\tqzabcq\thundred thousand\n"
              "replaced\t1\tit's\t\ninserted\t7\tmark\tand\n")
ABBREVIATIONS = "# some\nnever dr. prof.\nstarter u.s. inc.\ncapital etc.\nnumber no.\nbegins the he\nordinal januar\n"
RTTM = ";; comment\n" + "".join(f"SPEAKER rec{i % 2} 1 {i}.5 0.75 <NA> <NA> spk{i % 3} <NA> <NA>\n" for i in range(6))


def kinds() -> Iterator[Kind]:
    yield Kind("soft targets", make_soft_targets, read_soft_targets, ("soft/train/conf", "soft/train/targets.npy"),
               alter=alter_soft_targets, share=2)
    for name, (module, content, read) in FILES.items():
        if find(module):
            yield Kind(name, partial(make, name, content), partial(read_file, name, module, read), (name,))


def find(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        return None


def make(name: str, content: str, folder: Path, rng: random.Random) -> None:
    (folder / name).write_text(content, encoding="utf-8")


def read_file(name: str, module: str, read: Callable[[Any, Path], object], folder: Path, rng: random.Random) -> None:
    read(find(module), folder / name)


def read_confusions(module: Any, path: Path) -> None:
    found = module.read_confusions(path)
    found.write(path.with_name("again"))
    if module.read_confusions(path.with_name("again")) != found:
        raise AssertionError("not what was written")
    types = {word: i for i, word in enumerate(found.words, 1)}
    table = importlib.import_module("punc.noise.table").make_table(found, types, set(types))
    if not (np.isfinite(table.errors).all() and (table.errors >= 0).all() and (table.errors <= 1).all()):
        raise AssertionError("not probabilities")
    table.replacements.draw(np.arange(len(table.errors)), np.random.default_rng(1))


def read_abbreviations(module: Any, path: Path) -> None:
    found = module.Abbreviations.read(path)
    for token in ("Dr.", "U.S.,", "3.", "no.", "a...b", "...", "(etc.)", "é.", "."):
        if dot := found.dot(token):
            found.ends(dot, ["he", "The", "3"])


def read_rttm(module: Any, path: Path) -> None:
    begins = np.arange(0.0, 6.0, 0.3)
    speakers = module.speakers_of(module.read_rttm(path).get("rec0", []), np.stack([begins, begins + 0.2], 1))
    if len(speakers) != len(begins):
        raise AssertionError("not a speaker for each word")


FILES: dict[str, tuple[str, str, Callable[[Any, Path], object]]] = {
    "confusions": ("punc.noise.confusions", CONFUSIONS, read_confusions),
    "abbreviations": ("punc.text.abbreviations", ABBREVIATIONS, read_abbreviations),
    "rttm": ("punc.bin.turns", RTTM, read_rttm)}


def make_soft_targets(folder: Path, rng: random.Random) -> None:
    """Make a store, and soft targets for its training set. All inputs get copies of the same targets."""
    made = folder.parent / "made_soft"
    if not made.is_dir():
        made.mkdir()
        make_tokens("word", made, rng)
        store = Store(made / "store")
        (made / "soft/train").mkdir(parents=True)
        facts = facts_of(store.set("train"), store.labels)
        (made / "soft/train/conf").write_text("".join(f"{line}\n" for line in facts))
        slots = int((store.set("train").labels >= 0).sum())
        np.save(made / "soft/train/targets.npy", np.full((slots, len(store.labels)), 64, np.uint8))
    shutil.copytree(made / "soft", folder / "soft")


def alter_soft_targets(folder: Path, rng: random.Random) -> None:
    path = folder / "soft/train/targets.npy"
    with np.errstate(over="ignore"):
        array = changed_array(np.load(path), rng)
    np.save(path, array if rng.randrange(8) else array.astype(object))
    if not rng.randrange(8):
        np.savez(folder / "x.npz", array)
        os.replace(folder / "x.npz", path)


def read_soft_targets(folder: Path, rng: random.Random) -> None:
    store = Store(folder.parent / "made_soft/store")
    targets = read_targets(folder / "soft", store, "train")
    rows = targets[np.arange(len(store.set("train").ids))]
    if rows.shape[1] != len(store.labels) or not np.allclose(rows.sum(1), 1):
        raise AssertionError("not a distribution for each token")
