"""Finds models: bundled models by their names, other models by their directories."""

import re
from pathlib import Path

import punc
from punc.base.errors import InputError

FOLDER = Path(punc.__file__).parent / "pretrained"
SPEC = "model.json"  # only packed models have this file
CARD = "README.md"
LANGUAGE = re.compile(r"^- Language: .*\(`([a-z]{2,3})`\)", re.M)
CASING = "casing.txt"  # an optional file of a packed model: the spellings of words with capitals after the first letter
DEFAULT_LIVE = "en-live"  # the default model for live streams


def shipped() -> list[str]:
    return sorted(path.parent.name for path in FOLDER.glob(f"*/{SPEC}"))


def find_model(name: str) -> Path:
    """Return a model's directory. `name`: the name of a bundled model, or a path. Raises InputError if there is no such
    model."""
    if name in shipped():
        return FOLDER / name
    path = Path(name)
    if not path.is_dir():
        known = ", or a bundled one: " + ", ".join(shipped()) if shipped() else ""
        raise InputError("no such model", f"give the directory of a trained model{known}", name)
    return path


def model_files(directory: Path) -> list[Path]:
    # SPEC stands for all files of a packed model, because it contains their checksums.
    weights = directory / (SPEC if is_packed(directory) else "final.pt")
    return [weights, directory / "labels.txt", directory / "vocab"]


def is_packed(directory: Path) -> bool:
    return (directory / SPEC).is_file()


def language_of(directory: Path) -> str:
    """Return the language code in a model's card, or an empty string if there is no card or it names no language."""
    card = directory / CARD
    found = LANGUAGE.search(card.read_text(encoding="utf-8")) if card.is_file() else None
    return found[1] if found else ""
