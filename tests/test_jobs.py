"""Jobs write parts, which are joined. The process pool returns results in order, and ends when its parent ends."""

import json
import logging
import operator
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
from argparse import Namespace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base import log
from punc.base.errors import InputError
from punc.base.jobs import JOINED, Share, finish_joining, joining, new_part, read_parts
from punc.base.parallel import map_ordered


def shares(sizes, jobs, total=None, streams=None):
    return [list(Share(job, jobs).of(enumerate(sizes), lambda item: item[1], sum(sizes) if total is None else total,
                                     streams)) for job in range(1, jobs + 1)]


@given(st.lists(st.integers(0, 90), max_size=40), st.integers(1, 9), st.integers(0, 5000))
def test_share_each_item_is_in_one_share_in_order(sizes, jobs, total):
    assert [item for part in shares(sizes, jobs, total) for item in part] == list(enumerate(sizes))


@given(st.lists(st.integers(1, 90), min_size=1, max_size=40), st.integers(1, 9))
def test_share_is_equal_but_for_an_item(sizes, jobs):
    for part in shares(sizes, jobs):
        assert abs(sum(size for _, size in part) - sum(sizes) / jobs) <= max(sizes)


@given(st.lists(st.lists(st.integers(0, 90), min_size=1, max_size=5), max_size=9), st.integers(1, 9))
def test_share_streams_stay_whole(lengths, jobs):
    names = [str(number) for number, of_stream in enumerate(lengths) for _ in of_stream]
    parts = shares([n for of_stream in lengths for n in of_stream], jobs, streams=lambda item: (names[item[0]],) * 2)
    assert sum(map(len, parts)) == len(names)
    of = [job for job, part in enumerate(parts) for _ in part]
    assert len({*zip(names, of)}) == len(lengths)


def test_share_ends_when_it_is_complete():
    def items():
        yield from range(10)
        raise AssertionError("the rest belongs to other jobs")
    assert list(Share(1, 2).of(items(), lambda item: 1, 10)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("job", "jobs"), [(0, 3), (4, 3), (-1, 1), (2, 0), (1, -1)])
def test_share_outside(job, jobs):
    with pytest.raises(InputError, match=f"^--job={job} is not one of the --jobs={jobs} jobs; count from 1 to --jobs"):
        Share.parsed(Namespace(job=job, jobs=jobs))
    assert Share.parsed(Namespace(job=1, jobs=0)) is None


@pytest.fixture
def parts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").write_text("words")
    paths = [tmp_path / str(job) for job in (1, 2, 3)]
    for job in (1, 2, 3):
        make_part(paths, job)
    return paths


def make_part(paths, job, jobs=3, command="prepare", **options):
    args = Namespace(**{"job": job, "jobs": jobs, "nj": job, "out": "x", "scale": None, "inputs": ["in"]} | options)
    with new_part(paths[job - 1], command, Share(job, jobs), args, ["in", "gone"]) as (tmp, result):
        (tmp / "text").write_text(str(job))
        result["words"] = job


def test_read_parts(parts):
    read = read_parts(parts)
    assert [(part.share, part.result, part.command) for part in read] == [
        ((job, 3), {"words": job}, "prepare") for job in (1, 2, 3)]
    assert Namespace(**read[0].options) == Namespace(scale=None, inputs=["in"])
    assert list(read[0].inputs) == ["in"]


@pytest.mark.parametrize(("break_it", "said"), [
    (lambda parts: shutil.rmtree(parts[1]), "2: the output of this job is missing; run the command with --job=2 again"),
    (lambda parts: parts.pop(), "1: the part of --job=1 --jobs=3, not of job 1 of 2; give the outputs of all jobs, in"),
    (lambda parts: parts.reverse(), "3: the part of --job=3 --jobs=3, not of job 1 of 3; give the outputs of all jobs"),
    (lambda parts: make_part(parts, 2, jobs=4), "2: the part of --job=2 --jobs=4, not of job 2 of 3; give the "
     "outputs"),
    (lambda parts: make_part(parts, 3, scale="O=2"), "3/part.json: scale is O=2, but None in 1; run all jobs again"),
    (lambda parts: make_part(parts, 3, command="join"), "3: made by punc join, but 1 by punc prepare; run all jobs"),
    (lambda parts: (os.utime("in", (1, 1)), make_part(parts, 2)), "2/part.json: in was a different file in 1; run"),
    (lambda parts: os.utime("in", (1, 1)), "in: the file has changed since the jobs ran; run all jobs again"),
    (lambda parts: os.remove("in"), "in: no such file; "),
    (lambda parts: (parts[0] / "part.json").write_text("{}"), "1/part.json: not the output of a job; "
     "run the job again"),
    (lambda parts: (parts[0] / "part.json").write_text("1"), "1/part.json: not the output of a job; "
     "run the job again"),
])
def test_read_parts_that_do_not_fit(parts, break_it, said):
    parts = [path.relative_to(os.getcwd()) for path in parts]
    break_it(parts)
    with pytest.raises(InputError) as error:
        read_parts(parts)
    assert str(error.value).startswith(said)


