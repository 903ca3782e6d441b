"""The process pool: results in order, few tasks in memory, and processes that end with their parent."""

import logging
import operator
import os
import signal
import struct
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from punc.base import log
from punc.base.errors import InputError
from punc.base.parallel import map_ordered

KILLED = b"a worker process was killed; free some memory, or use fewer processes"


def later_first(number):
    time.sleep(0.2 if number == 0 else 0)
    return -number


@pytest.mark.parametrize("nj", [1, 2])
def test_map_ordered_keeps_order(nj):
    assert list(map_ordered(later_first, iter(range(20)), nj)) == [-i for i in range(20)]


@pytest.mark.parametrize(("tasks", "nj"), [([], 2), ([7], 2), ([7, 8], 1)])
def test_map_ordered_little_work_starts_no_process(tasks, nj):
    assert list(map_ordered(lambda task: (task, os.getpid()), tasks, nj)) == [(task, os.getpid()) for task in tasks]


def test_map_ordered_takes_few_tasks_at_a_time():
    taken = []
    results = map_ordered(operator.neg, (taken.append(i) or i for i in range(100)), 2)
    assert next(results) == 0
    assert len(taken) < 10
    results.close()


def test_map_ordered_worker_error_is_raised():
    with pytest.raises(ZeroDivisionError):
        list(map_ordered((1).__truediv__, [1, 1, 0, 1], 2))


def refuse(number):
    raise InputError("wrong", "fix it", "file", number)


def test_map_ordered_input_error_keeps_file_and_line():
    with pytest.raises(InputError, match=r"^file:3: wrong; fix it$"):
        list(map_ordered(refuse, [3, 4], 2))


def test_map_ordered_task_error_is_raised():
    def tasks():
        yield from (1, 2, 3)
        raise InputError("the input ends", "get it again")

    with pytest.raises(InputError, match="the input ends"):
        list(map_ordered(operator.neg, tasks(), 2))


def kill_at(number, at):
    if number == at:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_map_ordered_killed_worker_is_an_input_error():
    with pytest.raises(InputError) as error:
        list(map_ordered(partial(kill_at, at=2), range(20), 2))
    assert str(error.value).encode() == KILLED


def interrupt(number):
    os.kill(os.getpid(), signal.SIGINT)
    return number


def test_map_ordered_workers_ignore_interrupts():
    assert list(map_ordered(interrupt, range(4), 2)) == [0, 1, 2, 3]


def warn(number):
    logger = logging.getLogger("punc.worker")
    logger.info("task %d", number)
    logger.warning("odd task %d", number)


@pytest.mark.parametrize(("quiet", "lines"), [(False, ["odd task 5", "odd task 6", "task 5", "task 6"]),
                                              (True, ["odd task 5", "odd task 6"])])
def test_map_ordered_workers_log_as_their_parent(capfd, quiet, lines):
    log.configure(quiet=quiet)
    try:
        list(map_ordered(warn, [5, 6], 2))
    finally:
        log.configure()
    assert sorted(capfd.readouterr().err.splitlines()) == lines


PARENT = """
import sys
sys.path.insert(0, sys.argv[1])
import test_parallel
from functools import partial
from punc.base.parallel import map_ordered
if __name__ == "__main__":
    function, folder = sys.argv[2:]
    list(map_ordered(partial(getattr(test_parallel, function), folder), test_parallel.TASKS[function](folder), 2))
"""


def parent_of(function, folder, script):
    """The command line of a process that maps a function of this module, with a folder, over its tasks."""
    script.write_text(PARENT)
    return [sys.executable, script, Path(__file__).parent, function, folder]


def report_and_wait(folder, number):
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(60)


def runs(pid):
    try:
        return b") Z" not in Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_map_ordered_workers_end_with_a_killed_parent(tmp_path):
    folder = tmp_path / "workers"
    folder.mkdir()
    parent = subprocess.Popen(parent_of("report_and_wait", folder, tmp_path / "parent.py"))
    try:
        wait_until(lambda: len(list(folder.iterdir())) == 2)
        workers = [int(path.name) for path in folder.iterdir()]
        assert all(map(runs, workers))
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: not any(map(runs, workers)))


def fail_first(folder, task):
    time.sleep(60 if task else 0.5)
    raise InputError("wrong", "fix it")


def begin(folder):
    """Write the length of a result, and no more."""
    frame = sys._getframe()
    while "result_queue" not in frame.f_locals:
        frame = frame.f_back
    queue = frame.f_locals["result_queue"]
    queue._wlock.acquire()
    os.write(queue._writer.fileno(), struct.pack("!i", 100))
    (Path(folder) / "begun").touch()


def begin_a_result(folder, task):
    begin(folder)
    time.sleep(60)


def die_in_a_result(folder, task):
    begin(folder)
    os.kill(os.getpid(), signal.SIGKILL)


def two_tasks_until_begun(folder):
    yield from (1, 2)
    wait_until((Path(folder) / "begun").exists)
    raise InputError("wrong", "fix it")


TASKS = {
    "report_and_wait": lambda folder: range(2),
    "fail_first": lambda folder: ["", *(["x" * 10**6] * 5)],  # the tasks that wait are more than a pipe holds
    "begin_a_result": two_tasks_until_begun,
    "die_in_a_result": lambda folder: range(8),
}


@pytest.mark.parametrize("function", ["fail_first", "begin_a_result"])
def test_map_ordered_error_ends_at_once_in_the_midst_of_a_task_or_a_result(tmp_path, function):
    parent = subprocess.run(parent_of(function, tmp_path, tmp_path / "parent.py"), timeout=30, stderr=subprocess.PIPE)
    assert parent.stderr.endswith(b"InputError: wrong; fix it\n")


def test_map_ordered_worker_killed_in_the_midst_of_a_result_is_an_input_error(tmp_path):
    parent = subprocess.run(parent_of("die_in_a_result", tmp_path, tmp_path / "parent.py"), timeout=30,
                            stderr=subprocess.PIPE)
    assert (tmp_path / "begun").exists()
    assert parent.stderr.endswith(KILLED + b"\n")
