"""Training learns, is repeatable bit for bit, and reaches the same model if it is killed and continued."""

import contextlib
import functools
import importlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

import punc.training.epochs
import punc.training.train
from punc.base import stop
from punc.base.errors import InputError
from punc.base.lock import lock_directory
from punc.base.processor import has_bfloat16
from punc.bin import main as command
from punc.data.datadir import Utterance, write_data_dir
from punc.decoding.pack import pack
from punc.models.base import NeuralModel, load, read_checkpoint
from punc.tokens.store import Store, make_store
from punc.tokens.vocabulary import END
from punc.training import state
from punc.training.epochs import evaluate
from punc.training.losses import EpochLoss
from punc.training.optim import Optimizer
from punc.training.options import TrainingOptions
from punc.training.train import train

torch.set_num_threads(1)
SMALL = {"embedding_dim": 6, "hidden_dim": 8, "init_range": 0.1}
SETTINGS = {"train_set": "train_before", "dev_set": "dev_before", "batch_size": 20, "bptt": 5, "epochs": 3,
            "threads": 1}


class BothWays(NeuralModel):
    lookahead = None

    def __init__(self, vocab: int, labels: int, size: int = 8, dropout: float = 0.1):
        super().__init__()
        self.embedding, self.dropout = nn.Embedding(vocab, size), nn.Dropout(dropout)
        self.lstm, self.output = nn.LSTM(size, size, batch_first=True, bidirectional=True), nn.Linear(2 * size, labels)

    def forward(self, tokens, pauses, state):
        ends = torch.cat([tokens == END, torch.ones(len(tokens), 1, dtype=torch.bool)], dim=1)
        lengths = ends.int().argmax(dim=1)
        vectors = self.dropout(self.embedding(tokens))
        packed = nn.utils.rnn.pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
        hidden, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.output(self.dropout(hidden)), ()


@pytest.fixture
def both_ways(monkeypatch):
    # Imported by name, because the package also has a function `build`.
    module = importlib.import_module("punc.models.base.build")
    found = module.model_class
    for place in (module, punc.training.train):
        monkeypatch.setattr(place, "model_class", lambda name: BothWays if name == "both_ways" else found(name))


# Training runs by name: the model, its options, and training options.
RUNS = {
    "stateful": ("t_lstm", SMALL, SETTINGS),
    "stateful-adam": ("t_lstm", SMALL, SETTINGS | {
        "optimizer": "adam", "learning_rate": 0.03, "max_grad_norm": 1.0, "batch_size": 10}),
    "stateful-chunks": ("t_lstm", SMALL, SETTINGS | {
        "batching": "chunks", "chunk_size": 16, "context": 4, "batch_size": 5}),
    "whole-chunks": ("both_ways", {"size": 8, "dropout": 0.1}, SETTINGS | {
        "optimizer": "adamw", "learning_rate": 0.02, "weight_decay": 0.01, "max_grad_norm": 1.0, "chunk_size": 20,
        "context": 5}),
    "parts": ("t_lstm", SMALL, SETTINGS | {
        "batching": "chunks", "chunk_size": 16, "context": 4, "batch_size": 2, "parts": 2, "learning_rate": 0.2}),
    "stateful-parts": ("t_lstm", SMALL, SETTINGS | {"parts": 2, "learning_rate": 0.2}),
    "stateful-linear": ("t_lstm", SMALL, SETTINGS | {"schedule": "linear", "learning_rate": 0.2}),
    "whole-short": ("both_ways", {"size": 8, "dropout": 0.1}, SETTINGS | {
        "train_set": "train_short", "dev_set": "dev_short", "optimizer": "adam", "learning_rate": 0.02}),
}
# Runs that continue in different ways after a kill.
KINDS = ("stateful", "stateful-linear", "parts", "whole-chunks")


def run(store, directory, name, **changes):
    model, options, settings = RUNS[name]
    train(store, directory, model, options, TrainingOptions(**settings | changes))
    return read_checkpoint(directory / "final.pt")["weights"]


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.fixture(scope="module")
def whole(toy_store, tmp_path_factory):
    """Return a function that trains like `run`, without an interruption. It trains each run only once."""
    return functools.cache(lambda name, **changes: run(toy_store, tmp_path_factory.mktemp("whole"), name, **changes))