def test_new_part_replaces_a_part_only(parts, tmp_path):
    make_part(parts, 1, scale="new")
    assert json.loads((parts[0] / "part.json").read_text())["options"]["scale"] == "new"
    assert sorted(file.name for file in parts[0].iterdir()) == ["part.json", "text"]
    (tmp_path / "own").mkdir()
    (tmp_path / "own/file").touch()
    with pytest.raises(InputError, match="own: this directory exists and was not written by a job; "
                                         "give a new directory for each job"):
        make_part([tmp_path / "own"], 1)
    assert (tmp_path / "own/file").exists()


@pytest.mark.parametrize(("old", "new"), [('"words": 1', '"words": "x"'), ('"scale"', '"scape"')])
def test_read_part_that_was_changed(parts, old, new):
    path = parts[0] / "part.json"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=r"part\.json: not the output of a job; run the job again"):
        read_parts(parts)


def make_parts(folder):
    paths = [folder / "1", folder / "2"]
    for job, path in enumerate(paths, 1):
        with new_part(path, "prepare", Share(job, 2), Namespace(), []) as (tmp, _):
            (tmp / "text").write_text("a\n")
            (tmp / "data").mkdir()
            (tmp / "data/ids").write_text("1")
    return paths


def killed_at(at, paths):
    """Join the parts in a child process. Kill the process before call number `at` (from 0) of unlink, rmdir, mkdir or
    utime. Return whether it was killed."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    made = 0

    def change(call):
        def changed(*arguments, **options):
            nonlocal made
            if made == at:
                os.kill(os.getpid(), signal.SIGKILL)
            made += 1
            return call(*arguments, **options)
        return changed

    try:
        with joining(paths):
            for name in ("unlink", "rmdir", "mkdir", "utime"):
                setattr(os, name, change(getattr(os, name)))
    finally:
        os._exit(0)


def test_finish_joining_after_a_kill_at_any_change(tmp_path):
    kills = finished = 0
    while killed_at(kills, make_parts(tmp_path / str(kills))):
        paths = [tmp_path / str(kills) / name for name in "12"]
        done = not any(file.name != ".lock" for path in paths for file in path.glob("*"))
        if not done and not finish_joining(paths):
            with joining(paths) as parts:  # no part has been removed
                assert [part.files() for part in parts] == [["data", "text"]] * 2
        finished += not done
        assert done or not any(path.exists() for path in paths)
        kills += 1
    assert finished > 10 > kills - finished


def test_finish_joining_not_if_a_part_was_made_again(tmp_path):
    paths = make_parts(tmp_path)
    for path in paths:
        (path / JOINED).touch()
    make_parts(tmp_path)
    (paths[1] / JOINED).touch()
    assert not finish_joining(paths)
    with pytest.raises(InputError, match="the output of this job is missing; run the command with --job=1 again"), \
            joining([tmp_path / "none", paths[1]]):
        pass


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


def refuse(number):
    raise InputError("wrong", "fix it", "file", number)


def test_map_ordered_input_error_keeps_file_and_line():
    with pytest.raises(InputError, match=r"^file:3: wrong; fix it$"):
        list(map_ordered(refuse, [3, 4], 2))


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
import test_jobs
from functools import partial
from punc.base.parallel import map_ordered
if __name__ == "__main__":
    function, folder = sys.argv[2:]
    list(map_ordered(partial(getattr(test_jobs, function), folder), test_jobs.TASKS[function](folder), 2))
"""


def parent_of(function, folder, script):
    """Return a command line that runs a function of this module on several tasks in two processes. Each call of the
    function gets `folder`, too."""
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
    """Write only the length of a result to the pool's pipe, like a worker that is killed while it writes."""
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
    "fail_first": lambda folder: ["", *(["x" * 10**6] * 5)],  # the waiting tasks do not fit into a pipe
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
