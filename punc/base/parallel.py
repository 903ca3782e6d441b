"""Runs independent tasks in a pool of worker processes."""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

from punc.base import log, stop
from punc.base.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.process import BaseProcess

Task = TypeVar("Task")
Result = TypeVar("Result")
CHECK_EVERY = 1.0  # seconds between checks that all processes are alive


def map_ordered(function: Callable[[Task], Result], tasks: Iterable[Task], nj: int) -> Iterator[Result]:
    """Apply `function` to tasks, with `nj` worker processes. Yields the results in the order of the tasks.

    `function` may be large: each process receives it once. At most 2 `nj` + 1 tasks and results are in memory. If `nj`
    is 1, or there is only one task, this process does the work, because starting another process would only cost time.

    Raises the errors of `function`, and InputError if a process is killed. After an error, or if the caller stops
    early, the processes are killed at once, so that Ctrl-C does not wait for their tasks.
    """
    tasks = iter(tasks)
    first = list(islice(tasks, 2))
    if nj == 1 or len(first) < 2:
        yield from map(function, chain(first, tasks))
        return
    # Imported here, because the imports would delay the first word of `punc punctuate -`, which needs no pool.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    waiting: deque[Future[Result]] = deque()
    # Processes are spawned, not forked, because forking is not safe if the caller has threads.
    pool = ProcessPoolExecutor(nj, multiprocessing.get_context("spawn"), _start_worker, (function, log.LOGGER.level))
    try:
        for task in chain(first, tasks):
            # A process that `submit` starts blocks the signals until `_start_worker` runs. If a signal interrupted
            # `submit`, the process would print that its input has ended.
            with stop.held(), stop.signals_wait():
                future = pool.submit(_run, task)
            waiting.append(future)
            if len(waiting) > 2 * nj:
                yield _result(waiting.popleft(), pool)
        while waiting:
            yield _result(waiting.popleft(), pool)
    except BaseException as error:
        _kill_processes(pool)
        if isinstance(error, BrokenProcessPool):
            raise InputError("a worker process was killed", "free some memory, or use fewer processes") from None
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _result(future: "Future[Result]", pool: Any) -> Result:
    # If a process is killed, the pool itself may hang, so this function regularly checks that all processes are alive.
    from concurrent.futures import wait
    from concurrent.futures.process import BrokenProcessPool
    while not wait([future], CHECK_EVERY).done:
        if not all(process.is_alive() for process in list(pool._processes.values())):
            raise BrokenProcessPool
    return future.result()


def _kill_processes(pool: Any) -> None:
    """Kill the processes of a pool. Also close this process's ends of the pool's pipes, so that the pool's threads do
    not wait for the killed processes."""
    for process in list((pool._processes or {}).values()):
        process.kill()
    pool._result_queue._writer.close()
    if sys.version_info < (3, 11):  # later versions of Python close this end of the pipe themselves, in another thread
        pool._call_queue._reader.close()


_function: Callable  # in a worker process: the function to apply to tasks


def _start_worker(function: Callable, level: int) -> None:
    global _function
    _function = function
    log.configure()
    log.LOGGER.setLevel(level)
    stop.let_through()
    end_with_parent()


def end_with_parent() -> None:
    """Make this worker process end as soon as its parent ends, even if the parent is killed."""
    import multiprocessing
    threading.Thread(target=_end_with, args=(multiprocessing.parent_process(),), daemon=True).start()


def _end_with(parent: "BaseProcess") -> None:
    parent.join()
    os._exit(1)


def _run(task: Any) -> Any:
    return _function(task)