@pytest.mark.parametrize("name", RUNS)
def test_train_learns(name, toy_store, tmp_path, both_ways, capsys):
    model, options, settings = RUNS[name]
    train(toy_store, tmp_path, model, options, TrainingOptions(**settings | {"epochs": 6}))
    loss, f1 = evaluate(load(tmp_path), Store(toy_store).set(settings["dev_set"]))
    assert f1 > 98
    lines = capsys.readouterr().err.splitlines()
    if model == "both_ways" or settings.get("batching") == "chunks":
        assert re.fullmatch(rf"{settings['train_set']}: \d+ chunks, \d+\.\d% of the steps are padding", lines.pop(0))
    assert re.match(r"kept epoch \d: the lowest dev loss, 0\.\d+", lines.pop())
    assert [line.split(":")[0] for line in lines] == [f"epoch {n + 1}" for n in range(len(lines))]
    assert all(f" {word}" in line for line in lines for word in ("rate", "loss", "dev loss", "dev F1", "words/s"))
    best = min(float(line.split("dev loss ")[1].split(",")[0]) for line in lines)
    assert loss == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize("name", KINDS)
def test_train_same_seed_gives_the_same_model(name, toy_store, tmp_path, both_ways, whole):
    assert same(whole(name, epochs=1), run(toy_store, tmp_path / "1", name, epochs=1, seed=1))
    assert not same(whole(name, epochs=1), run(toy_store, tmp_path / "2", name, epochs=1, seed=2))


@pytest.mark.parametrize(("name", "change"), [
    ("stateful", {"batch_size": 7}), ("stateful", {"bptt": 4}), ("stateful", {"optimizer": "sgd"}),
    ("stateful", {"learning_rate": 0.2}),
    ("stateful", {"epsilon": 1e-3}), ("stateful", {"weight_decay": 0.01}), ("stateful", {"max_grad_norm": 0.01}),
    ("stateful", {"schedule": "linear"}),
    pytest.param("stateful", {"bfloat16": True},
                 marks=pytest.mark.skipif(not has_bfloat16(), reason="no bfloat16 on this processor")),
    ("stateful", {"batching": "chunks"}), ("stateful", {"train_set": "train_after"}),
    ("stateful-chunks", {"chunk_size": 15}), ("stateful-chunks", {"context": 3}), ("stateful-chunks", {"parts": 2}),
    ("whole-chunks", {"chunk_size": 15}), ("whole-chunks", {"context": 3}),
])
def test_train_uses_every_option(name, change, toy_store, tmp_path, both_ways, whole):
    assert not same(whole(name, epochs=1), run(toy_store, tmp_path, name, **{"epochs": 1} | change))


def test_train_bfloat16_falls_back_to_float32(toy_store, tmp_path, both_ways, capsys, monkeypatch):
    monkeypatch.setattr(punc.training.epochs, "has_bfloat16", lambda device: False)
    exact = run(toy_store, tmp_path / "float32", "stateful", epochs=1)
    assert "bfloat16" not in capsys.readouterr().err
    assert same(exact, run(toy_store, tmp_path / "bfloat16", "stateful", epochs=1, bfloat16=True))
    assert capsys.readouterr().err.startswith("punc train: this processor has no bfloat16, so float32 is used, which "
                                              "takes longer\n")


@pytest.mark.parametrize("name", ["parts", "stateful-parts"])
def test_train_parts_are_one_reading_of_the_set(name, toy_store, tmp_path, monkeypatch):
    """Each pair of epochs reads every slot once. In the case `parts`, the second pair reads the chunks in a
    different order. The learning rate falls in equal steps over all epochs."""
    sums, rates, batches = [], [], punc.training.batching.epoch_batches
    monkeypatch.setattr(punc.training.epochs.Optimizer, "set_learning_rate", lambda _, rate: rates.append(rate))

    def watched(*args):
        for batch in batches(*args):
            sums.append((args[4], int((batch.labels >= 0).sum()), batch.tokens.numpy().tobytes()))
            yield batch

    monkeypatch.setattr(punc.training.batching, "epoch_batches", watched)
    run(toy_store, tmp_path, name, epochs=4, schedule="linear")
    slots = len(Store(toy_store).set("train_before").ids)
    for first in (0, 2):
        assert sum(n for epoch, n, _ in sums if epoch in (first, first + 1)) == slots
        assert sum(n for epoch, n, _ in sums if epoch == first) == pytest.approx(slots / 2, rel=0.05)
    one, two = ({tokens for epoch, _, tokens in sums if epoch in part} for part in ((0, 1), (2, 3)))
    assert (one != two) == (name == "parts")
    assert rates == pytest.approx(np.linspace(0.2, 0, len(rates), endpoint=False), abs=0.4 / len(rates))


