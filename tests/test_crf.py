"""The linear chain compared with the enumeration of all labellings, finite differences and autograd; in chunks."""

from itertools import pairwise, product

import numpy as np
import pytest
import torch

from punc.layers.crf import LinearChain, log_partition
from punc.models.word_crf.chain import log_marginals

torch.set_num_threads(1)
L = 3


def chain(labels=L, seed=0, dtype=torch.float64, scale=1.5):
    torch.manual_seed(seed)
    crf = LinearChain(labels).to(dtype)
    for weight in crf.parameters():
        torch.nn.init.normal_(weight, 0, scale)
    return crf


def drawn(rows, steps, labels=L, seed=1, dtype=torch.float64):
    return torch.randn(rows, steps, labels, generator=torch.Generator().manual_seed(seed), dtype=dtype) * 2


def score(crf, emissions, path):
    """C(y) of equation (2)."""
    return (crf.begin[path[0]] + sum(emissions[t, y] for t, y in enumerate(path))
            + sum(crf.transitions[pair] for pair in pairwise(path)) + crf.end[path[-1]])


def all_scores(crf, emissions):
    return {path: score(crf, emissions, path) for path in product(range(L), repeat=len(emissions))}


LENGTHS = [[1], [5], [4, 1, 5, 0, 2]]


@pytest.mark.parametrize("lengths", LENGTHS)
def test_partition_marginals_and_viterbi_match_enumeration(lengths):
    crf, emissions, sizes = chain(), drawn(len(lengths), max(lengths)), torch.tensor(lengths)
    scores = crf.scores(emissions, sizes)
    found = log_partition(scores, crf.transitions, sizes)
    marginals, best = crf.log_marginals(scores, sizes).exp(), crf.viterbi(scores, sizes)
    torch.testing.assert_close(marginals.sum(2), torch.ones_like(marginals[..., 0]))
    for row, size in enumerate(lengths):
        assert (best[row, size:] == -1).all()
        if not size:
            assert found[row] == 0
            continue
        paths = all_scores(crf, emissions[row, :size])
        whole = torch.stack([*paths.values()]).logsumexp(0)
        torch.testing.assert_close(found[row], whole)
        expected = torch.zeros(size, L, dtype=torch.float64)
        for path, value in paths.items():
            expected[torch.arange(size), list(path)] += (value - whole).exp()
        torch.testing.assert_close(marginals[row, :size], expected)
        assert tuple(best[row, :size].tolist()) == max(paths, key=paths.get)


def test_loss_is_mean_of_minus_log_p_over_slots():
    crf, emissions, sizes = chain(), drawn(3, 5), torch.tensor([5, 0, 3])
    labels = torch.tensor([[0, 2, 1, 1, 0], [-1] * 5, [2, 2, 0, -1, -1]])
    expected = 0
    for row in (0, 2):
        path = tuple(labels[row, :sizes[row]].tolist())
        paths = all_scores(crf, emissions[row, :sizes[row]])
        expected += torch.stack([*paths.values()]).logsumexp(0) - paths[path]
    torch.testing.assert_close(crf.loss(crf.scores(emissions, sizes), labels), expected / 8)


def test_loss_ignores_context():
    """With slots 2 and 3 of a text of six, the scores of the other steps do not count, nor do begin and end."""
    crf, emissions, sizes = chain(), drawn(1, 6), torch.tensor([6])
    labels = torch.tensor([[-1, -1, 1, 2, -1, -1]])
    paths = {(i, j): emissions[0, 2, i] + emissions[0, 3, j] + crf.transitions[i, j]
             for i, j in product(range(L), repeat=2)}
    expected = (torch.stack([*paths.values()]).logsumexp(0) - paths[1, 2]) / 2
    torch.testing.assert_close(crf.loss(crf.scores(emissions, sizes), labels), expected)


def test_loss_gradient_matches_autograd():
    crf, emissions, sizes = chain(), drawn(2, 5).requires_grad_(), torch.tensor([5, 2])
    labels = torch.tensor([[0, 2, 1, 1, -1], [2, 2, -1, -1, -1]])
    begin, transitions, end = (w.detach().requires_grad_() for w in (crf.begin, crf.transitions, crf.end))

    def loss(emissions, *weights):
        given = dict(zip(("begin", "transitions", "end"), weights))
        return torch.func.functional_call(Loss(crf), {f"crf.{k}": w for k, w in given.items()},
                                          (emissions, sizes, labels))

    assert torch.autograd.gradcheck(loss, (emissions, begin, transitions, end))


class Loss(torch.nn.Module):
    def __init__(self, crf):
        super().__init__()
        self.crf = crf

    def forward(self, emissions, sizes, labels):
        return self.crf.loss(self.crf.scores(emissions, sizes), labels)


@pytest.mark.parametrize("scale", [1, 80, 400])
def test_log_marginals_of_10000_slots_have_no_nan(scale):
    crf = chain(10, dtype=torch.float32, scale=scale / 4)
    emissions, sizes = (drawn(2, 10_000, 10, dtype=torch.float32) * scale).requires_grad_(), torch.tensor([10_000, 7])
    labels = torch.randint(0, 10, (2, 10_000), generator=torch.Generator().manual_seed(0))
    labels[1, 7:] = -1
    scores = crf.scores(emissions, sizes)
    loss = crf.loss(scores, labels)
    loss.backward()
    log_probs = crf.log_marginals(scores.detach(), sizes)
    assert loss > 0
    for values in (loss, emissions.grad, crf.transitions.grad, crf.begin.grad, crf.end.grad, log_probs):
        assert values.isfinite().all()
    assert crf.transitions.grad.abs().max() > 0
    torch.testing.assert_close(log_probs.exp().sum(2), torch.ones(2, 10_000), rtol=0, atol=1e-4)


def scored(n, labels, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 2, (n, labels)), rng.normal(0, 1.5, (labels, labels))


@pytest.mark.parametrize(("chunk_size", "context"), [(100, 40), (64, 30), (1000, 0)])
def test_log_marginals_nearly_same_in_chunks(chunk_size, context):
    offsets = np.array([0, 700, 701, 1000])
    scores, transitions = scored(1000, 4)
    whole = log_marginals(scores, transitions, offsets, chunk_size=1 << 20)
    cut = log_marginals(scores, transitions, offsets, chunk_size, context)
    np.testing.assert_allclose(np.exp(cut), np.exp(whole), atol=1e-5)
    without = log_marginals(scores, transitions, offsets, 50, 0)
    assert np.abs(np.exp(without) - np.exp(whole)).max() > 1e-3  # so the context matters


def test_log_marginals_of_large_scores_are_finite():
    scores = np.array([[900., 0, -900], [0, 900, 1000], [-2000, 0, 0]])
    log_probs = log_marginals(scores, np.zeros((3, 3)), np.array([0, 3]))
    assert np.isfinite(log_probs).all()
    np.testing.assert_allclose(np.exp(log_probs), [[1, 0, 0], [0, 0, 1], [0, .5, .5]], atol=1e-6)
