"""Distillation: the loss, also for models with a CRF; students that learn from a teacher; killed training runs."""

import itertools
import shutil

import numpy as np
import pytest
import torch
from torch import nn

from punc.base.errors import InputError
from punc.data.datadir import DataDir, write_data_dir
from punc.decoding.decode import log_posteriors
from punc.decoding.soft_targets import make_targets
from punc.layers.crf import LinearChain
from punc.models.base import NeuralModel, create, load, read_checkpoint
from punc.tokens.chunks import cut
from punc.tokens.soft_targets import SoftTargets
from punc.tokens.store import Store, make_store
from punc.tokens.store_set import StoreSet
from punc.training.batching import Batch, epoch_batches, training_set
from punc.training.losses import Teacher
from punc.training.options import TrainingOptions
from punc.training.ranks import Ranks
from punc.training.state import Run
from punc.training.train import train

torch.set_num_threads(1)
SMALL = {"embedding_dim": 6, "hidden_dim": 8, "init_range": 0.1}
SETTINGS = {"dev_set": "dev_before", "batch_size": 20, "epochs": 4, "threads": 1}


def teacher_of(labels, targets, weight=0.5):
    """Return a teacher for one stream with labels (N,). It stores 64 times the `targets` (slots, L), so its rows add up
    to 64 instead of 255."""
    labels = np.array(labels, np.int8)
    return Teacher(stream_of(labels), SoftTargets([np.array(targets, np.float32) * 64], labels), weight)


def stream_of(labels):
    return StoreSet(np.zeros(len(labels), np.int32), labels, None, ["s"], np.array([0, len(labels)]))


def batch_of(teacher, rows):
    """Return a batch with the teacher's targets. `rows` (B, T) contains indices of tokens, and -1 where there is no
    token."""
    rows = np.array(rows)
    indices = np.where(rows < 0, -1, np.concatenate([teacher.indexed.labels[:], [-1]])[rows])
    return teacher(Batch(torch.zeros(rows.shape, dtype=torch.int64), None, torch.from_numpy(indices)))


LABELS = [0, -1, 2, 1, 0, 1]
TARGETS = [[.5, .25, .25], [.125, .125, .75], [0, 1, 0], [.25, .5, .25], [1, 0, 0]]
ROWS = [[0, 1, 2, -1], [3, 4, 5, -1]]
KNOWN = [(0, 0, 0), (0, 2, 2), (1, 0, 3), (1, 1, 4), (1, 2, 5)]  # row, step and token of each slot


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_loss_by_hand(weight):
    teacher = teacher_of(LABELS, TARGETS, weight)
    batch = batch_of(teacher, ROWS)
    logits = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    expected = 0.0
    for row, step, token in KNOWN:
        z, p = logits[row, step].numpy(), np.array(TARGETS[token - (token > 1)])  # token 1 has no slot
        q = np.exp(z) / np.exp(z).sum()
        expected -= (1 - weight) * np.log(q[LABELS[token]]) + weight * (p * np.log(q)).sum()
    assert float(teacher.loss(NeuralModel(), logits, batch)) == pytest.approx(expected / len(KNOWN), rel=1e-6)


def enumerated(crf, scores, targets, lengths):
    """Return −Σ_y Q(y) log P(y) over all label sequences, summed over all chains and divided by the number of slots."""
    total = 0.0
    for s, q, n in zip(scores, targets, lengths):
        paths = list(itertools.product(range(s.shape[1]), repeat=n))
        weights = torch.stack([sum((s[t, y[t]] for t in range(n)), torch.zeros(()))
                               + sum((crf.transitions[a, b] for a, b in itertools.pairwise(y)),
                                     torch.zeros(()))
                               for y in paths])
        chances = torch.stack([torch.stack([q[t, y[t]] for t in range(n)]).prod() for y in paths])
        total = total - (chances * weights.log_softmax(0)).sum()
    return total / sum(lengths)


