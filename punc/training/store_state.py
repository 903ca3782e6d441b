"""The store that a model was trained on, by its checksums, and the store as it is now."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from punc.base.errors import InputError
from punc.data.label_record import difference
from punc.data.labels import LabelSet
from punc.models.base import read_checkpoint
from punc.tokens.soft_targets import targets_checksum
from punc.tokens.store import Store, crc32_of
from punc.training.options import TrainingOptions


def checksums(store: Store, options: TrainingOptions) -> dict[str, int]:
    """The checksum of each file that training depends on: of a store, the targets of a teacher, and confusions."""
    sums = store.checksums({*options.train_set.split(","), options.dev_set})
    if options.teacher:
        sums |= targets_checksum(Path(options.teacher), store)
    if options.asr_noise:
        sums[os.path.abspath(options.confusions)] = crc32_of(Path(options.confusions))
    return sums


def changed(saved: Mapping[str, int], sums: Mapping[str, int]) -> str | None:
    """The first file whose checksum is not the saved one; None if there is none."""
    return next((name for name in {**saved, **sums} if saved.get(name) != sums.get(name)), None)


def check_finished(directory: Path, store_dir: str | os.PathLike, options: TrainingOptions) -> None:
    """Raise InputError if the finished model of a directory has other labels than the store, or is of other data.

    What is no longer there is not compared; a model of an older version has no checksums, but its
    labels.
    """
    if not (Path(store_dir) / "conf").is_file():
        return
    store = Store(store_dir)
    remedy = "remove the directory to train anew, name another one, or make the store as it was"
    own = LabelSet.read(directory / "labels.txt")
    if own != store.labels:
        raise InputError(f"here is a model with another label set than {store.path}: {difference(own, store.labels)}",
                         remedy, directory)
    saved: Any = read_checkpoint(directory / "final.pt").get("store")
    if not all(os.path.exists(path) for path in (options.teacher, options.confusions) if path):
        return
    if isinstance(saved, dict) and (name := changed(saved, checksums(store, options))):
        raise InputError(f"here is a model of another {store.path / name}: it has changed since", remedy, directory)
