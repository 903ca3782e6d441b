"""The gradient of a batch that several ranks share: the sum of theirs.

Each rank's loss is its share of the mean loss of the whole batch, so the sum of the gradients is the gradient of that
mean. Two messages carry them: the dense gradients, end to end, are summed; of embeddings with sparse gradients every
rank gets the rows of all ranks. PyTorch's DistributedDataParallel sends more messages for sparse gradients, and waits
for ever if a rank's share has no loss.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from punc.training.ranks import Ranks


def sum_gradients(dense: Sequence[Tensor], sparse: Sequence[Tensor], ranks: Ranks) -> None:
    """Replace each gradient by its sum over the ranks; None if no rank has one.

    dense    weights with dense gradients, float32
    sparse   embeddings (V, D) with sparse gradients, float32, of fewer than 2³¹ rows
    """
    if ranks.size == 1:
        return
    own = [None if weight.grad is None else weight.grad.coalesce() for weight in sparse]
    rows = torch.zeros(ranks.size, len(sparse))  # 0: no gradient; n + 1: n rows
    for number, grad in enumerate(own):
        rows[ranks.rank, number] = 0 if grad is None else grad._nnz() + 1
    facts = _sum_dense(dense, rows.flatten(), sparse[0].device if sparse else dense[0].device, ranks)
    if sparse:
        _sum_sparse(sparse, own, [[int(n) for n in facts[r::len(sparse)]] for r in range(len(sparse))], ranks)


def _sum_dense(weights: Sequence[Tensor], facts: Tensor, device: torch.device, ranks: Ranks) -> list[float]:
    """Sum the gradients of `weights`, and with them some numbers (N,), which are returned."""
    facts = torch.cat([torch.tensor([float(weight.grad is not None) for weight in weights]), facts])
    parts = [torch.zeros_like(weight) if weight.grad is None else weight.grad for weight in weights]
    total = ranks.add(torch.cat([*(part.flatten() for part in parts), facts.to(device)]))
    *sums, facts = total.split([*(weight.numel() for weight in weights), len(facts)])
    known = facts.tolist()
    for weight, grad, has_grad in zip(weights, sums, known):
        weight.grad = grad.view_as(weight) if has_grad else None
    return known[len(weights):]


def _sum_sparse(weights: Sequence[Tensor], own: Sequence[Tensor | None], rows: Sequence[Sequence[int]],
                ranks: Ranks) -> None:
    """Sum the sparse gradients of `weights`.

    own    the gradients of this rank, coalesced
    rows   for each weight, by rank: 1 + the number of rows; 0: no gradient
    """
    sizes = [(max(*counts, 1) - 1, 1 + weight.shape[1]) for weight, counts in zip(weights, rows)]
    message = torch.zeros(sum(height * width for height, width in sizes), dtype=torch.int32, device=weights[0].device)
    for part, grad, size in zip(message.split([height * width for height, width in sizes]), own, sizes):
        if grad is not None:  # a line for each row: its index, and its values bit by bit
            lines = part.view(size)[:grad._nnz()]
            lines[:, 0] = grad._indices()[0]
            lines[:, 1:] = grad._values().view(torch.int32)
    messages = ranks.stack(message)
    first = 0
    for weight, counts, (height, width) in zip(weights, rows, sizes):
        part = messages[:, first:first + height * width].view(ranks.size, height, width)
        first += height * width
        lines = [of_rank[:max(count - 1, 0)] for of_rank, count in zip(part, counts)]
        # Copies: PyTorch reads a single row of values with the stride of the whole line.
        indices, values = torch.cat([line[:, 0] for line in lines]), torch.cat([line[:, 1:] for line in lines])
        weight.grad = torch.sparse_coo_tensor(indices.long()[None], values.view(torch.float32),
                                              weight.shape) if any(counts) else None
