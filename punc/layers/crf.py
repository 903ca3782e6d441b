"""A linear-chain conditional random field (Lafferty et al. 2001), as in Bansal 2019, equations (1) to (9).

    C(y_1 … y_m) = b[y_1] + Σ_t s_t[y_t] + Σ_t T[y_t, y_t+1] + e[y_m]      (1), (2)
    Z = Σ_y exp C(y);  P(y) = exp C(y) / Z                                  (5), (9)

s_t are a network's scores for the labels of slot t; b, T and e are learned. Z is computed by the recursion (6) to (8),
here from the left. This recursion and its mirror image from the right give the marginals P(y_t) and P(y_t, y_t+1),
which are the gradient of log Z. The paper's recursion (3), (4) finds the best labels (Viterbi 1967).

One loop over time computes both recursions, in float64, on probabilities that are normalized at every step. Scores of
labels and pairs of labels are clamped to at least 300 nats below the best one, so that no sum is zero.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

FLOOR = -300.0  # nats below the best score; lower scores are clamped to this


class LinearChain(nn.Module):
    """The learned scores: `begin` (L,), `end` (L,), and `transitions` (L, L) from a label (row) to the next (column).
    All scores are initially 0. The texts of a batch have `lengths` (B,) slots, 0 or more, which begin at step 0. Later
    steps are not in the chain."""

    def __init__(self, labels: int):
        super().__init__()
        self.begin = nn.Parameter(torch.zeros(labels))
        self.transitions = nn.Parameter(torch.zeros(labels, labels))
        self.end = nn.Parameter(torch.zeros(labels))

    def scores(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """Returns the network's scores s (B, T, L) plus b at the first slot of each text and e at the last slot."""
        steps = torch.arange(emissions.shape[1], device=emissions.device)
        ends = lengths.unsqueeze(1)
        first, last = (steps == 0) & (ends > 0), steps == ends - 1
        return emissions + first.unsqueeze(2) * self.begin + last.unsqueeze(2) * self.end

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Returns −log P(y), summed over all chains and divided by the number of slots.

        scores   (B, T, L), from `scores`: with b if the slots begin at step 0, and with e if they end the text
        labels   (B, T), −1 where there is no slot
        """
        indices, is_slot, lengths = _slots(labels)
        scores = scores.gather(1, indices.unsqueeze(2).expand(-1, -1, scores.shape[2]))
        labels = labels.gather(1, indices).masked_fill(~is_slot, 0)
        own = (scores.gather(2, labels.unsqueeze(2)).squeeze(2) * is_slot).sum()
        follow = (self.transitions[labels[:, :-1], labels[:, 1:]] * is_slot[:, 1:]).sum()
        return (log_partition(scores, self.transitions, lengths).sum() - own - follow) / lengths.sum()

    def soft_loss(self, scores: Tensor, targets: Tensor, labels: Tensor) -> Tensor:
        """Returns the cross-entropy −Σ_y Q(y) log P(y), summed over all chains and divided by the number of slots. Q(y)
        = Π_t q_t(y_t), where q are the targets (B, T, L). By (1) and (9), the cross-entropy of a chain is log Z − Σ_t
        Σ_i q_t(i) s_t(i) − Σ_t Σ_ij q_t(i) T(i, j) q_t+1(j)."""
        indices, is_slot, lengths = _slots(labels)
        columns = indices.unsqueeze(2).expand(-1, -1, scores.shape[2])
        scores = scores.gather(1, columns)
        targets = targets.gather(1, columns) * is_slot.unsqueeze(2)
        own = (scores * targets).sum()
        follow = (targets[:, :-1] @ self.transitions * targets[:, 1:]).sum()
        return (log_partition(scores, self.transitions, lengths).sum() - own - follow) / lengths.sum()

    def log_marginals(self, scores: Tensor, lengths: Tensor) -> Tensor:
        """Maps the result of `scores` to log P(y_t), (B, T, L). Past a text's end, it is the step's own log-softmax."""
        sums = _forward_backward(scores, self.transitions, lengths)
        log_probs = sums.marginals().clamp_min(torch.finfo(torch.float32).tiny).log().to(scores.dtype)
        inside = torch.arange(scores.shape[1], device=scores.device) < lengths.unsqueeze(1)
        return torch.where(inside.unsqueeze(2), log_probs, scores.log_softmax(2))

    def viterbi(self, scores: Tensor, lengths: Tensor) -> Tensor:
        """Returns the labels (B, T) with the highest C; −1 past the end of a text."""
        labels = viterbi_steps(scores, self.transitions, lengths)
        steps = torch.arange(scores.shape[1], device=scores.device)
        return labels.masked_fill(steps >= lengths.unsqueeze(1), -1)


def _slots(labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the S steps from the first slot on, (B, S), whether each of them is a slot, (B, S), and the number of
    slots, (B,). In a row of labels (B, T), the slots must be consecutive."""
    is_slot = labels >= 0
    lengths = is_slot.sum(1)
    first = is_slot.int().argmax(1, keepdim=True)
    steps = torch.arange(max(int(lengths.max()), 1), device=labels.device)
    return (first + steps).clamp_max(labels.shape[1] - 1), steps < lengths.unsqueeze(1), lengths


