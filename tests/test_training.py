"""The optimiser, the losses of an epoch, and training options."""

import math
import re
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest
import torch
from torch import nn

from punc.base.errors import InputError
from punc.models.base import NeuralModel
from punc.tokens.store import Store, make_store
from punc.training.batching import Batch
from punc.training.epochs import evaluate, labelled
from punc.training.losses import INTERVAL, EpochLoss
from punc.training.optim import OPTIMIZERS, Optimizer
from punc.training.options import GROUPS, TrainingOptions, check_non_gradient, run_conf

torch.set_num_threads(1)
BATCHES = [[0, 1, 1, 3], [3, 4], [1, 0, 2, 2], [5]]


class Net(nn.Module):
    def __init__(self, sparse):
        super().__init__()
        torch.manual_seed(7)
        self.embedding = nn.Embedding(8, 3, sparse=sparse)
        self.output = nn.Linear(3, 1)

    def forward(self, tokens):
        return self.output(self.embedding(torch.tensor(tokens)).tanh()).square().sum()


def run(net, optimizer):
    for batch in BATCHES:
        optimizer.zero_grad()
        net(batch).backward()
        optimizer.step()
    return [w.detach().clone() for w in net.parameters()]


@pytest.mark.parametrize("max_grad_norm", [0.0, 0.05])
@pytest.mark.parametrize("name", ["adagrad", "sgd"])
def test_step_sparse_equals_dense(name, max_grad_norm):
    sparse, dense = (run(net, Optimizer(net, name, 0.1, max_grad_norm=max_grad_norm))
                     for net in (Net(True), Net(False)))
    for a, b in zip(sparse, dense):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-6)


