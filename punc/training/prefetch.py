"""Batches that are prepared ahead of a GPU, in a thread, so that the GPU does not wait for them.

A GPU computes while Python goes on to the next batch. So what Python does for a batch, to gather it and to pin its
memory, is time in which it cannot launch the next step. A thread does that while the loop waits for the GPU.

On the CPU there is no thread: it would take time from the arithmetic, which has the cores already.
"""

import contextlib
import queue
import threading
from collections.abc import Callable, Generator, Iterator

import torch

from punc.tokens.batches import Batch

AHEAD = 8  # batches that wait at most
Waiting = queue.Queue[tuple[Batch | None, BaseException | None]]


def prefetch(batches: Iterator[Batch], device: torch.device) -> Iterator[Batch]:
    """The same batches in the same order. For a GPU a thread prepares them, in pinned memory, of up to AHEAD batches.

    They are still on the CPU, and `Batch.to` copies them to the GPU. What an iterator raises is raised here, after the
    batches before it. The thread ends with the last batch, and when the iterator is closed or no longer used.
    """
    return ahead(batches, lambda batch: _pinned(batch, device)) if device.type == "cuda" else batches


def ahead(batches: Iterator[Batch], prepare: Callable[[Batch], Batch]) -> Generator[Batch, None, None]:
    """The batches, prepared by a thread while the caller uses those before."""
    waiting: Waiting = queue.Queue(AHEAD)
    stopped = threading.Event()
    thread = threading.Thread(target=_fill, args=(waiting, stopped, batches, prepare), name="prefetch", daemon=True)
    del batches  # the thread has them, until it ends
    thread.start()
    try:
        while True:
            batch, error = waiting.get()
            if error is not None:
                raise error
            if batch is None:
                return
            yield batch
    finally:
        stopped.set()
        while thread.is_alive():
            with contextlib.suppress(queue.Empty):  # a thread that waits for room goes on, and sees that it is to stop
                waiting.get(timeout=0.01)
        thread.join()


def _fill(waiting: Waiting, stopped: threading.Event, batches: Iterator[Batch],
          prepare: Callable[[Batch], Batch]) -> None:
    """Put the batches, and then None or what was raised."""
    error: BaseException | None = None
    try:
        for batch in batches:
            waiting.put((prepare(batch), None))
            if stopped.is_set():
                return
    except BaseException as raised:  # the loop raises it
        error = raised
    waiting.put((None, error))


def _pinned(batch: Batch, device: torch.device) -> Batch:
    """The batch in pinned memory, from which a GPU reads it without the CPU."""
    def pinned(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.contiguous().pin_memory()

    with torch.cuda.device(device):  # a thread begins on the first GPU, and pinning would begin to use that one
        return batch._replace(tokens=pinned(batch.tokens),
                              pauses=None if batch.pauses is None else pinned(batch.pauses),
                              labels=pinned(batch.labels),
                              targets=None if batch.targets is None else pinned(batch.targets))