def viterbi_steps(scores: Tensor, transitions: Tensor, lengths: Tensor) -> Tensor:
    """Like `LinearChain.viterbi`, but uses only operations that TorchScript and exporters support. Past the end of a
    text, it repeats the label of the last slot."""
    best = scores[:, 0]
    same = torch.arange(scores.size(2), device=scores.device).unsqueeze(0).expand_as(best)
    back = torch.zeros_like(scores[:, :1], dtype=torch.int64)
    for t in range(1, scores.size(1)):
        inside = (lengths > t).unsqueeze(1)
        value, before = (best.unsqueeze(2) + transitions).max(1)
        best = torch.where(inside, value + scores[:, t], best)
        back = torch.cat([back, torch.where(inside, before, same).unsqueeze(1)], 1)
    label = best.argmax(1, keepdim=True)
    path = label
    for t in range(scores.size(1) - 1):
        label = back[:, scores.size(1) - 1 - t].gather(1, label)
        path = torch.cat([label, path], 1)
    return path


def log_partition(scores: Tensor, transitions: Tensor, lengths: Tensor) -> Tensor:
    """Returns log Z (B,) of chains with `lengths` (B,) and scores (B, T, L) that include b and e; 0 for length 0."""
    return _LogPartition.apply(scores, transitions, lengths)


class _LogPartition(torch.autograd.Function):
    """Computes log Z. Its gradients are the marginals of labels and of pairs of labels."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, transitions: Tensor, lengths: Tensor) -> Tensor:
        ctx.sums = _forward_backward(scores, transitions, lengths)
        ctx.dtypes = scores.dtype, transitions.dtype
        return ctx.sums.log_partition.to(scores.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        gradient = gradient.double()
        marginals = ctx.sums.marginals() * (ctx.sums.inside.T * gradient.unsqueeze(1)).unsqueeze(2)
        return marginals.to(ctx.dtypes[0]), ctx.sums.pairs(gradient).to(ctx.dtypes[1]), None


class _Sums(NamedTuple):
    """The results of both recursions, float64. The time axis comes first. Each sum is known only up to a factor."""

    log_partition: Tensor  # (B,)
    inside: Tensor  # (T, B), whether a step is in the chain
    follow: Tensor  # (L, L), exp of the transitions
    before: Tensor  # (T, B, L), for each label of a slot, the sum over the label sequences before the slot
    until: Tensor  # like `before`, but with the slot's own score
    after: Tensor  # (T, B, L), for each label of a slot, the sum over the label sequences after the slot
    since: Tensor  # like `after`, but with the slot's own score

    def marginals(self) -> Tensor:
        """Returns P(y_t), (B, T, L); arbitrary finite numbers past the end of a text."""
        product = self.until * self.after
        return (product / product.sum(2, keepdim=True)).transpose(0, 1)

    def pairs(self, weights: Tensor) -> Tensor:
        """Returns the sum of w · P(y_t, y_t+1) over all texts and all t, (L, L). `weights` (B,): the w of each text."""
        whole = (self.before[1:] * self.since[1:]).sum(2)
        share = self.inside[1:] * weights / whole
        first = (self.until[:-1] * share.unsqueeze(2)).flatten(0, 1)
        return self.follow * (first.T @ self.since[1:].flatten(0, 1))


def _forward_backward(scores: Tensor, transitions: Tensor, lengths: Tensor) -> _Sums:
    steps = torch.arange(scores.shape[1], device=scores.device).unsqueeze(1)
    ends = lengths.unsqueeze(0)
    inside = steps < ends
    scores = scores.detach().transpose(0, 1).double()
    transitions = transitions.detach().double()
    peaks, peak = scores.amax(2, keepdim=True), transitions.max()
    slots = (scores - peaks).clamp_min(FLOOR).exp()
    follow = (transitions - peak).clamp_min(FLOOR).exp()
    # The recursion from the right is computed as a recursion from the left on reversed texts.
    reversed_steps = torch.where(inside, ends - 1 - steps, steps).unsqueeze(2).expand_as(slots)
    both = torch.stack([slots, slots.gather(0, reversed_steps)], 1)  # (T, 2, B, L)
    incoming, passed, last, norms = torch.ones_like(both), torch.empty_like(both), None, []
    product = torch.stack([follow, follow.T])
    for own, come, out in zip(both, incoming, passed):
        if last is not None:
            torch.bmm(last, product, out=come)
        torch.mul(come, own, out=out)
        norms.append(out.sum(2, keepdim=True))
        last = out.div_(norms[-1])
    log_probs = torch.stack(norms)[:, 0].log() + peaks  # (T, B, 1)
    log_probs[1:] += peak
    log_partition = (log_probs.squeeze(2) * inside).sum(0)
    after = incoming[:, 1].gather(0, reversed_steps)
    since = passed[:, 1].gather(0, reversed_steps)
    return _Sums(log_partition, inside, follow, incoming[:, 0], passed[:, 0], after, since)
