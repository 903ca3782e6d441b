"""Checkpoints: the schedule for tables of losses, and the files between epochs."""

import math

import pytest
import torch

from punc.base.errors import InputError
from punc.data.labels import Label, LabelSet
from punc.models.base import create, load, read_checkpoint
from punc.tokens.vocabulary import Vocabulary
from punc.training.checkpoint import Progress, advance, finish, finished, keep, kept_epoch, resume
from punc.training.optim import Optimizer

torch.set_num_threads(1)
CONF = {"model": "t_lstm", "seed": 1, "max_grad_norm": 0.5, "pauses": False, "class_weights": "", "store": "data/store"}
STORE = {"vocab": 1, "train/ids.npy": 2}


@pytest.mark.parametrize(("losses", "rates", "ended"), [
    # The loss falls by a tenth or more: the rate stays.
    ([10, 9, 8, 7], [1, 1, 1, 1], False),
    # It falls by less once: the rate is halved after every epoch from then on, also after larger falls.
    ([10, 8, 7.5, 6, 5], [1, 1, 1 / 2, 1 / 4, 1 / 8], False),
    # It falls by less a second time: that was the last epoch.
    ([10, 8, 7.5, 6, 5.5], [1, 1, 1 / 2, 1 / 4, 1 / 8], True),
    ([10, 9.5, 9.4], [1, 1 / 2, 1 / 4], True),
    # A rise counts as a fall by less. The next loss is compared with the best one, not with the last.
    ([10, 12, 9.5], [1, 1 / 2, 1 / 4], True),
    ([10, 12, 8.9], [1, 1 / 2, 1 / 4], False),
])
def test_advance_halving(losses, rates, ended):
    progress = Progress(1.0)
    for number, (loss, rate) in enumerate(zip(losses, rates), 1):
        assert not progress.ended
        progress = advance(progress, loss, 0.1)
        assert (progress.epoch, progress.learning_rate, progress.last_loss) == (number, rate, loss)
        assert progress.best_loss == min(losses[:number])
    assert progress.ended == ended


def test_advance_linear():
    """The rate falls by the same amount whether the loss falls or rises, and training continues."""
    progress = Progress(0.9)
    for rate, loss in ((0.6, 5.0), (0.3, 7.0), (0.0, 4.0)):
        progress = advance(progress, loss, 0.1, fall=0.3)
        assert progress.learning_rate == pytest.approx(rate)
        assert (progress.last_loss, progress.ended) == (loss, False)
    assert (progress.epoch, progress.best_loss) == (3, 4.0)


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_advance_loss_not_finite_is_an_error(loss):
    message = (f"^epoch 2: the development loss is {loss}; lower --learning-rate, or set --max-grad-norm, and name "
               r"another directory; epoch 1 is kept$")
    with pytest.raises(InputError, match=message):
        advance(Progress(0.1, 1, False, 1.0, 1.0), loss, 0.003)


def make():
    torch.manual_seed(1)
    labels = LabelSet((Label("O", "w"), Label("COMMA", "w,", (",",))))
    model = create("t_lstm", Vocabulary(["<unk>", "</s>", "a"]), labels, {"embedding_dim": 2, "hidden_dim": 2})
    return model, Optimizer(model, "adagrad", 0.1)


def step(model, updates):
    updates.zero_grad()
    model(torch.tensor([[2, 0, 1]]), None, model.initial_state(1))[0].square().sum().backward()
    updates.step()


def weights(model):
    return {name: weight.clone() for name, weight in model.state_dict().items()}


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def test_resume_restores_what_was_kept(tmp_path):
    model, updates = make()
    assert resume(tmp_path, model, updates, CONF, STORE) is None
    step(model, updates)
    progress = advance(Progress(0.1), 2.0, 0.003)
    keep(tmp_path, model, updates, progress, CONF, STORE)
    other, others = make()
    assert resume(tmp_path, other, others, CONF, STORE) == progress
    assert same(weights(other), weights(model))
    for _ in range(2):  # the optimiser is restored too: the next steps are the same
        step(model, updates)
        step(other, others)
        assert same(weights(other), weights(model))


def test_keep_worse_epoch_restores_the_best(tmp_path):
    model, updates = make()
    first = advance(Progress(0.1), 2.0, 0.003)
    keep(tmp_path, model, updates, first, CONF, STORE)
    best = weights(model)
    step(model, updates)
    assert not same(weights(model), best)
    worse = advance(first, 3.0, 0.003)
    keep(tmp_path, model, updates, worse, CONF, STORE)
    assert same(weights(model), best)
    assert same(read_checkpoint(tmp_path / "best.pt")["weights"], best)
    other, others = make()
    assert resume(tmp_path, other, others, CONF, STORE) == worse
    assert same(weights(other), best)