def test_train_initial_model_continues_from_its_weights(toy_store, tmp_path):
    first = run(toy_store, tmp_path / "1", "stateful", epochs=1)
    same_weights = run(toy_store, tmp_path / "2", "stateful", epochs=1, learning_rate=0.0,
                       initial_model=str(tmp_path / "1"))
    assert same(first, same_weights)


class Killed(BaseException):
    pass


def test_train_initial_share_mixes_the_initial_with_the_trained_weights(toy_store, tmp_path, monkeypatch):
    initial = run(toy_store, tmp_path / "1", "stateful", epochs=1)
    options = {"epochs": 2, "initial_model": str(tmp_path / "1")}
    trained = run(toy_store, tmp_path / "2", "stateful", **options)
    assert not same(initial, trained)

    def killed(*_):
        raise Killed

    with monkeypatch.context() as patch:  # as if the run were killed after it has mixed the weights
        patch.setattr(punc.training.train, "finish", killed)
        with pytest.raises(Killed):
            run(toy_store, tmp_path / "3", "stateful", initial_share=0.25, **options)
    mixed = run(toy_store, tmp_path / "3", "stateful", initial_share=0.25, **options)
    for name, weight in mixed.items():
        assert torch.allclose(weight, 0.25 * initial[name] + 0.75 * trained[name], atol=1e-6), name
    assert read_checkpoint(tmp_path / "3/final.pt")["dev_loss"] not in (
        read_checkpoint(tmp_path / name / "final.pt")["dev_loss"] for name in "12")


@pytest.mark.parametrize(("options", "message"), [
    ({"initial_share": 0.5}, "--initial-share=0.5 without --initial-model"),
    ({"initial_share": 1.0, "initial_model": "en"}, "--initial-share=1.0 is out of range"),
    ({"initial_share": -0.5, "initial_model": "en"}, "--initial-share=-0.5 is out of range")])
def test_train_invalid_initial_share_is_an_error(options, message):
    with pytest.raises(InputError, match=message):
        TrainingOptions(**options)


@pytest.mark.parametrize("options", [SMALL | {"hidden_dim": 9}, None])
def test_train_initial_model_of_other_sizes_is_an_error(toy_store, tmp_path, both_ways, options):
    run(toy_store, tmp_path / "1", "stateful", epochs=1)
    settings = TrainingOptions(**SETTINGS, initial_model=str(tmp_path / "1"))
    model = ("t_lstm", options) if options else ("both_ways", {})
    with pytest.raises(InputError, match=r"--initial-model=.* differs in architecture"):
        train(toy_store, tmp_path / "2", *model, settings)


def test_train_initial_model_of_other_tokens_is_an_error(toy_store, long_words, tmp_path):
    """The store was made with the vocabulary of the initial model, but without its --token-type."""
    settings = {"train_set": "d", "dev_set": "d", "epochs": 1, "threads": 1}
    train(long_words, tmp_path / "1", "t_lstm", SMALL, TrainingOptions(**settings))
    make_store(tmp_path / "store", [long_words.parent / "d"], long_words / "labels.txt", vocab=tmp_path / "1/vocab",
               nj=1)
    settings["initial_model"] = str(tmp_path / "1")
    with pytest.raises(InputError, match=r"differs in .*tokens.*; make .* --labels .* --token-type char "):
        train(tmp_path / "store", tmp_path / "2", "t_lstm", SMALL, TrainingOptions(**settings))
    assert not (tmp_path / "2").exists()


