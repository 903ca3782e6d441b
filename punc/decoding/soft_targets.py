"""Makes soft targets: a teacher computes its posteriors for sets of a store."""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch

from punc.base.errors import InputError
from punc.base.files import atomic_dir
from punc.decoding.decode import AnyModel, load_model, log_posteriors
from punc.tokens.soft_targets import ONE, TARGETS, facts_of, open_targets
from punc.tokens.store import Store, crc32_of, is_finished
from punc.tokens.store_set import StoreSet, flat_file

logger = logging.getLogger(__name__)
AT_ONCE = 1 << 20  # the maximum number of tokens in a part; a longer stream is a part by itself


def make_targets(teacher: Path, store: Store, out: Path, sets: Sequence[str], context: int | None = None,
                 device: str = "cpu") -> None:
    """Write a teacher's posteriors for the given sets of a store, each to OUT/SET. Finished targets are not recomputed,
    unless their file is missing or broken.

    context  tokens read before each chunk, as in `decode`
    device   cpu, cuda or cuda:N; a GPU computes in bfloat16, which is precise enough for 8-bit targets

    Raises InputError if a set is joined or has no labels, or if the store and the teacher differ in tokens or labels.
    """
    model = load_model(teacher, device, threads=None)
    kind = model.tokenizer.token_type
    if model.labels != store.labels or kind != store.token_type \
            or model.tokenizer.vocabulary.tokens != store.vocabulary.tokens:
        raise InputError(f"the tokens or labels of {teacher} differ from those of this store",
                         f"make a store for it: punc make-store --labels {teacher}/labels.txt --token-type {kind} "
                         f"--vocab {teacher}/vocab", store.path)
    weights = [f"# {path.name} {crc32_of(path)}" for path in (teacher / "final.pt", teacher / "model.onnx")
               if path.is_file()]
    for name in sets:
        if store.members(name) != [name]:
            raise InputError(f"'{name}' is a joined set", f"name its members: {' '.join(store.members(name))}",
                             store.path)
        data, folder = store.set(name), out / name
        facts = facts_of(data, store.labels)
        checksums = [f"# {file} {crc}" for file, crc in store.checksums([name]).items()]
        conf = "\n".join([*facts, *weights, f"# --context={context}", *checksums]) + "\n"
        if open_targets(folder / TARGETS, facts, store.labels) is not None and is_finished(folder, conf):
            continue
        others = {file.name for file in folder.iterdir() if file.name[0] != "."} if folder.exists() else set()
        if TARGETS not in others and others - {"conf"}:
            raise InputError("this directory exists and contains something other than soft targets",
                             "give another OUT-DIR", folder)
        with atomic_dir(folder, "conf", [TARGETS]) as tmp:
            size = _write(tmp / TARGETS, model, data, context, device)
            (tmp / "conf").write_text(conf, encoding="utf-8")
        logger.info("%s: %s slots", folder, f"{size:,}")


def _write(path: Path, model: AnyModel, data: StoreSet, context: int | None, device: str) -> int:
    size = 0
    with flat_file(path, np.uint8, len(model.labels)) as file:
        for part in _parts(data):
            with torch.autocast("cuda", torch.bfloat16, enabled=device != "cpu"):
                rows = log_posteriors(model, part, context=context)
            rows = np.rint(np.exp(rows[np.asarray(part.labels) >= 0]) * ONE).astype(np.uint8)
            file.write(rows.data)
            size += len(rows)
    return size


def _parts(data: StoreSet) -> Iterator[StoreSet]:
    first = 0
    while first < len(data.offsets) - 1:
        last = max(first + 1, int(np.searchsorted(data.offsets, data.offsets[first] + AT_ONCE, "right")) - 1)
        tokens = slice(int(data.offsets[first]), int(data.offsets[last]))
        labels, pauses, turns = (None if array is None else array[tokens]
                                 for array in (data.labels, data.pauses, data.turns))
        yield StoreSet(data.ids[tokens], labels, pauses, [""] * (last - first),
                       data.offsets[first:last + 1] - data.offsets[first], turns)
        first = last
