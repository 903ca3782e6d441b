"""A linear-chain conditional random field (Lafferty et al. 2001), as in Bansal 2019, equations (1) to (9).

    C(y_1 … y_m) = b[y_1] + Σ_t s_t[y_t] + Σ_t T[y_t, y_t+1] + e[y_m]      (1), (2)
    Z = Σ_y exp C(y);  P(y) = exp C(y) / Z                                  (5), (9)

s_t are the scores that a network gives the labels of slot t, b, T and e are learned. Z comes from the recursion (6) to
(8), here from the left; with the same recursion from the right it gives the marginals P(y_t) and P(y_t, y_t+1), which
are the gradient of log Z. The paper's recursion (3), (4) finds the best labels (Viterbi 1967).

Autograd through a thousand steps of ten numbers is slow, so the gradient is computed as these marginals. Both
recursions run side by side, in one loop over time, as probabilities that are normalized in every step: that is exact,
and a step is one product of small matrices instead of B·L² exponentials. Numbers are float64 there, and a label (a pair
of labels) more than 300 nats below the best one of its slot (of all pairs) counts as 300 below, so that no sum is zero.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

LEAST = -300.0  # nats below the best that count


class LinearChain(nn.Module):
    """The scores `begin` (L,), `transitions` (L, L) from a label (row) to the next (column), `end` (L,); 0 at first.

    Texts of a batch have `lengths` (B,) slots, 0 or more, from step 0 on; the steps after them are not in a chain.
    """

    def __init__(self, labels: int):
        super().__init__()
        self.begin = nn.Parameter(torch.zeros(labels))
        self.transitions = nn.Parameter(torch.zeros(labels, labels))
        self.end = nn.Parameter(torch.zeros(labels))

    def scores(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """s of the network (B, T, L) → with b added at each text's first slot, and e at its last."""
        steps, ends = torch.arange(emissions.shape[1], device=emissions.device), lengths.unsqueeze(1)
        first, last = (steps == 0) & (ends > 0), steps == ends - 1
        return emissions + first.unsqueeze(2) * self.begin + last.unsqueeze(2) * self.end

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """−log P(y) of all chains divided by their slots: what `scores` gave (B, T, L), labels (B, T).

        Where a row's labels are −1, before its slots or after them, there is no slot: the chain is the slots alone. So
        b counts where slots begin at step 0, and e where they end with the text.
        """
        is_slot = labels >= 0
        lengths = is_slot.sum(1)
        longest = max(int(lengths.max()), 1)
        first = is_slot.int().argmax(1, keepdim=True)
        steps = torch.arange(longest, device=labels.device)
        places = (first + steps).clamp_max(labels.shape[1] - 1)
        scores = scores.gather(1, places.unsqueeze(2).expand(-1, -1, scores.shape[2]))
        is_slot = steps < lengths.unsqueeze(1)
        labels = labels.gather(1, places).masked_fill(~is_slot, 0)
        own = (scores.gather(2, labels.unsqueeze(2)).squeeze(2) * is_slot).sum()
        follow = (self.transitions[labels[:, :-1], labels[:, 1:]] * is_slot[:, 1:]).sum()
        return (log_partition(scores, self.transitions, lengths).sum() - own - follow) / lengths.sum()

    def log_marginals(self, scores: Tensor, lengths: Tensor) -> Tensor:
        """log P(y_t) (B, T, L) of what `scores` gave; past a text's end, the softmax of the step alone."""
        sums = _forward_backward(scores, self.transitions, lengths)
        log_probs = sums.marginals().clamp_min(torch.finfo(torch.float32).tiny).log().to(scores.dtype)
        inside = torch.arange(scores.shape[1], device=scores.device) < lengths.unsqueeze(1)
        return torch.where(inside.unsqueeze(2), log_probs, scores.log_softmax(2))

    def viterbi(self, scores: Tensor, lengths: Tensor) -> Tensor:
        """The labels (B, T) of the highest C, −1 past a text's end."""
        best, back = scores[:, 0], []
        same = torch.arange(scores.shape[2], device=scores.device).expand_as(best)
        for t in range(1, scores.shape[1]):
            inside = (t < lengths).unsqueeze(1)
            value, before = (best.unsqueeze(2) + self.transitions).max(1)
            best = torch.where(inside, value + scores[:, t], best)
            back.append(torch.where(inside, before, same))
        path = [best.argmax(1, keepdim=True)]
        for before in reversed(back):
            path.append(before.gather(1, path[-1]))
        labels = torch.cat(path[::-1], 1)
        return labels.masked_fill(torch.arange(scores.shape[1], device=scores.device) >= lengths.unsqueeze(1), -1)