def test_finish_writes_model_and_conf(tmp_path):
    model, updates = make()
    assert not finished(tmp_path, CONF)
    keep(tmp_path, model, updates, advance(Progress(0.1), 2.0, 0.003), CONF, STORE)
    assert not finished(tmp_path, CONF)
    finish(tmp_path, model, CONF)
    assert finished(tmp_path, CONF)
    assert finished(tmp_path, CONF | {"unknown_flag": False})  # an option that is newer than the model has its default
    assert sorted(path.name for path in tmp_path.iterdir()) == ["conf", "final.pt", "labels.txt", "vocab"]
    head, *lines = (tmp_path / "conf").read_text().splitlines()
    assert head.startswith("# punc ")
    assert "torch" in head
    assert lines == ["--model=t_lstm", "--seed=1", "--max-grad-norm=0.5", "--pauses=false", "--class-weights="]
    loaded = load(tmp_path)
    assert same(weights(loaded), weights(model))
    assert loaded.vocabulary.tokens == model.vocabulary.tokens
    assert loaded.labels == model.labels


def test_finish_without_an_epoch_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no epoch was trained; set --epochs to 1 or more"):
        finish(tmp_path, make()[0], CONF)
    assert list(tmp_path.iterdir()) == []


def test_resume_and_finished_on_another_device(tmp_path):
    """The device is no part of what a model is; its old conf may lack it, too."""
    model, updates = make()
    keep(tmp_path, model, updates, advance(Progress(0.1), 2.0, 0.003), CONF | {"device": "cuda:1"}, STORE)
    assert resume(tmp_path, model, updates, CONF | {"device": "cpu"}, STORE)
    assert resume(tmp_path, model, updates, CONF, STORE)
    finish(tmp_path, model, CONF)
    assert finished(tmp_path, CONF | {"device": "cuda"})


@pytest.mark.parametrize("change", [{"seed": 2}, {"pauses": True}, {"new": 1}, {"model": "ta_lstm"}])
def test_resume_and_finished_other_conf_is_an_error(tmp_path, change):
    model, updates = make()
    keep(tmp_path, model, updates, advance(Progress(0.1), 2.0, 0.003), CONF, STORE)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    name, value = next(iter(change.items()))
    message = f"{tmp_path}: here is a model with --{name}={CONF.get(name)}, not {value}; " \
        "remove the directory, or name another one"
    with pytest.raises(InputError) as error:
        resume(tmp_path, model, updates, CONF | change, STORE)
    assert str(error.value) == message
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    finish(tmp_path, model, CONF)
    with pytest.raises(InputError) as error:
        finished(tmp_path, CONF | change)
    assert str(error.value) == message


def test_resume_and_finished_other_threads(tmp_path):
    """Threads change the speed, and at most the last bits of the weights."""
    model, updates = make()
    progress = advance(Progress(0.1), 2.0, 0.003)
    keep(tmp_path, model, updates, progress, CONF | {"threads": 1}, STORE)
    assert resume(tmp_path, model, updates, CONF | {"threads": 2}, STORE) == progress
    finish(tmp_path, model, CONF | {"threads": 2})
    assert "--threads=2" in (tmp_path / "conf").read_text().splitlines()
    assert finished(tmp_path, CONF | {"threads": 1})
    assert finished(tmp_path, CONF)


@pytest.mark.parametrize(("store", "name"), [
    (STORE | {"train/ids.npy": 3}, "train/ids.npy"), (STORE | {"vocab": 2, "train/ids.npy": 3}, "vocab"),
    (STORE | {"pieces.model": 1}, "pieces.model"), ({"vocab": 1}, "train/ids.npy")])
def test_resume_changed_store_is_an_error(tmp_path, store, name):
    model, updates = make()
    keep(tmp_path, model, updates, advance(Progress(0.1), 2.0, 0.003), CONF, STORE)
    before = weights(model)
    with pytest.raises(InputError) as error:
        resume(tmp_path, model, updates, CONF, store)
    assert str(error.value) == f"data/store/{name}: changed since the training in {tmp_path} began; " \
        "remove that directory to begin anew, or make the store as it was"
    assert same(weights(model), before)