def test_loss_of_a_chain_is_that_of_all_labellings():
    """Loss and gradients are compared with sums over all label sequences. One step of context precedes the first slot,
    and one follows the last slot."""
    torch.manual_seed(2)
    crf, lengths = LinearChain(3), (3, 2)
    nn.init.normal_(crf.transitions)
    scores, targets = torch.randn(2, 5, 3), torch.zeros(2, 5, 3)
    labels = torch.full((2, 5), -1)
    slots = [(row, 1 + t) for row, n in enumerate(lengths) for t in range(n)]
    for at in slots:
        labels[at], targets[at] = 0, torch.rand(3).softmax(0)
    results = []
    for of in (lambda s: crf.soft_loss(s, targets, labels),
               lambda s: enumerated(crf, s[:, 1:], targets[:, 1:], lengths)):
        given = scores.clone().requires_grad_()
        crf.zero_grad()
        of(given).backward()
        results.append((of(given).detach(), given.grad, crf.transitions.grad.clone()))
    for one, other in zip(*results):
        torch.testing.assert_close(one, other)


def test_tokens_without_a_slot_are_certain():
    labels = np.array([-1, 1], np.int8)
    data = training_set(NeuralModel(), stream_of(labels), TrainingOptions(loss_on="tokens"))
    teacher = Teacher(data, SoftTargets([np.array([[64, 192, 0]], np.uint8)], labels), 0.5)
    batch = batch_of(teacher, [[0, 1]])
    assert batch.labels.tolist() == [[0, 1]]
    assert batch.targets.tolist() == [[[1, 0, 0], [.25, .75, 0]]]


@pytest.mark.parametrize("model", ["t_lstm", "bi_lstm"])
def test_batches_have_the_targets_of_their_slots(model, toy_store):
    """Stateful or in chunks, the batches of two ranks are the same as without a teacher, except that they also have
    targets."""
    store = Store(toy_store)
    data, net = store.set("train_before"), create(model, store.vocabulary, store.labels, {})
    targets = np.random.default_rng(1).integers(1, 255, (len(data.ids), 3)).astype(np.uint8)
    options = TrainingOptions(teacher="x", batch_size=7, chunk_size=30, context=5)
    chunks = None if model == "t_lstm" else cut(data.offsets, None, 30, 5)
    teacher, count = Teacher(data, SoftTargets([targets], data.labels), 0.5), 0
    of_token = {}
    for rank in range(2):
        plain = epoch_batches(net, data, chunks, options, 0, Ranks(rank, 2))
        for one, other in zip(plain, epoch_batches(net, teacher.indexed, chunks, options, 0, Ranks(rank, 2), teacher),
                              strict=True):
            assert torch.equal(one.tokens, other.tokens)
            assert torch.equal(one.labels, other.labels)
            assert one.whole == other.whole
            assert (other.targets[other.labels < 0] == 0).all()
            rows = other.targets[other.labels >= 0]
            torch.testing.assert_close(rows.sum(1), torch.ones(len(rows)))
            count += len(rows)
            of_token |= dict.fromkeys(map(tuple, rows.tolist()))
    expected = targets.astype(np.float32)
    assert count == len(expected)
    found, expected = np.array(sorted(of_token)), expected / expected.sum(1, keepdims=True)
    np.testing.assert_allclose(found, np.unique(expected, axis=0), rtol=1e-6)


@pytest.fixture(scope="module")
def targets(toy_store, tmp_path_factory):
    place = tmp_path_factory.mktemp("teacher")
    train(toy_store, place / "teacher", "t_lstm", SMALL, TrainingOptions(train_set="train_before", bptt=5, **SETTINGS))
    make_targets(place / "teacher", Store(toy_store), place / "targets", ["train_after"])
    return place


def agreement(one, other, data):
    return float((log_posteriors(load(one), data).argmax(1) == log_posteriors(load(other), data).argmax(1)).mean())