def test_train_begins_with_orthogonal_weights_of_lstm_layers(toy_store, tmp_path, both_ways):
    weights = run(toy_store, tmp_path / "1", "whole-chunks", epochs=1, learning_rate=0.0, optimizer="sgd",
                  lstm_weights="orthogonal")
    gates = weights["lstm.weight_hh_l0"].unflatten(0, (4, -1))
    assert torch.allclose(gates @ gates.mT, torch.eye(gates.shape[1]).expand_as(gates), atol=1e-5)
    with pytest.raises(InputError, match="none of PyTorch's LSTM layers"):  # T-LSTM has its own LSTM layer
        run(toy_store, tmp_path / "2", "stateful", lstm_weights="orthogonal")


def test_train_initial_model_can_be_a_packed_one(toy_store, tmp_path):
    pytest.importorskip("onnx")
    options = {"embedding_dim": 70, "hidden_dim": 24, "layers": 1, "pauses": True}
    settings = SETTINGS | {"epochs": 1, "chunk_size": 20}
    train(toy_store, tmp_path / "1", "bi_lstm", options, TrainingOptions(**settings))
    pack(tmp_path / "1", tmp_path / "packed")
    again = settings | {"learning_rate": 0.0, "initial_model": str(tmp_path / "packed")}
    train(toy_store, tmp_path / "2", "bi_lstm", options, TrainingOptions(**again))
    before, after = (load(tmp_path / name).state_dict() for name in "12")
    assert before.keys() == after.keys()
    for name, weight in before.items():  # int8 weights have an error of at most half a step of max / 127
        error = weight.abs().amax(-1, keepdim=True) / 254 * 1.01 if weight.numel() >= 4096 else 0
        assert ((after[name] - weight).abs() <= error).all(), name
    with pytest.raises(InputError, match=r"--initial-model=.* differs in architecture"):
        train(toy_store, tmp_path / "3", "bi_lstm", options | {"layers": 2}, TrainingOptions(**again))


@pytest.mark.parametrize("name", ["stateful", "stateful-chunks"])
def test_train_more_parts_than_batches_is_an_error(name, toy_store, tmp_path):
    with pytest.raises(InputError, match=r"--parts 5000, but set 'train_before' has only \d+ batches; give at most"):
        run(toy_store, tmp_path, name, parts=5000)


def run_two_epochs(store, directory, name):
    """Train for two epochs of only a few batches. The model need not be good."""
    return run(store, directory, name, epochs=2, bptt=20, **({"batch_size": 10} if name == "parts" else {}))


def count_and_kill(monkeypatch, moment):
    """From now on, kill the program just before the renaming with the index `moment`. Return the list of renamings."""
    calls, replace = [], os.replace

    def counted(*names):
        calls.append(names)
        if len(calls) == moment + 1:
            raise Killed
        replace(*names)

    monkeypatch.setattr(os, "replace", counted)
    return calls


@pytest.mark.parametrize("name", KINDS)
def test_train_killed_before_a_renaming_continues(name, toy_store, tmp_path, both_ways, monkeypatch):
    """A kill between two renamings leaves the same files as a kill just before the later one."""
    with monkeypatch.context() as patch:
        calls = count_and_kill(patch, 1 << 30)
        whole = run_two_epochs(toy_store, tmp_path / "whole", name)
    moments = range(len(calls)) if name == "stateful" else [2, 3]  # best.pt and progress.pt are renamed in epoch 2
    assert len(calls) == 2 * 2 + 4
    for moment in moments:
        directory = tmp_path / str(moment)
        with monkeypatch.context() as patch:
            count_and_kill(patch, moment)
            with pytest.raises(Killed):
                run_two_epochs(toy_store, directory, name)
        assert not (directory / "final.pt").exists()
        assert same(run_two_epochs(toy_store, directory, name), whole)
        assert sorted(p.name for p in directory.iterdir()) == ["conf", "final.pt", "labels.txt", "vocab"]


def kill_within_an_epoch(monkeypatch, moment):
    """From now on, write the state after every second batch, and kill the program after `moment` writes."""
    monkeypatch.setattr(state, "SECONDS", 0.0)
    monkeypatch.setattr(state, "BATCHES", 2)
    after, written = state.Run.after_batch, []

    def killed(self, batches, *rest):
        after(self, batches, *rest)
        if batches % 2 == 0:
            written.append(batches)
            if len(written) == moment:
                raise Killed

    monkeypatch.setattr(state.Run, "after_batch", killed)
    return written


