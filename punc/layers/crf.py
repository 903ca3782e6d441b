"""A linear-chain conditional random field (Lafferty et al. 2001), as in Bansal 2019, equations (1) to (9).

    C(y_1 … y_m) = b[y_1] + Σ_t s_t[y_t] + Σ_t T[y_t, y_t+1] + e[y_m]      (1), (2)
    Z = Σ_y exp C(y);  P(y) = exp C(y) / Z                                  (5), (9)

s_t are a network's scores for the labels of slot t; b, T and e are learned. The recursion in (6) to (8), which starts
at the left here, computes Z. This recursion and its mirror image, which starts at the right, give the marginals P(y_t)
and P(y_t, y_t+1), which are the gradient of log Z. The recursion in (3) and (4) finds the best labels (Viterbi 1967).

One loop over time computes the recursions from the left and from the right in float64. Their sums are normalized at
every step. Scores more than 300 nats below the best score of their slot, and values of T more than 300 nats below
the largest one, are raised to this bound, so that no sum is zero.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

FLOOR = -300.0  # nats relative to the best score; lower scores are raised to this bound


class LinearChain(nn.Module):
    """A CRF with learned scores: `begin` (L,), `end` (L,), and `transitions` (L, L) from a label (row) to the next
    (column). All learned scores are initially 0. Each row of a batch is a text, and its slots are its first `lengths`
    (B,) steps; a text may be empty. In the losses, the slots may begin after the first step; the labels show where they
    are."""

    def __init__(self, labels: int):
        super().__init__()
        self.begin = nn.Parameter(torch.zeros(labels))
        self.transitions = nn.Parameter(torch.zeros(labels, labels))
        self.end = nn.Parameter(torch.zeros(labels))

    def scores(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """Add b to the network's scores (B, T, L) at the first slot of each text, and e at the last slot."""
        steps = torch.arange(emissions.shape[1], device=emissions.device)
        ends = lengths.unsqueeze(1)
        first, last = (steps == 0) & (ends > 0), steps == ends - 1
        return emissions + first.unsqueeze(2) * self.begin + last.unsqueeze(2) * self.end

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Return −log P(y), summed over all chains and divided by the number of slots.

        scores   (B, T, L), the result of the method `scores`, for complete texts or for parts of them
        labels   (B, T), −1 where there is no slot
        """
        indices, is_slot, lengths = _slots(labels)
        scores = scores.gather(1, indices.unsqueeze(2).expand(-1, -1, scores.shape[2]))
        labels = labels.gather(1, indices).masked_fill(~is_slot, 0)
        own = (scores.gather(2, labels.unsqueeze(2)).squeeze(2) * is_slot).sum()
        follow = (self.transitions[labels[:, :-1], labels[:, 1:]] * is_slot[:, 1:]).sum()
        return (log_partition(scores, self.transitions, lengths).sum() - own - follow) / lengths.sum()

    def soft_loss(self, scores: Tensor, targets: Tensor, labels: Tensor) -> Tensor:
        """Return the cross-entropy −Σ_y Q(y) log P(y), summed over all chains and divided by the number of slots.

        Q(y) is Π_t q_t(y_t), where q are the targets (B, T, L). By (1) and (9), the cross-entropy of a chain is
        log Z − Σ_t Σ_i q_t(i) s_t(i) − Σ_t Σ_ij q_t(i) T(i, j) q_t+1(j).
        """
        indices, is_slot, lengths = _slots(labels)
        columns = indices.unsqueeze(2).expand(-1, -1, scores.shape[2])
        scores = scores.gather(1, columns)
        targets = targets.gather(1, columns) * is_slot.unsqueeze(2)
        own = (scores * targets).sum()
        follow = (targets[:, :-1] @ self.transitions * targets[:, 1:]).sum()
        return (log_partition(scores, self.transitions, lengths).sum() - own - follow) / lengths.sum()

    def log_marginals(self, scores: Tensor, lengths: Tensor) -> Tensor:
        """Map the result of `scores` to log P(y_t), (B, T, L). Steps past the end of a text get the log-softmax of
        their scores."""
        sums = _forward_backward(scores, self.transitions, lengths)
        log_probs = sums.marginals().clamp_min(torch.finfo(torch.float32).tiny).log().to(scores.dtype)
        inside = torch.arange(scores.shape[1], device=scores.device) < lengths.unsqueeze(1)
        return torch.where(inside.unsqueeze(2), log_probs, scores.log_softmax(2))

    def viterbi(self, scores: Tensor, lengths: Tensor) -> Tensor:
        """Return the label sequences (B, T) with the highest C. Labels past the end of a text are −1."""
        labels = viterbi_steps(scores, self.transitions, lengths)
        steps = torch.arange(scores.shape[1], device=scores.device)
        return labels.masked_fill(steps >= lengths.unsqueeze(1), -1)


def _slots(labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return three tensors for the rows of labels (B, T): the indices of S steps from the first slot on, (B, S);
    whether each of these steps is a slot, (B, S); and the number of slots, (B,). The slots of a row must be
    consecutive."""
    is_slot = labels >= 0
    lengths = is_slot.sum(1)
    first = is_slot.int().argmax(1, keepdim=True)
    steps = torch.arange(max(int(lengths.max()), 1), device=labels.device)
    return (first + steps).clamp_max(labels.shape[1] - 1), steps < lengths.unsqueeze(1), lengths


def viterbi_steps(scores: Tensor, transitions: Tensor, lengths: Tensor) -> Tensor:
    """Return the same as `LinearChain.viterbi`, except that steps past the end of a text get the label of its last
    slot. Uses only operations that TorchScript and exporters support."""
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
    """Return log Z (B,) of chains with `lengths` (B,), given the tensor (B, T, L) from `LinearChain.scores`. Empty
    chains get 0."""
    return _LogPartition.apply(scores, transitions, lengths)


class _LogPartition(torch.autograd.Function):
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
    """The results of the recursions from the left and from the right, float64. At each step, the sums of all labels are
    multiplied by the same arbitrary factor."""

    log_partition: Tensor  # (B,)
    inside: Tensor  # (T, B), whether a step is in the chain
    follow: Tensor  # (L, L), exp of the transitions
    before: Tensor  # (T, B, L), for each label of a slot, the sum over the label sequences before the slot
    until: Tensor  # like `before`, but including the slot's own score
    after: Tensor  # (T, B, L), for each label of a slot, the sum over the label sequences after the slot
    since: Tensor  # like `after`, but including the slot's own score

    def marginals(self) -> Tensor:
        """Return P(y_t), (B, T, L). Values past the end of a text are arbitrary, but finite."""
        product = self.until * self.after
        return (product / product.sum(2, keepdim=True)).transpose(0, 1)

    def pairs(self, weights: Tensor) -> Tensor:
        """Return the weighted sum of P(y_t, y_t+1) over all t and all texts, (L, L). `weights` (B,): one per text."""
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