STUDENTS = {
    "t_lstm": (SMALL, {}),
    "bi_lstm": ({"embedding_dim": 8, "hidden_dim": 8, "layers": 1}, {
        "optimizer": "adam", "learning_rate": 0.03, "chunk_size": 25, "context": 5, "batch_size": 4}),
    "blstm_crf": ({"embedding_dim": 8, "hidden_dim": 8, "layers": 1, "dropout": 0.0}, {
        "optimizer": "adam", "learning_rate": 0.03, "chunk_size": 25, "context": 5, "batch_size": 4}),
}


@pytest.mark.parametrize("model", STUDENTS)
def test_student_learns_the_teacher_and_not_the_labels(model, toy_store, targets, tmp_path):
    options, changes = STUDENTS[model]
    train(toy_store, tmp_path, model, options, TrainingOptions(
        train_set="train_after", teacher=str(targets / "targets"), teacher_weight=1.0, **SETTINGS | changes))
    assert agreement(tmp_path, targets / "teacher", Store(toy_store).set("dev_before")) > 0.98


def test_unlabelled_text_needs_no_labels(toy_store, targets, tmp_path):
    """With weight 1, the student is the same if all labels of the text are O."""
    place, folder = toy_store.parent, tmp_path / "train_after"
    write_data_dir(folder, (u._replace(labels=["O"] * len(u.words))
                            for u in DataDir(place / "train_after").utterances()))
    make_store(tmp_path / "store", [folder, place / "dev_before"], place / "labels.txt", vocab=place / "vocab", nj=1)
    make_targets(targets / "teacher", Store(tmp_path / "store"), tmp_path / "targets", ["train_after"])
    settings = SETTINGS | {"train_set": "train_after", "epochs": 1, "teacher_weight": 1.0}
    train(toy_store, tmp_path / "one", "t_lstm", SMALL, TrainingOptions(teacher=str(targets / "targets"), **settings))
    train(tmp_path / "store", tmp_path / "other", "t_lstm", SMALL,
          TrainingOptions(teacher=str(tmp_path / "targets"), **settings))
    weights = [read_checkpoint(tmp_path / name / "final.pt")["weights"] for name in ("one", "other")]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


class Killed(BaseException):
    pass


def train_killed(monkeypatch, directory, *arguments):
    after_batch = Run.after_batch

    def killed(run, *rest):
        after_batch(run, *rest)
        if run.progress.epoch == 2:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Run, "after_batch", killed)
        with pytest.raises(Killed):
            train(arguments[0], directory, *arguments[1:])
    assert not (directory / "final.pt").exists()


def test_killed_run_continues_to_the_same_model(toy_store, targets, tmp_path, monkeypatch):
    run = (toy_store, "t_lstm", SMALL, TrainingOptions(**SETTINGS, train_set="train_after", schedule="linear",
                                                       teacher=str(targets / "targets")))
    train(run[0], tmp_path / "whole", *run[1:])
    train_killed(monkeypatch, tmp_path / "killed", *run)
    train(run[0], tmp_path / "killed", *run[1:])
    assert (tmp_path / "whole" / "final.pt").read_bytes() == (tmp_path / "killed" / "final.pt").read_bytes()
    assert "--teacher-weight=0.5\n" in (tmp_path / "whole" / "conf").read_text()


def test_targets_that_changed_stop_a_run(toy_store, targets, tmp_path, monkeypatch):
    shutil.copytree(targets / "targets", tmp_path / "targets")
    run = (toy_store, "t_lstm", SMALL, TrainingOptions(**SETTINGS, train_set="train_after",
                                                       teacher=str(tmp_path / "targets")))
    train_killed(monkeypatch, tmp_path / "exp", *run)
    content = bytearray((tmp_path / "targets/train_after/targets.npy").read_bytes())
    content[-1] ^= 1
    (tmp_path / "targets/train_after/targets.npy").write_bytes(content)
    with pytest.raises(InputError, match=r"targets.npy: the file has changed since the training in .* began"):
        train(run[0], tmp_path / "exp", *run[1:])
