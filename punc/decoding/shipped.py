"""Models by name or directory: those that ship with the package are found by their names."""

from pathlib import Path

import punc
from punc.base.errors import InputError

FOLDER = Path(punc.__file__).parent / "pretrained"
SPEC = "model.json"  # the file that a packed model has and a trained one has not
CASING = "casing.txt"  # the table of words with inner capitals that a packed model may have
DEFAULT_LIVE = "en-live"  # for words as they arrive, where no model is named


def shipped() -> list[str]:
    """The names of the models that ship."""
    return sorted(path.parent.name for path in FOLDER.glob(f"*/{SPEC}"))


def find_model(name: str) -> Path:
    """The directory of a model: one that ships, by its name, or any other; `./en` is a directory.

    Raises InputError if there is neither.
    """
    if name in shipped():
        return FOLDER / name
    path = Path(name)
    if not path.is_dir():
        known = ", or one that ships: " + ", ".join(shipped()) if shipped() else ""
        raise InputError("no such model", f"name the directory of a trained model{known}", name)
    return path


def model_files(directory: Path) -> list[Path]:
    """The files that decide what a model says."""
    weights = directory / (SPEC if is_packed(directory) else "final.pt")  # SPEC has the checksums of the others
    return [weights, directory / "labels.txt", directory / "vocab"]


def is_packed(directory: Path) -> bool:
    """Whether the model of a directory is packed."""
    return (directory / SPEC).is_file()