def test_optimizers_do_not_import_the_compiler():
    """Importing PyTorch's compiler takes two seconds, about as long as a small training run."""
    code = f"""
import sys, torch
from punc.training.optim import Optimizer
for name in {OPTIMIZERS!r}:
    net = torch.nn.Sequential(torch.nn.Embedding(3, 2, sparse=True), torch.nn.Linear(2, 1))
    optimizer = Optimizer(net, name, 0.1, max_grad_norm=1.0)
    optimizer.zero_grad()
    net(torch.tensor([1, 2])).sum().backward()
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
sys.exit('torch._dynamo' in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class Elsewhere(torch.Tensor):
    """A tensor whose copy on the CPU can be recognised."""

    def cpu(self):
        return torch.full((2,), 7.0)


def test_state_dict_is_on_the_cpu():
    net = Net(True)
    updates = Optimizer(net, "adagrad", 0.1)
    for part in updates._parts:
        for state in part.state.values():
            state["sum"] = torch.zeros(2).as_subclass(Elsewhere)
    live = [part.state_dict() for part in updates._parts]
    for own, saved in zip(live, updates.state_dict()):
        assert [state["sum"].tolist() for state in saved["state"].values()] == [[7.0, 7.0]] * len(own["state"])
        assert all(isinstance(state["sum"], Elsewhere) for state in own["state"].values()), "the optimiser's own"
        assert saved["param_groups"] == own["param_groups"]


@pytest.mark.parametrize("epsilon", [1e-10, 0.3])
def test_step_adagrad_by_hand(epsilon):
    """w ← w − η g / (√(Σ g²) + ε) for the rows of an embedding (Duchi et al. 2011)."""
    net = Net(True)
    updates = Optimizer(net, "adagrad", 0.1, epsilon)
    weight, squares = net.embedding.weight.detach().clone(), torch.zeros(8, 3)
    for batch in BATCHES:
        updates.zero_grad()
        net(batch).backward()
        grad = net.embedding.weight.grad.to_dense()
        updates.step()
        squares += grad * grad
        weight -= 0.1 * grad / (squares.sqrt() + epsilon)
        torch.testing.assert_close(net.embedding.weight.detach(), weight, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_step_changes_only_rows_of_the_batch(name):
    net = Net(True)
    updates = Optimizer(net, name, 0.1, weight_decay=0.1, max_grad_norm=1.0)
    for batch in BATCHES:
        before = net.embedding.weight.detach().clone()
        updates.zero_grad()
        net(batch).backward()
        updates.step()
        changed = (net.embedding.weight.detach() != before).any(dim=1).nonzero().flatten().tolist()
        assert changed == sorted(set(batch))


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("max_grad_norm", [0.05, 1e6])
def test_step_max_grad_norm_by_hand(sparse, max_grad_norm):
    """With learning rate 1, SGD subtracts the clipped gradient, which has the direction of the gradient."""
    net = Net(sparse)
    before = [w.detach().clone() for w in net.parameters()]
    net(BATCHES[0]).backward()
    grads = [(w.grad.to_dense() if w.grad.is_sparse else w.grad).clone() for w in net.parameters()]
    norm = math.sqrt(sum(float(x) ** 2 for grad in grads for x in grad.flatten()))
    assert 0.1 < norm < 1e5
    Optimizer(net, "sgd", 1.0, max_grad_norm=max_grad_norm).step()
    for old, new, grad in zip(before, net.parameters(), grads):
        torch.testing.assert_close(old - new.detach(), grad * min(1.0, max_grad_norm / norm), rtol=1e-4, atol=1e-7)


def test_step_weight_decay_of_dense_weights_only():
    """If the gradient is zero, SGD changes a weight by rate · decay · weight."""
    net = Net(True)
    before = [w.detach().clone() for w in net.parameters()]
    updates = Optimizer(net, "sgd", 0.5, weight_decay=0.1)
    (net(BATCHES[0]) * 0).backward()
    updates.step()
    for (name, new), old in zip(net.named_parameters(), before):
        torch.testing.assert_close(new.detach(), old if name == "embedding.weight" else old * 0.95)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_load_state_dict_continues_bit_for_bit(name):
    whole, broken = Net(True), Net(True)
    updates = Optimizer(whole, name, 0.1, weight_decay=0.01)
    run(whole, updates)
    expected = run(whole, updates)
    first = Optimizer(broken, name, 0.1, weight_decay=0.01)
    run(broken, first)
    fresh = Net(True)
    fresh.load_state_dict(broken.state_dict())
    second = Optimizer(fresh, name, 0.1, weight_decay=0.01)
    second.load_state_dict(first.state_dict())
    assert all(torch.equal(a, b) for a, b in zip(run(fresh, second), expected))


def added(losses, epoch=3):
    result = EpochLoss(epoch, torch.device("cpu"))
    for loss in losses:
        result.add(None if loss is None else torch.tensor(loss))
    return result


@pytest.mark.parametrize(("losses", "mean"), [([], 0.0), ([2.0], 2.0), ([2.0, 4.0], 3.0), ([2.0, None], 1.0),
                                              ([1.0] * (INTERVAL + 5), 1.0)])
def test_mean_is_over_all_steps(losses, mean):
    assert added(losses).mean() == mean


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("step", [1, INTERVAL, INTERVAL + 1, 2 * INTERVAL + 3])
def test_first_loss_that_is_not_finite_is_named(number, step):
    losses = [None, *[1.0] * (3 * INTERVAL)]
    losses[step - 1], losses[step + 2] = number, math.nan
    with pytest.raises(InputError, match=rf"^epoch 3: the loss of step {step} is {number}; lower .*; epoch 2 is kept$"):
        added(losses).mean()


def test_loss_that_is_not_finite_is_found_within_an_interval():
    with pytest.raises(InputError, match=r"^epoch 1: the loss of step 2 is nan; .* another directory$"):
        added([1.0, math.nan, *[1.0] * (INTERVAL - 2)], epoch=1)


def test_shares_of_ranks_add_up_to_the_loss_of_the_batch():
    labels = torch.tensor([[0, 1, -1], [1, -1, 0], [0, 0, -1]])
    logits, model = torch.randn(3, 3, 2), NeuralModel()
    whole = Batch(torch.zeros(3, 3, dtype=torch.int64), None, labels)
    assert whole.share_of_slots == 1
    total = 0.0
    for rank in range(2):
        batch = whole.share(rank, 2)
        total += batch.share_of_slots * float(model.loss(logits[rank::2], batch.labels))
    assert total == pytest.approx(float(model.loss(logits, labels)), rel=1e-6)


def test_evaluate_by_hand(toy_store, tmp_path):
    """The model gives every slot the same logits, so the cross-entropy is known."""
    class Same(NeuralModel):
        lookahead = 1

        def forward(self, tokens, pauses, state):
            return torch.log(torch.tensor([.2, .3, .5])).expand(*tokens.shape, 3), state

    store = Store(toy_store)
    model, data = Same(), store.set("dev_short")
    model.labels = store.labels
    counts = np.bincount(data.labels, minlength=3)
    loss, f1 = evaluate(model, data)
    assert loss == pytest.approx(-(counts * np.log([.2, .3, .5])).sum() / counts.sum(), rel=1e-6)
    precision, recall = counts[2] / counts.sum(), counts[2] / (counts[1] + counts[2])
    assert f1 == pytest.approx(100 * 2 * precision * recall / (precision + recall))


def test_labelled_set_without_labels_is_an_error(toy_store, tmp_path):
    place = toy_store.parent
    for name in ("text", "utt2spk"):
        (tmp_path / "d").mkdir(exist_ok=True)
        (tmp_path / "d" / name).write_bytes((place / "dev_short" / name).read_bytes())
    make_store(tmp_path / "store", [tmp_path / "d"], place / "labels.txt", vocab=place / "vocab", nj=1)
    with pytest.raises(InputError, match="set 'd' has no labels; make the store of a data directory with punct"):
        labelled(Store(tmp_path / "store"), "d")


NOISE = {"asr_noise": 0.1, "confusions": "c"}
SHARE = "; the share must be above 0 and at most 1, with --asr-noise"


def test_training_options_each_is_documented_and_in_one_group():
    for field in fields(TrainingOptions):
        assert re.search(rf"^    {field.name} {{2,}}\S", TrainingOptions.__doc__, re.MULTILINE), field.name
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(field.name for field in fields(TrainingOptions))


@pytest.mark.parametrize(("change", "message"), [
    ({"batch_size": 0}, "--batch-size=0 is out of range; give 1 or more"),
    ({"context": -1}, "--context=-1 is out of range; give 0 or more"),
    ({"epsilon": float("nan")}, "--epsilon=nan is out of range; give 0 or more"),
    ({"optimizer": "adam", "learning_rate": 0.0}, "--learning-rate=0 with --optimizer=adam; give a number above 0"),
    ({"optimizer": "adamw", "epsilon": 0.0}, "--epsilon=0 with --optimizer=adamw; give a number above 0"),
    ({"batching": "rows"}, "--batching=rows does not exist; choose from auto, stateful, chunks"),
    ({"schedule": "cosine"}, "--schedule=cosine does not exist; choose from halving, linear"),
    ({"loss_on": "words"}, "--loss-on=words does not exist; choose from slots, tokens"),
    ({"optimizer": "adagard"}, "--optimizer=adagard does not exist; choose from adagrad, adam, adamw, sgd"),
    ({"seed": 1 << 32}, "--seed=4294967296 is out of range; give a number from 0 to 4294967295"),
    ({"teacher_weight": 1.5}, "--teacher-weight=1.5 is out of range; give a number from 0 to 1"),
    ({"teacher_weight": float("nan")}, "--teacher-weight=nan is out of range; give a number from 0 to 1"),
    ({"asr_noise": 0.1}, "--asr-noise=0.1 with --confusions=''; give both: a word error rate, and a file of punc "
     "confusions"),
    ({"confusions": "c"}, "--asr-noise=0 with --confusions='c'; give both: a word error rate, and a file of punc "
     "confusions"),
    (NOISE | {"asr_noise": 1.5}, "--asr-noise=1.5 is out of range; give at least 0 and less than 1"),
    (NOISE | {"asr_noise_share": 0}, "--asr-noise-share=0 with --asr-noise=0.1" + SHARE),
    (NOISE | {"asr_noise_share": 1.5}, "--asr-noise-share=1.5 with --asr-noise=0.1" + SHARE),
    ({"asr_noise_share": 0.5}, "--asr-noise-share=0.5 with --asr-noise=0" + SHARE),
    (NOISE | {"teacher": "t"}, "--asr-noise cannot be combined with --teacher; leave one out, because a teacher "
                               "reads the words without errors"),
    ({"device": "gpu"}, "--device=gpu; choose auto, cpu, cuda, or one of several GPUs: cuda:0, cuda:1, …")])
def test_training_options_wrong_value_is_an_error(change, message):
    with pytest.raises(InputError) as caught:
        TrainingOptions(**change)
    assert str(caught.value) == message


def test_check_non_gradient_only_some_options_may_be_set():
    check_non_gradient("ngram", TrainingOptions(train_set="a,b", dev_set="c", seed=2, threads=3, device="cuda"))
    with pytest.raises(InputError, match=r"^--epochs=3, but ngram is not trained by gradient; leave the option out$"):
        check_non_gradient("ngram", TrainingOptions(epochs=3))


def test_run_conf_has_all_options():
    conf = run_conf("t_lstm", {"hidden_dim": 8}, TrainingOptions(epochs=3), "data/store")
    assert list(conf) == ["model", "hidden_dim", *(field.name for field in fields(TrainingOptions)), "store"]
    assert (conf["model"], conf["hidden_dim"], conf["epochs"], conf["store"]) == ("t_lstm", 8, 3, "data/store")
