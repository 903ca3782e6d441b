"""The optimiser: sparse equals dense, only rows of a batch change, limit of the norm and weight decay by hand."""

import copy
import math

import pytest
import torch
from torch import nn

from punc.base.errors import InputError
from punc.training.optim import OPTIMIZERS, Optimizer

torch.set_num_threads(1)
BATCHES = [[0, 1, 1, 3], [3, 4], [1, 0, 2, 2], [5]]


class Net(nn.Module):
    """A number for some tokens."""

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


class Elsewhere(torch.Tensor):
    """A tensor that says when it is copied to the CPU."""

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


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_load_state_dict_of_another_device(name):
    """A GPU has optimizers that are not fused; whether they are is not restored with their state."""
    one, two = Net(True), Net(True)
    first, second = Optimizer(one, name, 0.1), Optimizer(two, name, 0.1)
    run(one, first)
    two.load_state_dict(one.state_dict())
    states = copy.deepcopy(first.state_dict())
    for state in states:
        for group in state["param_groups"]:
            if "fused" in group:
                group["fused"] = None
    fused = [part.param_groups[0].get("fused") for part in second._parts]
    second.load_state_dict(states)
    assert [part.param_groups[0].get("fused") for part in second._parts] == fused
    assert True in fused
    assert all(torch.equal(a, b) for a, b in zip(run(one, first), run(two, second)))


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
    """Neither weight decay nor the momentum of earlier batches changes other rows."""
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
    """SGD at rate 1 moves the weights by the gradient. Its norm is at most the limit; its direction stays."""
    net = Net(sparse)
    before = [w.detach().clone() for w in net.parameters()]
    net(BATCHES[0]).backward()
    grads = [(w.grad.to_dense() if w.grad.is_sparse else w.grad).clone() for w in net.parameters()]
    norm = math.sqrt(sum(float(x) ** 2 for grad in grads for x in grad.flatten()))
    assert 0.1 < norm < 1e5
    Optimizer(net, "sgd", 1.0, max_grad_norm=max_grad_norm).step()
    for old, new, grad in zip(before, net.parameters(), grads):
        torch.testing.assert_close(old - new.detach(), grad * min(1.0, max_grad_norm / norm), rtol=1e-4, atol=1e-7)


def test_step_asks_a_device_for_no_number():
    """On a GPU, that would wait until it has computed the number. `meta` has none, and raises an error."""
    net = Net(False).to("meta")
    updates = Optimizer(net, "adagrad", 0.1, max_grad_norm=0.05)
    for _ in range(2):
        updates.zero_grad()
        (net.output(net.embedding.weight).tanh().square()).sum().backward()
        updates.step()
    with pytest.raises(RuntimeError, match="meta"):
        bool(net.output.weight.grad.norm() > 0.05)


def test_step_weight_decay_of_dense_weights_only():
    """If the gradient is zero, SGD moves a weight by rate · decay · weight."""
    net = Net(True)
    before = [w.detach().clone() for w in net.parameters()]
    updates = Optimizer(net, "sgd", 0.5, weight_decay=0.1)
    (net(BATCHES[0]) * 0).backward()
    updates.step()
    for (name, new), old in zip(net.named_parameters(), before):
        torch.testing.assert_close(new.detach(), old if name == "embedding.weight" else old * 0.95)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_set_learning_rate_of_all_weights(name):
    net = Net(True)
    before = [w.detach().clone() for w in net.parameters()]
    updates = Optimizer(net, name, 0.1)
    updates.set_learning_rate(0.0)
    assert all(torch.equal(a, b) for a, b in zip(run(net, updates), before))


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


def test_optimizer_unknown_name_is_an_error():
    with pytest.raises(InputError, match=r"^no optimizer 'adagard'; choose from adagrad, adam, adamw, sgd$"):
        Optimizer(Net(True), "adagard", 0.1)