def log_partition(scores: Tensor, transitions: Tensor, lengths: Tensor) -> Tensor:
    """log Z (B,) of chains with scores (B, T, L), b and e among them, of `lengths` (B,); 0 where that is 0."""
    return _LogPartition.apply(scores, transitions, lengths)


class _LogPartition(torch.autograd.Function):
    """Its gradient are the marginals of labels and of pairs of labels."""

    @staticmethod
    def forward(ctx, scores: Tensor, transitions: Tensor, lengths: Tensor) -> Tensor:
        ctx.sums = _forward_backward(scores, transitions, lengths)
        ctx.dtypes = scores.dtype, transitions.dtype
        return ctx.sums.log_partition.to(scores.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        gradient = gradient.double()
        marginals = ctx.sums.marginals() * (ctx.sums.inside.T * gradient.unsqueeze(1)).unsqueeze(2)
        return marginals.to(ctx.dtypes[0]), ctx.sums.pairs(gradient).to(ctx.dtypes[1]), None


class _Sums(NamedTuple):
    """What both recursions give, float64. T is in front, and each is normalized in some way.

    log_partition  (B,)
    inside         (T, B), whether a step is of the chain
    follow         (L, L), exp of the transitions
    before         (T, B, L), over the labels before a slot, for each label of it; `until`: with the slot's own score
    after          (T, B, L), over the labels after a slot, for each label of it; `since`: with the slot's own score
    """

    log_partition: Tensor
    inside: Tensor
    follow: Tensor
    before: Tensor
    until: Tensor
    after: Tensor
    since: Tensor

    def marginals(self) -> Tensor:
        """P(y_t), (B, T, L); past a text's end, anything finite."""
        product = self.until * self.after
        return (product / product.sum(2, keepdim=True)).transpose(0, 1)

    def pairs(self, weights: Tensor) -> Tensor:
        """Σ over texts and t of weights (B,) times P(y_t, y_t+1), (L, L)."""
        whole = (self.before[1:] * self.since[1:]).sum(2)
        share = self.inside[1:] * weights / whole
        first = (self.until[:-1] * share.unsqueeze(2)).flatten(0, 1)
        return self.follow * (first.T @ self.since[1:].flatten(0, 1))


def _forward_backward(scores: Tensor, transitions: Tensor, lengths: Tensor) -> _Sums:
    steps, ends = torch.arange(scores.shape[1], device=scores.device).unsqueeze(1), lengths.unsqueeze(0)
    inside = steps < ends
    scores, transitions = scores.detach().transpose(0, 1).double(), transitions.detach().double()
    peaks, peak = scores.amax(2, keepdim=True), transitions.max()
    slots = (scores - peaks).clamp_min(LEAST).exp()
    follow = (transitions - peak).clamp_min(LEAST).exp()
    # From the right is from the left in the texts turned around, each by itself.
    turned = torch.where(inside, ends - 1 - steps, steps).unsqueeze(2).expand_as(slots)
    both = torch.stack([slots, slots.gather(0, turned)], 1)  # (T, 2, B, L)
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
    after, since = incoming[:, 1].gather(0, turned), passed[:, 1].gather(0, turned)
    return _Sums(log_partition, inside, follow, incoming[:, 0], passed[:, 0], after, since)
