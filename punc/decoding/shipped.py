"""Finds models by their name, if they are bundled, or by their directory."""

import re
from pathlib import Path

import punc
from punc.base.errors import InputError

FOLDER = Path(punc.__file__).parent / "pretrained"
SPEC = "model.json"  # a file that packed models have and trained ones do not
CARD = "README.md"
LANGUAGE = re.compile(r"^- Language: .*\(`([a-z]{2,3})`\)", re.M)
CASING = "casing.txt"  # the table of words with inner capitals that a packed model may have
DEFAULT_LIVE = "en-live"  # for words as they arrive, if no model is named


def shipped() -> list[str]:
    return sorted(path.parent.name for path in FOLDER.glob(f"*/{SPEC}"))


def find_model(name: str) -> Path:
    """The directory of a model, by its path or the name of a bundled model. Raises InputError if there is neither."""
    if name in shipped():
        return FOLDER / name
    path = Path(name)
    if not path.is_dir():
        known = ", or a bundled one: " + ", ".join(shipped()) if shipped() else ""
        raise InputError("no such model", f"name the directory of a trained model{known}", name)
    return path


def model_files(directory: Path) -> list[Path]:
    weights = directory / (SPEC if is_packed(directory) else "final.pt")  # SPEC has the checksums of the others
    return [weights, directory / "labels.txt", directory / "vocab"]


def is_packed(directory: Path) -> bool:
    return (directory / SPEC).is_file()


def language_of(directory: Path) -> str:
    """The two-letter code of the language on a model's card; empty if there is no card or no language."""
    card = directory / CARD
    found = LANGUAGE.search(card.read_text(encoding="utf-8")) if card.is_file() else None
    return found[1] if found else ""
