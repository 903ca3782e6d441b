"""Connects the processes that `torchrun` starts to train one model, and sums their gradients.

Each process is a *rank*, which has all weights and a share of each batch. Rank 0, the first one, writes the files and
the log. Each rank's loss is its share of the mean loss of the batch, so the sum of the ranks' gradients is the gradient
of this mean. PyTorch's DistributedDataParallel is not used, because it would wait forever for a rank whose share has no
slots.
"""

import contextlib
import datetime
import logging
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import torch
import torch.distributed.nn  # must be imported before there is a process group: see `Ranks.join`

from punc.base import log
from punc.base.errors import InputError
from punc.base.processor import find_device

Value = TypeVar("Value")
TIMEOUT = datetime.timedelta(minutes=30)  # long, because ranks wait while the first rank scores the development set
LAST_WORDS = datetime.timedelta(seconds=5)  # ranks wait at most this long for another rank to print its error
LAUNCH = "start all ranks by torchrun, or unset WORLD_SIZE to train in one process"


class Ranks:
    """Connects this process, which is rank `rank` of `size` ranks, to the others. On its machine, the process is
    number `local_rank` of `local_size` ranks. Both numbers count from 0.

    Every rank must call the same methods in the same order. The methods raise InputError if another rank has ended.
    """

    def __init__(self, rank: int = 0, size: int = 1, local_rank: int = 0, local_size: int = 1):
        self.rank, self.size, self.local_rank, self.local_size = rank, size, local_rank, local_size
        self.first = rank == 0
        self._end_agreed = False

    @contextlib.contextmanager
    def join(self) -> Iterator[None]:
        """Connect to the other ranks while the block runs. In the block, all ranks except the first log only errors.

        gloo's threads could abort the interpreter at exit, so they must end when the block ends. They live as long as
        anything refers to the process group. torch.distributed.nn refers to the group that exists when the module is
        imported, so it is imported above, before there is a group.
        """
        if self.size == 1:
            yield
            return
        gpus = torch.cuda.is_available() and torch.distributed.is_nccl_available()
        try:
            torch.distributed.init_process_group("cpu:gloo,cuda:nccl" if gpus else "gloo", timeout=TIMEOUT)
        except (RuntimeError, ValueError) as error:
            raise InputError(f"rank {self.rank} of {self.size} does not reach the others ({error})", LAUNCH) from None
        level = log.LOGGER.level
        log.LOGGER.setLevel(level if self.first else logging.ERROR)
        failed = True
        try:
            yield
            failed = False
        except (InputError, OSError, SystemExit) as error:
            if self._end_agreed:
                self._end(isinstance(error, SystemExit))
            raise
        finally:
            # After an error, destroying NCCL's group could wait for ranks that do not answer, so it is not destroyed.
            if not (gpus and failed):
                torch.distributed.destroy_process_group()
            log.LOGGER.setLevel(level)

    def _end(self, silent: bool) -> None:
        """End all ranks together after an error in one rank. The other ranks wait until that rank has printed its
        error, because torchrun kills all ranks soon after the first of them has ended."""
        with contextlib.suppress(InputError, RuntimeError):
            self.gather(None)
            if silent:  # another rank prints the error; wait until it has ended
                torch.distributed.all_reduce(torch.zeros(1), async_op=True).wait(LAST_WORDS)

    @contextlib.contextmanager
    def agree(self) -> Iterator[None]:
        """If the block raises InputError or OSError in any rank, make all ranks exit: the first rank with an error
        raises its error, and all others raise SystemExit."""
        if self.size == 1:
            yield
            return
        own: InputError | OSError | None = None
        try:
            yield
        except (InputError, OSError) as error:
            own = error
        failed = [rank for rank, bad in enumerate(self.gather(own is not None)) if bad]
        if not failed:
            return
        self._end_agreed = True
        if own is None or self.rank != failed[0]:
            raise SystemExit(1)
        if isinstance(own, InputError) and not self.first:
            place = f"rank {self.rank}, on {socket.gethostname()}"
            own = InputError(f"{own.what} ({place})", own.remedy, own.file, own.line)
        raise own

    def check_same(self, facts: Mapping[str, Any], remedy: str) -> None:
        """Raise InputError in the first rank, and SystemExit in the others, unless all ranks have the same `facts`."""
        with self.agree():
            for rank, theirs in enumerate(self.gather(facts)):
                for name in {**facts, **theirs} if self.first else ():
                    if facts.get(name) != theirs.get(name):
                        raise InputError(f"rank {rank} has {name}={theirs.get(name)}, rank 0 has {facts.get(name)}",
                                         remedy)

    def gather(self, value: Value) -> list[Value]:
        """Return the values of all ranks in rank order. Values should be small."""
        values: list[Any] = [value] * self.size
        if self.size > 1:
            with self.others():
                torch.distributed.all_gather_object(values, value)
        return values

    def from_first(self, value: Value) -> Value:
        values = [value]
        if self.size > 1:
            with self.others():
                torch.distributed.broadcast_object_list(values, device=torch.device("cpu"))
        return values[0]

    def add(self, tensor: torch.Tensor) -> torch.Tensor:
        """Sum a tensor over the ranks, in place. All ranks get bit-identical sums."""
        if self.size > 1:
            with self.others():
                torch.distributed.all_reduce(tensor)
        return tensor

    def copy_weights(self, model: torch.nn.Module) -> None:
        for weight in model.state_dict().values() if self.size > 1 else ():
            with self.others():
                torch.distributed.broadcast(weight, 0)

    def copy_state(self, updates: Any) -> None:
        if self.size > 1:
            state = self.from_first(updates.state_dict())
            if not self.first:
                updates.load_state_dict(state)

    @contextlib.contextmanager
    def others(self) -> Iterator[None]:
        """Raise InputError instead of PyTorch's exceptions if another rank has ended."""
        try:
            yield
        except RuntimeError as error:
            raise InputError(f"rank {self.rank} of {self.size} has lost the others ({error})",
                             "see the error of the rank that ended first") from error

    def device(self, name: str) -> str:
        """Return the device of this rank, given auto, cpu, cuda or cuda:N. Ranks do not share GPUs.
        Raises InputError if the machine has too few GPUs, or if cuda:N is given to several ranks on one machine."""
        found = find_device(name)
        if self.size == 1 or found == "cpu":
            return found
        if ":" in name and self.local_size > 1:
            raise InputError(f"--device {name}, but {self.local_size} ranks on one machine",
                             "give --device cuda: each rank takes a GPU of its own")
        if self.local_size > (gpus := torch.cuda.device_count()):
            raise InputError(f"{self.local_size} ranks on one machine, but PyTorch sees {gpus} GPU{'s' * (gpus > 1)}",
                             "start one rank for each GPU (torchrun --nproc-per-node), or use --device cpu")
        found = found if ":" in name else f"cuda:{self.local_rank}"
        torch.cuda.set_device(found)
        return found

    def threads(self) -> int:
        """Return the number of cores for each rank on this machine."""
        return max(1, len(os.sched_getaffinity(0)) // self.local_size)


ALONE = Ranks()


def sum_gradients(dense: Sequence[torch.Tensor], sparse: Sequence[torch.Tensor], ranks: Ranks) -> None:
    """Replace the gradient (float32) of each weight by its sum over the ranks, or by None if no rank has a gradient.
    The weights `dense` have dense gradients, and the embeddings `sparse` (V, D) have sparse gradients."""
    if ranks.size == 1:
        return
    own = [None if weight.grad is None else weight.grad.coalesce() for weight in sparse]
    rows = torch.zeros(len(sparse), ranks.size)  # 0: no gradient; n + 1: a gradient with n rows
    for number, grad in enumerate(own):
        rows[number, ranks.rank] = 0 if grad is None else grad._nnz() + 1
    rows = _sum_dense(dense, rows.flatten(), (*dense, *sparse)[0].device, ranks).view_as(rows)
    for weight, grad, counts in zip(sparse, own, rows.int().tolist()):
        weight.grad = _sum_sparse(weight, grad, counts, ranks) if any(counts) else None


def _sum_dense(weights: Sequence[torch.Tensor], facts: torch.Tensor, device: torch.device,
               ranks: Ranks) -> torch.Tensor:
    """Sum the gradients of `weights` and the numbers `facts` (N,) over the ranks, in a single message. Returns the sums
    of `facts`."""
    parts = [torch.zeros_like(weight) if weight.grad is None else weight.grad for weight in weights]
    known = torch.tensor([float(weight.grad is not None) for weight in weights])
    total = ranks.add(torch.cat([*(part.flatten() for part in parts), known.to(device), facts.to(device)]))
    *sums, known, facts = total.split([*(weight.numel() for weight in weights), len(weights), len(facts)])
    for weight, grad, has_grad in zip(weights, sums, known.tolist()):
        weight.grad = grad.view_as(weight) if has_grad else None
    return facts.cpu()


def _sum_sparse(weight: torch.Tensor, own: torch.Tensor | None, counts: Sequence[int], ranks: Ranks) -> torch.Tensor:
    """Return the sum of the ranks' gradients of the embedding `weight` (V, D), as a sparse tensor with the rows of all
    ranks. Rank r has counts[r] − 1 rows, or no gradient if counts[r] is 0. `own`: this rank's gradient."""
    # Each row is sent as a line: its index, then the bits of its values.
    lines = torch.zeros(max(counts) - 1, 1 + weight.shape[1], dtype=torch.int32, device=weight.device)
    if own is not None:
        lines[:own._nnz(), 0] = own._indices()[0]
        lines[:own._nnz(), 1:] = own._values().view(torch.int32)
    parts = [torch.empty_like(lines) for _ in counts]
    with ranks.others():
        torch.distributed.all_gather(parts, lines)
    lines = torch.cat([part[:max(count - 1, 0)] for part, count in zip(parts, counts)])
    # Cloned, because PyTorch would read a single row of values with the stride of the complete line.
    values = lines[:, 1:].clone(memory_format=torch.contiguous_format).view(torch.float32)
    return torch.sparse_coo_tensor(lines[:, 0].long()[None], values, weight.shape)


def find_ranks() -> Ranks:
    """Read this process's rank from torchrun's environment variables. Raises InputError if they are invalid."""
    if os.environ.get("WORLD_SIZE", "1") == "1":
        return ALONE
    try:
        rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        local_rank, local_size = (int(os.environ[name]) for name in ("LOCAL_RANK", "LOCAL_WORLD_SIZE"))
        if not (0 <= rank < size and os.environ["MASTER_ADDR"] and os.environ["MASTER_PORT"]):
            raise ValueError(f"RANK={rank} WORLD_SIZE={size}")
    except KeyError as error:
        raise InputError(f"WORLD_SIZE={os.environ['WORLD_SIZE']} is set, but no {error.args[0]}", LAUNCH) from None
    except ValueError as error:
        raise InputError(f"the environment describes impossible ranks ({error})", LAUNCH) from None
    return Ranks(rank, size, local_rank, local_size)