@pytest.mark.parametrize("length", [0, 1, 100, -1])
def test_resume_truncated_file_is_an_error(tmp_path, length):
    model, updates = make()
    keep(tmp_path, model, updates, advance(Progress(0.1), 2.0, 0.003), CONF, STORE)
    path = tmp_path / "progress.pt"
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(InputError) as error:
        resume(tmp_path, model, updates, CONF, STORE)
    assert str(error.value) == f"{path}: not a model file, or a truncated one; train the model again"


def test_resume_model_instead_of_progress_is_an_error(tmp_path):
    model, updates = make()
    keep(tmp_path, model, updates, advance(Progress(0.1), 2.0, 0.003), CONF, STORE)
    (tmp_path / "best.pt").rename(tmp_path / "progress.pt")
    with pytest.raises(InputError, match=r"progress\.pt: not a model file of punc; "):
        resume(tmp_path, model, updates, CONF, STORE)


def test_resume_other_store_is_an_error(tmp_path):
    model, updates = make()
    keep(tmp_path, model, updates, advance(Progress(0.1), 2.0, 0.003), CONF, STORE)
    larger = create("t_lstm", Vocabulary(["<unk>", "</s>", "a", "b"]), model.labels, model.spec["options"])
    with pytest.raises(InputError, match="this run was started on another store; remove the directory"):
        resume(tmp_path, larger, Optimizer(larger, "adagrad", 0.1), CONF, STORE)


@pytest.mark.parametrize(("scores", "loss", "f1"), [
    ([(0.5, 40.0), (0.4, 43.0), (0.6, 46.0), (0.6, 46.0)],  # the first of equal F1 is kept
     "kept epoch 2: the lowest dev loss, 0.40000; epoch 3 has the highest dev F1, 46.00",
     "kept epoch 3: the highest dev F1, 46.00; epoch 2 has the lowest dev loss, 0.40000"),
    ([(0.5, math.nan), (0.4, 43.0)],
     "kept epoch 2: the lowest dev loss, 0.40000, and the highest dev F1, 43.00",
     "kept epoch 2: the highest dev F1, 43.00, and the lowest dev loss, 0.40000"),
    ([(0.5, math.nan), (0.6, math.nan)], *2 * [
     "kept epoch 1: the lowest dev loss, 0.50000; no epoch has a dev F1: the dev set has no marks, nor has the "
     "output"])])
def test_kept_epoch(scores, loss, f1):
    progress = Progress(0.1)
    for dev_loss, dev_f1 in scores:
        progress = advance(progress, dev_loss, 0.003, dev_f1=dev_f1)
    assert [kept_epoch(progress, "loss"), kept_epoch(progress, "f1")] == [loss, f1]


@pytest.mark.parametrize(("by", "kept"), [("loss", 1), ("f1", 3)])
def test_finish_keeps_the_epoch_by_loss_or_f1(tmp_path, by, kept):
    """Epochs 2 and 3 have higher losses, so both start from the weights of epoch 1."""
    (model, updates), conf, progress, found = make(), CONF | {"keep": by}, Progress(0.1), []
    for dev_loss, dev_f1 in ((0.4, 40.0), (0.6, 41.0), (0.5, 46.0), (0.7, 42.0)):
        step(model, updates)
        found.append(weights(model))
        progress = advance(progress, dev_loss, 0.003, dev_f1=dev_f1)
        keep(tmp_path, model, updates, progress, conf, STORE)
        assert same(weights(model), found[0])
        model, updates = make()  # each epoch goes on from the disk
        assert resume(tmp_path, model, updates, conf, STORE) == progress
    finish(tmp_path, model, conf)
    assert same(weights(load(tmp_path)), found[kept - 1])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["conf", "final.pt", "labels.txt", "vocab"]


def test_finish_without_f1_keeps_the_lowest_loss(tmp_path):
    (model, updates), conf = make(), CONF | {"keep": "f1"}
    keep(tmp_path, model, updates, advance(Progress(0.1), 2.0, 0.003), conf, STORE)
    finish(tmp_path, model, conf)
    assert same(weights(load(tmp_path)), weights(model))


def test_resume_progress_of_an_older_version(tmp_path):
    """It has no epoch numbers of the best; they begin with the epochs that follow."""
    model, updates = make()
    progress = advance(Progress(0.1), 2.0, 0.003)
    keep(tmp_path, model, updates, progress, CONF, STORE)
    content = read_checkpoint(tmp_path / "progress.pt", "punc progress 2")
    (tmp_path / "progress.pt").unlink()  # its weights are mapped to memory
    torch.save({**content, "progress": content["progress"][:6]}, tmp_path / "progress.pt")
    assert resume(tmp_path, model, updates, CONF, STORE) == Progress(*progress[:6])
