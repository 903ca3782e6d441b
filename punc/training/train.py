"""Trains a model on a store. Training by gradient can be interrupted and continued, and can use several processes.
Models that are not trained by gradient are always fitted from the beginning, in one process."""

import contextlib
import logging
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

import punc
from punc.base.errors import InputError, StrPath
from punc.base.files import atomic_file, read_blocks
from punc.base.lock import lock_directory
from punc.base.options import kebab
from punc.base.processor import keep_freed_memory
from punc.data.labels import LabelSet, difference
from punc.data.transitions import TRANSITIONS
from punc.decoding.pack import unpack
from punc.decoding.packed import load_packed
from punc.decoding.shipped import find_model, is_packed
from punc.layers.lstm_stack import make_orthogonal
from punc.models.base import Model, cpu_weights, create, load, model_class, not_finite, read_checkpoint, save
from punc.tokens.store import Store, is_store
from punc.tokens.store_set import StoreSet
from punc.training.epochs import Epochs, evaluate, labelled
from punc.training.options import TrainingOptions, check_non_gradient, run_conf
from punc.training.ranks import ALONE, Ranks, find_ranks
from punc.training.state import BEST, EPOCH, FINAL, PROGRESS, changed, check_conf, checksums

logger = logging.getLogger(__name__)


def train(store_dir: StrPath, directory: StrPath, model: str, model_options: Mapping[str, Any],
          options: TrainingOptions) -> None:
    """Train a model on a store. Writes final.pt, conf, labels.txt and the tokenizer's files to the directory.

    Does nothing if the run is already finished. If torchrun has started several processes, they train together.

    Raises InputError if the store or the options do not fit the model, the directory has a model that was trained with
    different options or data, or another process trains there. Raises SystemExit if another rank has such an error.
    """
    directory = Path(directory)
    conf = run_conf(model, model_options, options, store_dir)
    ranks, by_gradient = find_ranks(), model_class(model).trained_by_gradient
    if not by_gradient:
        if not ranks.first:
            return
        ranks = ALONE
    with ranks.join(), contextlib.ExitStack() as stack:
        with ranks.agree():
            # Checked without the lock, because the directory may be read-only.
            is_finished = ranks.first and finished(directory, conf, options)
            if ranks.first and (is_store(directory) or is_packed(directory)):
                raise InputError("this directory has a store or a packed model",
                                 "give another EXP-DIR, because some of its files would be replaced", directory)
        if ranks.from_first(is_finished):
            return
        with ranks.agree():
            # Raises an error for a missing GPU before any file is written.
            device = ranks.device(options.device) if by_gradient else "cpu"
            if ranks.first:
                stack.enter_context(lock_directory(directory))
                is_finished = finished(directory, conf, options)  # another process may have just finished the run
        if not ranks.from_first(is_finished):
            _train(store_dir, directory, model, model_options, options, conf, device, ranks)


def _train(store_dir: StrPath, directory: Path, model: str, model_options: Mapping[str, Any],
           options: TrainingOptions, conf: dict[str, Any], device: str, ranks: Ranks) -> None:
    torch.set_num_threads(options.threads or ranks.threads())
    keep_freed_memory()
    torch.manual_seed(options.seed)
    with ranks.agree():
        store = Store(store_dir)
        net = create(model, store.vocabulary, store.labels, dict(model_options), store.tokenizer)
    if ranks.first:
        _warn_of_text_read_twice(net, store, model_options, options)
    if not net.trained_by_gradient:
        check_non_gradient(model, options)
        _fit(net, store, directory, options, conf)
    else:
        if options.lstm_weights == "orthogonal":
            make_orthogonal(net)
        if options.initial_model:
            start_from(net, options.initial_model)
        Epochs(net.to(device), store, directory, options, conf, ranks).run()
    with ranks.agree():
        if ranks.first:
            if options.initial_share:
                mix_with_initial(net, directory / BEST, options, labelled(store, options.dev_set))
            finish(directory, net, conf)


def _warn_of_text_read_twice(net: Model, store: Store, model_options: Mapping[str, Any],
                             options: TrainingOptions) -> None:
    own = {member for name in options.train_set.split(",") for member in store.members(name)}
    for option, part in net.submodels.items():
        store_dir = Path(part.conf.get("store", ""))
        if model_options.get("folds") or not (store_dir / "conf").is_file():
            continue
        first = Store(store_dir)
        theirs = {member for name in part.conf["train_set"].split(",") for member in first.members(name)}
        if both := sorted(own & theirs):
            logger.warning("%s was trained on '%s', too. It is better on this text than on any other, so the new "
                           "model learns to trust it too much; train it on other text", kebab(option),
                           "', '".join(both))


def start_from(net: Model, name: str) -> None:
    """Copy the weights of another model. `name`: the directory of a trained or packed model, or the name of a bundled
    model. Raises InputError if the two models differ in architecture, tokens, labels or sizes."""
    directory = find_model(name)
    other = unpack(directory) if is_packed(directory) else load(directory)
    try:
        if other.spec["model"] != net.spec["model"] or other.token_type != net.token_type \
                or other.vocabulary.tokens != net.vocabulary.tokens or other.labels != net.labels:
            raise ValueError
        net.load_state_dict(other.state_dict())
    except (RuntimeError, ValueError):
        raise InputError(f"--initial-model={name} differs in architecture, tokens, labels or sizes",
                         f"make the store with --labels {directory}/labels.txt --token-type {other.token_type} --vocab "
                         f"{directory}/vocab, and give the options of its conf") from None


