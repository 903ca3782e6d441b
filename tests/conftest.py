"""Fixtures and settings that several test files share."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from punc.base import log
from punc.data.datadir import Utterance, write_data_dir
from punc.data.labels import LabelSet
from punc.tokens.store import make_store
from punc.tokens.vocabulary import Vocabulary

# Shells start background jobs with SIGINT ignored, and all programs that tests start would inherit this.
signal.signal(signal.SIGINT, signal.default_int_handler)
log.configure()  # tests see messages on standard error, as users do
# Hypothesis sets no deadline for examples, because their time depends on the machine's load.
settings.register_profile("random", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# Examples are the same in every run; --hypothesis-profile random draws new ones.
settings.register_profile("punc", settings.get_profile("random"), derandomize=True)
settings.load_profile("punc")

# Slow test files run first, so that two processes end at about the same time. --no-loadscope-reorder keeps this order.
LONG = ("recipe", "new_corpora", "docs", "slurm", "campaign", "ranks", "train", "asr_formats", "punctuated_parts",
        "punctuate")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.stem.removeprefix("test_") not in LONG)


WORDS = [*"abcdefgh"]
LABELS = "O w\nCOMMA w, ,\nPERIOD w. . ? !\n"
UTILS = Path(__file__).parents[1] / "utils"
PUNC = [sys.executable, "-c", "import sys; from punc.bin.main import main; sys.exit(main())"]


def run(*command, cwd=None, env=None):
    return subprocess.run([str(c) for c in command], cwd=cwd, env={**os.environ, **(env or {})}, text=True,
                          capture_output=True, timeout=200)


def streaming_logits(model, tokens):
    """Yield the logits (L,) of each slot of a stream as soon as the model's look-ahead allows. `tokens` yields the id
    of each token, and the pause *before* it in seconds (NaN: unknown)."""
    from punc.live.stream import SlotStream
    stream = SlotStream(model)
    for token, pause in tokens:
        logits = stream.push(token, pause)
        if logits is not None:
            yield logits
    yield from stream.close()


def save_model(model, directory):
    """Write all files from which `punc.models.base.load` reads a model."""
    from punc.models.base import save
    directory.mkdir(exist_ok=True)
    model.tokenizer.write(directory)
    model.labels.write(directory / "labels.txt")
    save(model, directory / "final.pt")
    return directory


def random_model(directory, labels, words, name="t_lstm", options=None, std=None):
    """Write a model with random weights. The default is a T-LSTM whose output depends on many earlier words."""
    import torch

    from punc.models.base import create
    directory.mkdir(exist_ok=True)
    (directory / "labels.txt").write_text(labels)
    torch.manual_seed(1)
    sizes = {"embedding_dim": 5, "hidden_dim": 6, "init_range": 2.0} if name == "t_lstm" else {}
    model = create(name, Vocabulary(["<unk>", "</s>", *words]), LabelSet.read(directory / "labels.txt"),
                   sizes | (options or {}))
    for weight in model.parameters() if std else ():
        torch.nn.init.normal_(weight, std=std)
    return save_model(model, directory)


def piped(punctuate, model, data, *options):
    """Return the output of `punctuate` on a pipe that contains `data` (at most 64 KiB)."""
    sink, (source, into) = io.BytesIO(), os.pipe()
    os.write(into, data)
    os.close(into)
    try:
        punctuate(model, source, sink, *options)
    finally:
        os.close(source)
    return sink.getvalue()


def content(path):
    return {file.name: file.read_bytes() for file in path.iterdir()} if path.exists() else None


def cells(text, row):
    """Return the cells of the row whose first cell is `row`, in the tables of a Markdown page."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {row} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def toy_labels(task, words, pauses):
    """Return labels that depend only on the word after the slot, the word before it, or the pause, as `task` says."""
    if task == "pause":
        return ["PERIOD" if pause > 0.7 else "COMMA" if pause > 0.3 else "O" for pause in pauses.tolist()]
    deciding = [*words[1:], "b"] if task == "after" else words
    return [{"a": "COMMA", "b": "PERIOD"}.get(word, "O") for word in deciding]


def toy_utterances(task, lengths, rng):
    """Yield an utterance of random words for each length. Each utterance is a separate stream."""
    for number, length in enumerate(lengths):
        words = rng.choice(WORDS, length).tolist()
        pauses = rng.choice(np.array([0, 0.1, 0.5, 0.6, 0.9, 1.0], np.float32), length)
        yield Utterance(f"s{number:04d}-1", f"s{number:04d}", words, toy_labels(task, words, pauses), pauses)


@pytest.fixture(scope="session")
def toy_store(tmp_path_factory):
    """Make a store with the sets train_<task> and dev_<task> for each of the tasks `after`, `before`, `pause`, `short`.

    `short` is like `before`, but its streams have only one to eight words.
    """
    place, rng = tmp_path_factory.mktemp("toy"), np.random.default_rng(5)
    (place / "labels.txt").write_text(LABELS)
    (place / "vocab").write_text("\n".join(["<unk>", "</s>", *WORDS, ""]))
    sets = []
    for task in ("after", "before", "pause", "short"):
        for name, words in (("train", 3000), ("dev", 600)):
            lengths = rng.integers(1, 9, words // 5) if task == "short" else [words // 3] * 3
            sets.append(place / f"{name}_{task}")
            write_data_dir(sets[-1], toy_utterances("before" if task == "short" else task, lengths, rng))
    make_store(place / "store", sets, place / "labels.txt", vocab=place / "vocab", nj=1)
    return place / "store"


@pytest.fixture(scope="session")
def experiment(tmp_path_factory):
    from experiment import make_experiment
    return make_experiment(tmp_path_factory.mktemp("experiment"))
