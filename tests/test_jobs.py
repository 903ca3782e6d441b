"""Jobs: shares in order, equal in size, streams whole; parts that fit together; joining them, killed at any moment."""

import json
import os
import shutil
import signal
from argparse import Namespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punc.base.errors import InputError
from punc.base.jobs import JOINED, Share, concatenate, finish_joining, joining, new_part, read_parts


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
    with pytest.raises(InputError, match=f"^--job={job} is not one of --jobs={jobs} jobs; count from 1 to --jobs"):
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
    with new_part(paths[job - 1], command, Share(job, jobs), args, "out", ["in", "gone"]) as (tmp, result):
        (tmp / "text").write_text(str(job))
        result["words"] = job


def test_read_parts(parts):
    read = read_parts(parts)
    assert [(part.share, part.result, part.command) for part in read] == [
        ((job, 3), {"words": job}, "prepare") for job in (1, 2, 3)]
    assert read[0].parsed() == Namespace(scale=None, inputs=["in"])
    assert list(read[0].inputs) == ["in"]


@pytest.mark.parametrize(("break_it", "said"), [
    (lambda parts: shutil.rmtree(parts[1]), "2: no such part; run the command with --job=2 again"),
    (lambda parts: parts.pop(), "1: the part of --job=1 --jobs=3, not of 1 of 2 jobs; name the parts of all jobs, in"),
    (lambda parts: parts.reverse(), "3: the part of --job=3 --jobs=3, not of 1 of 3 jobs; name the parts of all jobs"),
    (lambda parts: make_part(parts, 2, jobs=4), "2: the part of --job=2 --jobs=4, not of 2 of 3 jobs; name the parts"),
    (lambda parts: make_part(parts, 3, scale="O=2"), "3/part.json: scale is O=2, but None in 1; run all jobs again"),
    (lambda parts: make_part(parts, 3, command="join"), "3: made by punc join, but 1 by punc prepare; run all jobs"),
    (lambda parts: (os.utime("in", (1, 1)), make_part(parts, 2)), "2/part.json: in was another file than in 1; run"),
    (lambda parts: os.utime("in", (1, 1)), "in: changed since the parts were made; run all jobs again"),
    (lambda parts: os.remove("in"), "in: no such file; "),
    (lambda parts: (parts[0] / "part.json").write_text("{}"), "1/part.json: not a part; run the job again"),
    (lambda parts: (parts[0] / "part.json").write_text("1"), "1/part.json: not a part; run the job again"),
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
    with pytest.raises(InputError, match="own: the directory is not a part; name a new directory for each job"):
        make_part([tmp_path / "own"], 1)
    assert (tmp_path / "own/file").exists()


def test_new_part_of_a_job_that_fails_is_none(parts):
    with pytest.raises(ZeroDivisionError), new_part(parts[1], "prepare", Share(2, 3), Namespace(), "out", []):
        raise ZeroDivisionError
    with pytest.raises(InputError, match="no such part"):
        read_parts(parts)


@pytest.mark.parametrize(("old", "new"), [('"words": 1', '"words": "x"'), ('"scale"', '"scape"')])
def test_read_part_that_was_changed(parts, old, new):
    path = parts[0] / "part.json"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=r"part\.json: not a part; run the job again"):
        read_parts(parts)


def make_parts(folder):
    paths = [folder / "1", folder / "2"]
    for job, path in enumerate(paths, 1):
        with new_part(path, "prepare", Share(job, 2), Namespace(), "out", []) as (tmp, _):
            (tmp / "text").write_text("a\n")
            (tmp / "data").mkdir()
            (tmp / "data/ids").write_text("1")
    return paths


def killed_at(at, paths):
    """Join the parts in a process that is killed before change number `at` once they are joined; whether it was."""
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
            with joining(paths) as parts:  # none was removed
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
    with pytest.raises(InputError, match="no such part; run the command with --job=1 again"), \
            joining([tmp_path / "none", paths[1]]):
        pass


def test_concatenate(tmp_path):
    (tmp_path / "a").write_bytes(b"1\n")
    (tmp_path / "b").write_bytes(b"")
    concatenate([tmp_path / "a", tmp_path / "b", tmp_path / "a"], tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == b"1\n1\n"