def count_steps(monkeypatch):
    steps, step = [], Optimizer.step

    def counted(self):
        steps.append(1)
        step(self)

    monkeypatch.setattr(Optimizer, "step", counted)
    return steps


@pytest.fixture(autouse=True)
def handlers():
    before = {number: signal.getsignal(number) for number in stop.SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def signal_in(monkeypatch, owner, name, number, moment):
    """From now on, send a signal if the function `name` of `owner` is called after exactly `moment` training steps.
    Return a list that gets an item at each training step."""
    monkeypatch.setattr(stop, "_received", 0)
    signal.signal(number, stop._raise)
    steps, function = count_steps(monkeypatch), getattr(owner, name)

    def signalled(*arguments):
        if len(steps) == moment:
            os.kill(os.getpid(), number)
        return function(*arguments)

    monkeypatch.setattr(owner, name, signalled)
    return steps


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_train_stopped_by_a_signal_continues_at_the_next_batch(number, toy_store, tmp_path, monkeypatch):
    name = next(iter(RUNS))
    with monkeypatch.context() as patch:
        steps = count_steps(patch)
        whole = run(toy_store, tmp_path / "whole", name, epochs=2)
    done = len(steps) - 2
    with monkeypatch.context() as patch:
        counted = signal_in(patch, Optimizer, "step", number, done - 1)
        with pytest.raises(stop.Stopped):
            run(toy_store, tmp_path / "stopped", name, epochs=2)
        assert len(counted) == done  # the signal does not interrupt the batch
    with monkeypatch.context() as patch:
        rest = count_steps(patch)
        assert same(run(toy_store, tmp_path / "stopped", name, epochs=2), whole)
    assert len(rest) == 2


@pytest.mark.parametrize(("name", "moment"), [
    ("stateful", (EpochLoss, "mean")), ("stateful", (punc.training.epochs, "not_finite")),
    ("stateful", (punc.training.epochs, "evaluate")), ("whole-chunks", (state.Run, "end_epoch"))])
def test_train_stopped_after_an_epoch_repeats_no_batch(name, moment, toy_store, tmp_path, both_ways, monkeypatch):
    """The signal comes after the last batch, while the dev set is scored, or while the models are written."""
    with monkeypatch.context() as patch:
        steps = count_steps(patch)
        whole = run(toy_store, tmp_path / "whole", name, epochs=2)
    with monkeypatch.context() as patch:
        counted = signal_in(patch, *moment, signal.SIGTERM, len(steps))
        with pytest.raises(stop.Stopped):
            run(toy_store, tmp_path / "stopped", name, epochs=2)
        assert len(counted) == len(steps)
    with monkeypatch.context() as patch:
        rest = count_steps(patch)
        assert same(run(toy_store, tmp_path / "stopped", name, epochs=2), whole)
    assert not rest


@pytest.mark.parametrize("name", KINDS)
def test_train_killed_within_an_epoch_continues_there(name, toy_store, tmp_path, both_ways, monkeypatch, capsys):
    """The continued run reaches the same model and logs the same losses. It continues with the batch that follows the
    last written state."""
    whole = run_two_epochs(toy_store, tmp_path / "whole", name)
    losses = [re.sub("dev F1.*", "", line) for line in capsys.readouterr().err.splitlines()]
    with monkeypatch.context() as patch:
        written = kill_within_an_epoch(patch, 1 << 30)
        assert same(run_two_epochs(toy_store, tmp_path / "written", name), whole)
    for moment in {1, len(written) // 2, len(written)}:  # kills in the first and in the second epoch
        directory = tmp_path / str(moment)
        with monkeypatch.context() as patch:
            kill_within_an_epoch(patch, moment)
            with pytest.raises(Killed):
                run_two_epochs(toy_store, directory, name)
        assert (directory / "epoch.pt").exists()
        capsys.readouterr()
        with monkeypatch.context() as patch:
            assert kill_within_an_epoch(patch, 1 << 30) == []
            steps = count_steps(patch)
            assert same(run_two_epochs(toy_store, directory, name), whole)
        assert len(steps) <= 2 * (len(written) - moment) + 2
        ended = [re.sub("dev F1.*", "", line) for line in capsys.readouterr().err.splitlines()]
        assert ended[-2:] == losses[-2:]
        assert sorted(p.name for p in directory.iterdir()) == ["conf", "final.pt", "labels.txt", "vocab"]


def arguments(store, directory, **settings):
    given = {"model": "t_lstm", **SMALL, **settings}
    return ["train", *(f"--{name.replace('_', '-')}={value}" for name, value in given.items()), str(store),
            str(directory)]


def test_train_finished_run_does_nothing(toy_store, tmp_path, capsys):
    line = arguments(toy_store, tmp_path, **SETTINGS | {"epochs": 1})
    assert command.main(line) == 0
    before = {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in tmp_path.iterdir()}
    capsys.readouterr()
    with lock_directory(tmp_path):  # a finished run needs no lock
        assert command.main(line) == 0
    assert capsys.readouterr().err == f"punc train: {tmp_path}/final.pt is finished\n"
    assert {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in tmp_path.iterdir()} == before


def test_train_second_run_into_a_directory_is_refused(toy_store, tmp_path, capsys):
    """A second run is refused while the first is alive. Once the first is killed, a run continues from its last
    epoch."""
    whole = run(toy_store, tmp_path / "whole", "stateful", epochs=4, min_improvement=0.0)
    exp = tmp_path / "exp"
    line = arguments(toy_store, exp, **SETTINGS | {"epochs": 4, "min_improvement": 0.0})
    code = "import sys; from punc.bin.main import main; sys.exit(main())"
    with subprocess.Popen([sys.executable, "-c", code, *line], stderr=subprocess.PIPE, text=True) as first:
        for text in first.stderr:
            if text.startswith("epoch 2"):
                first.send_signal(signal.SIGSTOP)
                break
        before = {path.name: path.read_bytes() for path in exp.iterdir()}
        capsys.readouterr()
        assert command.main(line) == 1
        text = capsys.readouterr().err
        assert text.startswith(f"punc train: {exp}: process {first.pid} on {socket.gethostname()} is writing here (")
        assert text.endswith("); wait until it ends, or give another directory\n")
        assert text.count("\n") == 1
        assert {path.name: path.read_bytes() for path in exp.iterdir()} == before
        first.kill()
    assert command.main(line) == 0
    assert "epoch 1:" not in capsys.readouterr().err
    assert same(read_checkpoint(exp / "final.pt")["weights"], whole)
    assert sorted(path.name for path in exp.iterdir()) == ["conf", "final.pt", "labels.txt", "vocab"]


def test_train_run_that_another_process_has_just_finished(toy_store, tmp_path, capsys, monkeypatch):
    """The other process ends between the first check of the directory and the lock."""
    @contextlib.contextmanager
    def late(directory):
        monkeypatch.undo()
        run(toy_store, directory, "stateful", epochs=1)
        capsys.readouterr()
        yield

    monkeypatch.setattr(punc.training.train, "lock_directory", late)
    run(toy_store, tmp_path, "stateful", epochs=1)
    assert capsys.readouterr().err == f"punc train: {tmp_path}/final.pt is finished\n"


def train_one_epoch(store, directory, monkeypatch):
    with monkeypatch.context() as patch:
        count_and_kill(patch, 2)
        with pytest.raises(Killed):
            run(store, directory, "stateful", epochs=2)


@pytest.mark.parametrize("name", ["vocab", "train_before/index", "dev_before/pauses.npy"])
def test_train_changed_store_under_a_half_trained_model_is_an_error(toy_store, tmp_path, monkeypatch, capsys, name):
    store, exp = tmp_path / "store", tmp_path / "exp"
    shutil.copytree(toy_store, store)
    train_one_epoch(store, exp, monkeypatch)
    before = {path.name: path.read_bytes() for path in exp.iterdir()}
    content = (store / name).read_bytes()
    changed = {"vocab": content.replace(b"c\nd", b"d\nc"), "train_before/index": content.replace(b"s0000", b"r0000"),
               "dev_before/pauses.npy": None}.get(name, content[:-4] + bytes(4))
    assert changed != content
    (store / name).write_bytes(changed) if changed else (store / name).unlink()
    capsys.readouterr()
    assert command.main(arguments(store, exp, **SETTINGS | {"epochs": 2})) == 1
    assert capsys.readouterr().err == (f"punc train: {store}/{name}: the file has changed since the training in {exp} "
                                       "began; remove that directory to start again, or restore the store\n")
    assert {path.name: path.read_bytes() for path in exp.iterdir()} == before


def test_train_saved_conf_trains_the_same_model(toy_store, tmp_path):
    weights = run(toy_store, tmp_path / "one", "stateful", epochs=1)
    assert command.main(["train", f"--config={tmp_path}/one/conf", str(toy_store), str(tmp_path / "two")]) == 0
    assert same(read_checkpoint(tmp_path / "two" / "final.pt")["weights"], weights)


@pytest.mark.parametrize(("change", "message"), [
    ({"model": "t_lstn"}, "no model 't_lstn'; did you mean t_lstm?"),
    ({"hiden_dim": 3}, "unknown option --hiden-dim; did you mean --hidden-dim?"),
    ({"batch_size": 0}, "--batch-size=0 is out of range; give 1 or more"),
    ({"hidden_dim": -1}, "--hidden-dim=-1 is out of range; give 1 or more"),
    ({"embedding_dim": 0}, "--embedding-dim=0 is out of range; give 1 or more"),
    ({"train_set": "train"}, "STORE: no set 'train' in the store; it has "),
])
def test_train_wrong_option_is_one_line_and_writes_nothing(toy_store, tmp_path, capsys, change, message):
    assert command.main(arguments(toy_store, tmp_path / "exp", **SETTINGS | change)) == 1
    text = capsys.readouterr().err
    assert text.startswith(f"punc train: {message.replace('STORE', str(toy_store))}")
    assert text.count("\n") == 1
    assert not (tmp_path / "exp").exists()


def test_train_does_not_replace_files_of_a_store(toy_store, tmp_path, capsys):
    shutil.copytree(toy_store, tmp_path / "other")
    before = {path: path.read_bytes() for path in tmp_path.glob("other/*") if path.is_file()}
    assert command.main(arguments(toy_store, tmp_path / "other", **SETTINGS)) == 1
    assert capsys.readouterr().err.startswith(f"punc train: {tmp_path}/other: this directory has a store or a packed ")
    assert {path: path.read_bytes() for path in tmp_path.glob("other/*") if path.is_file()} == before


def test_train_missing_gpu_is_one_line_and_writes_nothing(toy_store, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert command.main(arguments(toy_store, tmp_path / "exp", **SETTINGS, device="cuda")) == 1
    assert capsys.readouterr().err == ("punc train: --device cuda: PyTorch sees no GPU; use --device cpu, or install a "
                                       "CUDA build (docs/install.md)\n")
    assert not (tmp_path / "exp").exists()


def test_train_missing_store_is_an_error(tmp_path, capsys):
    assert command.main(arguments(tmp_path / "none", tmp_path / "exp")) == 1
    assert capsys.readouterr().err == f"punc train: {tmp_path}/none: no such directory; make it: punc make-store\n"


def test_train_whole_streams_statefully_is_an_error(toy_store, tmp_path, both_ways):
    with pytest.raises(InputError, match="whole streams cannot train statefully; leave --batching out"):
        run(toy_store, tmp_path, "whole-chunks", batching="stateful")


def test_train_loss_not_finite_is_an_error(toy_store, tmp_path, both_ways, monkeypatch):
    monkeypatch.setattr(BothWays, "loss", lambda model, logits, labels: logits.sum() * torch.inf)
    with pytest.raises(InputError, match=r"^epoch 1: the loss of step 1 is -?inf; lower --learning-rate, or set "):
        run(toy_store, tmp_path, "whole-chunks")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("poison", "said"), [
    ("loss", "the loss of step 7 is nan"), ("gradient", "the loss of step 8 is nan"),
    ("last gradient", r"\S+ has weights that are NaN or infinite")])
def test_train_that_diverges_keeps_the_last_good_epoch(toy_store, tmp_path, monkeypatch, whole, poison, said):
    """The loss or a gradient becomes NaN in epoch 2. After the cause is fixed, the run continues with epoch 2."""
    whole_weights = whole("stateful")
    loss, steps = NeuralModel.loss, 0

    def counted(model, logits, labels):
        nonlocal steps
        steps += 1
        at = poisoned == steps
        if at and poison == "loss":
            logits = logits * torch.nan
        elif at:
            logits.register_hook(lambda gradient: gradient * torch.nan)
        return loss(model, logits, labels)
    poisoned = 0
    monkeypatch.setattr(NeuralModel, "loss", counted)
    run(toy_store, tmp_path / "first", "stateful", epochs=1)
    poisoned, steps = steps + (steps if poison == "last gradient" else 7), 0
    with pytest.raises(InputError, match=f"^epoch 2: {said}; lower .*; epoch 1 is kept$"):
        run(toy_store, tmp_path / "exp", "stateful")
    assert read_checkpoint(tmp_path / "exp/progress.pt", state.FORMAT)["progress"][1] == 1
    poisoned = 0
    assert same(run(toy_store, tmp_path / "exp", "stateful"), whole_weights)


@pytest.fixture(scope="module")
def long_words(tmp_path_factory):
    """Make a store of characters. Words are so long that some batches have no slot. Labels depend on the first letter
    of the next word."""
    place, rng = tmp_path_factory.mktemp("long"), np.random.default_rng(7)
    (place / "labels.txt").write_text("O w\nCOMMA w,\nPERIOD w.\n")
    words = ["".join(rng.choice(list("ab"), 7)) for _ in range(75)]
    labels = ["PERIOD" if word[0] == "a" else "O" for word in [*words[1:], "b"]]
    write_data_dir(place / "d", [Utterance("s", "s", words, labels)])
    make_store(place / "store", [place / "d"], place / "labels.txt", token_type="char", nj=1)
    return place / "store"


@pytest.mark.parametrize("batching", ["stateful", "chunks"])
def test_train_batches_without_slots_are_read_but_have_no_loss(long_words, tmp_path, capsys, batching):
    options = TrainingOptions(train_set="d", dev_set="d", batching=batching, batch_size=2, bptt=5, chunk_size=6,
                              context=9, optimizer="adam", learning_rate=0.06, epochs=2, threads=1)
    train(long_words, tmp_path, "t_lstm", SMALL | {"pauses": True}, options)
    losses = [float(line.split(" loss ")[1].split(",")[0]) for line in capsys.readouterr().err.splitlines()
              if line.startswith("epoch")]
    assert np.isfinite(losses).all()
    model = load(tmp_path)
    assert (model.token_type, model.spec["token_type"]) == ("char", "char")
    loss, f1 = evaluate(model, Store(long_words).set("d"))
    assert loss < 0.3
    assert f1 > 98


@pytest.mark.parametrize(("model", "token_types"), [("ngram", "word or form"), ("window_dnn", "word or subword")])
def test_train_token_type_that_the_model_does_not_read_is_an_error(long_words, tmp_path, model, token_types):
    said = f"^{model} reads {token_types} tokens, but the store has char tokens; make a store with --token-type=word$"
    with pytest.raises(InputError, match=said):
        train(long_words, tmp_path / "exp", model, {}, TrainingOptions(train_set="d", dev_set="d"))
    assert not (tmp_path / "exp").exists()


def test_train_two_stages_have_the_same_token_type(long_words, toy_store, tmp_path):
    settings = {"train_set": "d", "dev_set": "d", "epochs": 1, "threads": 1}
    train(long_words, tmp_path / "text", "t_lstm", SMALL, TrainingOptions(**settings))
    text = {"text_model": str(tmp_path / "text"), "pauses": False, "hidden_dim": 4}
    train(long_words, tmp_path / "both", "ta_lstm", text, TrainingOptions(**settings))
    assert load(tmp_path / "both").token_type == load(tmp_path / "text").token_type == "char"
    with pytest.raises(InputError, match=r"make-store --vocab=\S*/text/vocab --token-type=char$"):
        train(toy_store, tmp_path / "other", "ta_lstm", text, TrainingOptions(**SETTINGS))