def mix_with_initial(net: Model, path: Path, options: TrainingOptions, dev: StoreSet) -> None:
    """Replace the weights in the file of a trained model by the mean of its weights and those of the initial model,
    weighted by `initial_share`. Leaves a file unchanged that already contains such a mean."""
    content = read_checkpoint(path)
    if "initial_share" in content:  # a run was killed before it renamed the file
        return
    start_from(net, options.initial_model)
    initial = cpu_weights(net)
    net.load_state_dict({name: trained.lerp(initial[name], options.initial_share) if trained.is_floating_point()
                         else trained for name, trained in content["weights"].items()})
    dev_loss, dev_f1 = evaluate(net.eval(), dev)
    logger.info("mixed with the initial weights: dev loss %.5f, dev F1 %.2f", dev_loss, dev_f1)
    save(net, path, conf=content["conf"], store=content["store"], epoch=content["epoch"], dev_loss=dev_loss,
         initial_share=options.initial_share)


def architecture(name: str) -> tuple[str, dict[str, Any]]:
    """Return the architecture and the options of a model. `name`: its directory, or the name of a bundled model."""
    directory = find_model(name)
    spec = load_packed(directory).spec if is_packed(directory) else read_checkpoint(directory / "final.pt")["spec"]
    return spec["model"], spec["options"]


def _fit(net: Model, store: Store, directory: Path, options: TrainingOptions, conf: dict[str, Any]) -> None:
    begin = time.perf_counter()
    sets = options.train_set.split(",")
    dev = labelled(store, options.dev_set)
    for name in sets:
        labelled(store, name)
    net.fit(store, sets, options.dev_set, options.seed)
    if bad := not_finite(net.state_dict()):
        raise InputError(f"{bad} has numbers that are NaN or infinite", "change the model's options, or its text")
    dev_loss, dev_f1 = evaluate(net, dev)
    logger.info("dev loss %.5f, dev F1 %.2f, %.1f s", dev_loss, dev_f1, time.perf_counter() - begin)
    directory.mkdir(parents=True, exist_ok=True)
    save(net, directory / BEST, conf=conf, store=checksums(store, options), dev_loss=dev_loss)


def finish(directory: Path, model: Model, conf: dict[str, Any]) -> None:
    """Make the best model the final model. Also write its labels, its tokenizer's files, and the conf with which it can
    be trained again, and copy the transitions of the initial model, if it has any."""
    model.tokenizer.write(directory)
    model.labels.write(directory / "labels.txt")
    transitions = find_model(conf["initial_model"]) / TRANSITIONS if conf.get("initial_model") else None
    if transitions and transitions.is_file():
        with atomic_file(directory / TRANSITIONS, "wb") as file:
            file.writelines(read_blocks(transitions))
    with atomic_file(directory / "conf") as file:
        file.write(f"# punc {punc.__version__}, torch {torch.__version__}, store {conf['store']}\n")
        file.writelines(f"{kebab(name)}={str(value).lower() if isinstance(value, bool) else value}\n"
                        for name, value in conf.items() if name != "store")
    os.replace(directory / BEST, directory / FINAL)
    _remove_states(directory)


def finished(directory: Path, conf: dict[str, Any], options: TrainingOptions) -> bool:
    """Return whether the directory has a finished model with this conf. If so, logs a message.

    Raises InputError if the model has a different conf, different labels, or different training data. If the store
    no longer exists, only the conf is compared. If the soft targets or the confusions no longer exist, or if the model
    comes from an older version and has no checksums, the training data is not compared.
    """
    path = directory / FINAL
    if not path.exists():
        return False
    content = read_checkpoint(path)
    check_conf(content, path, conf)
    _remove_states(directory)  # a run that was killed after it wrote FINAL leaves epoch.pt, best.pt or progress.pt
    if (Path(conf["store"]) / "conf").is_file():
        _check_store(directory, Store(conf["store"]), content.get("store"), options)
    logger.info("punc train: %s is finished", path)
    return True


def _check_store(directory: Path, store: Store, saved: Any, options: TrainingOptions) -> None:
    remedy = "remove the directory to train again, give another one, or restore the store"
    own = LabelSet.read(directory / "labels.txt")
    if own != store.labels:
        raise InputError(f"this directory has a model with another label set than {store.path}: "
                         f"{difference(own, store.labels)}", remedy, directory)
    there = all(os.path.exists(path) for path in (options.teacher, options.confusions) if path)
    if there and isinstance(saved, dict) and (name := changed(saved, checksums(store, options))):
        raise InputError(f"{store.path / name} has changed since this model was trained", remedy, directory)


def _remove_states(directory: Path) -> None:
    # progress.pt is removed last: while it exists, utils/train.sh calls punc train again, which removes the other
    # files.
    for name in (EPOCH, BEST, PROGRESS):
        (directory / name).unlink(missing_ok=True)
