"""Joining: parts are removed when all is whole; after a kill at any moment of that, the same command can be run."""

import os
import signal
from argparse import Namespace

import pytest

from punc.base.errors import InputError
from punc.base.jobs import JOINED, Share, new_part
from punc.base.joining import concatenate, finish_joining, joining


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
