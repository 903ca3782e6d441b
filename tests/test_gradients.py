"""The sum of gradients over ranks, here threads, compared with the gradient of the whole batch."""

import threading

import pytest
import torch
from torch import nn

from punc.training.gradients import sum_gradients
from punc.training.ranks import ALONE, Ranks

torch.sparse.check_sparse_tensor_invariants.disable()  # the default; set, so that PyTorch does not warn

class Threads(Ranks):
    """Ranks that are threads of this process; `messages` counts what they send."""

    def __init__(self, rank, size, board, barrier):
        super().__init__(rank, size)
        self.board, self.barrier, self.messages = board, barrier, 0

    def stack(self, tensor):
        self.messages += 1
        self.board[self.rank] = tensor.clone()
        self.barrier.wait(10)
        result = torch.stack(self.board)
        self.barrier.wait(10)
        return result

    def add(self, tensor):
        return tensor.copy_(self.stack(tensor).sum(0))


class Model(nn.Module):
    """Two embeddings, a linear layer, and a weight that has no gradient."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.one, self.two = nn.Embedding(50, 3, sparse=True), nn.Embedding(7, 2, sparse=True)
        self.output, self.unused = nn.Linear(5, 1), nn.Parameter(torch.ones(2))

    def forward(self, tokens):
        return self.output(torch.cat([self.one(tokens), self.two(tokens % 7)], 1).tanh()).sum()


def summed(parts):
    """Each rank's gradients after the sum, where a rank has one of `parts` (tokens), and the messages that it sent."""
    board, barrier = [None] * len(parts), threading.Barrier(len(parts))
    models = [Model() for _ in parts]
    ranks = [Threads(rank, len(parts), board, barrier) for rank in range(len(parts))]

    def work(model, rank, tokens):
        if len(tokens):
            model(tokens).backward()
        sum_gradients([*model.output.parameters(), model.unused], [model.one.weight, model.two.weight], rank)

    threads = [threading.Thread(target=work, args=each) for each in zip(models, ranks, parts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return models, [rank.messages for rank in ranks]


@pytest.mark.parametrize("parts", [[[1, 2, 2, 49], [2, 3]], [[5], [], [5, 6]], [[], [4, 4, 4]], [[], []]])
def test_sum_gradients_is_the_gradient_of_the_whole_batch(parts):
    whole, tokens = Model(), [token for part in parts for token in part]
    if tokens:
        whole(torch.tensor(tokens)).backward()
    models, messages = summed([torch.tensor(part, dtype=torch.int64) for part in parts])
    assert messages == [2] * len(parts)
    for model in models:
        for (name, weight), expected in zip(model.named_parameters(), whole.parameters()):
            if expected.grad is None:
                assert weight.grad is None, name
            else:
                assert weight.grad.is_sparse == expected.grad.is_sparse
                torch.testing.assert_close(weight.grad.to_dense(), expected.grad.to_dense())
                assert weight.grad.to_dense().count_nonzero() == expected.grad.to_dense().count_nonzero()
                assert torch.equal(weight.grad.to_dense(), models[0].get_parameter(name).grad.to_dense())


def test_sum_gradients_of_one_rank_changes_nothing():
    model = Model()
    model(torch.tensor([1, 1])).backward()
    before = [weight.grad for weight in model.parameters()]
    sum_gradients(list(model.output.parameters()), [model.one.weight, model.two.weight], ALONE)
    assert all(weight.grad is grad for weight, grad in zip(model.parameters(), before))
