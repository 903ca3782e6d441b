"""Files: errors tell the user what to do, and a file or directory is written completely or not at all."""

import contextlib
import errno
import fcntl
import os
import stat
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest

from punc.base.errors import InputError
from punc.base.files import atomic_dir, atomic_file, decode_line, is_unfinished, open_input, unchanged


class Stop(Exception):
    pass


def interrupted(write):
    write("half")
    raise Stop


def test_open_input(tmp_path):
    (tmp_path / "file").write_bytes(b"\xff\n")
    with open_input(tmp_path / "file") as file:
        assert file.read() == b"\xff\n"
    for name, what in (("missing", "no such file"), (".", "this is a directory"), ("file/x", "not readable"),
                       ("x" * 5000, "not readable"), ("a\0b", "not readable")):
        with pytest.raises(InputError) as error, open_input(tmp_path / name):
            pass
        assert error.value.what.startswith(what)
        assert str(tmp_path) in str(error.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_open_input_without_permission(tmp_path):
    (tmp_path / "file").touch(mode=0)
    with pytest.raises(InputError, match="check the name and its permissions"), open_input(tmp_path / "file"):
        pass


def test_decode_line():
    assert decode_line("a ä\u3000\u0085b \n".encode(), "f", 1) == "a ä\u3000\u0085b "
    assert decode_line(b"no end", "f", 1) == "no end"
    for line, message in ((b"a\r\n", "f:7: the line has a carriage return; convert the line ends: sed -i 's/\\r//g'"),
                          (b"a\0b\n", "f:7: a NUL byte; "), (b"a\0\r\0\n", "f:7: a NUL byte; "),
                          (b"ab\xe4\n", "f:7: byte 3 is not UTF-8; "),
                          (b"\xed\xa0\x80\n", "f:7: byte 1 is not UTF-8; ")):
        with pytest.raises(InputError) as error:
            decode_line(line, "f", 7)
        assert str(error.value).startswith(message)


def listing(path):
    return {str(file.relative_to(path)): file.read_text() for file in path.rglob("*") if file.is_file()}


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="this system has no /dev/shm")
def test_atomic_file_in_shared_memory_is_not_a_device():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder, "a")
        path.write_text("old")
        with contextlib.suppress(ValueError), atomic_file(path) as file:
            file.write("new")
            raise ValueError
        assert path.read_text() == "old"


def test_atomic_file(tmp_path):
    path = tmp_path / "new/f"
    with atomic_file(path) as file:
        file.write("ä\n")
        assert not path.exists()
    assert path.read_bytes() == "ä\n".encode()
    with pytest.raises(Stop), atomic_file(path) as file:
        interrupted(file.write)
    assert listing(tmp_path) == {"new/f": "ä\n"}
    with atomic_file(path, "wb") as file:
        file.write(b"\xff")
    assert path.read_bytes() == b"\xff"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


def test_atomic_dir(tmp_path):
    path = tmp_path / "new/d"
    with atomic_dir(path, "a") as tmp:
        (tmp / "a").write_text("1")
        (tmp / "sub").mkdir()
        (tmp / "sub/b").write_text("1")
        (tmp / "empty").mkdir()
        assert not (path / "a").exists()
    assert listing(tmp_path) == {"new/d/a": "1", "new/d/sub/b": "1"}
    assert (path / "empty").is_dir()
    (path / "mine").write_text("kept")
    with atomic_dir(path, "a") as tmp:
        (tmp / "a").write_text("2")
    with pytest.raises(Stop), atomic_dir(path, "a") as tmp:
        interrupted((tmp / "a").write_text)
    assert listing(tmp_path) == {"new/d/a": "2", "new/d/sub/b": "1", "new/d/mine": "kept"}
    assert [p.name for p in path.parent.iterdir()] == ["d"]


def test_atomic_dir_removes_stale_files_and_their_directories(tmp_path):
    for name in ("key", "old", "mine", "x/s", "y/s", "y/mine"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    with atomic_dir(tmp_path, "key", ["old", "*/s", "none"]) as tmp:
        (tmp / "key").write_text("2")
    assert listing(tmp_path) == {"key": "2", "mine": "1", "y/mine": "1"}
    assert not (tmp_path / "x").exists()


def test_atomic_dir_after_an_error_removes_what_it_has_made(tmp_path):
    with pytest.raises(Stop), atomic_dir(tmp_path / "a/b", "key"):
        raise Stop
    assert list(tmp_path.iterdir()) == []


def test_atomic_dir_in_a_link_to_another_place(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "d").symlink_to("disk")
    with atomic_dir(tmp_path / "d", "key") as tmp:
        (tmp / "key").write_text("1")
    assert (tmp_path / "d").is_symlink()
    assert listing(tmp_path / "disk") == {"key": "1"}


def test_atomic_dir_has_one_writer(tmp_path):
    with atomic_dir(tmp_path, "key") as tmp:
        (tmp / "key").write_text("1")
        with pytest.raises(InputError, match=f"process {os.getpid()} on "), atomic_dir(tmp_path, "key"):
            pass
    assert listing(tmp_path) == {"key": "1"}


def test_atomic_dir_directory_in_the_place_of_a_file(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "key").write_text("1")
    writing = atomic_dir(tmp_path, "key")
    tmp = writing.__enter__()
    (tmp / "b").touch()
    (tmp / "key").write_text("2")
    with pytest.raises(InputError, match="b: this is a directory, not a file"):
        writing.__exit__(None, None, None)
    assert listing(tmp_path) == {"key": "1"}


def test_atomic_dir_error_while_files_move_leaves_an_unfinished_directory(tmp_path, monkeypatch):
    """The key file is missing, as after a kill, and the directory is marked as unfinished."""
    (tmp_path / "key").write_text("1")
    (tmp_path / "mine").write_text("kept")
    writing = atomic_dir(tmp_path, "key")
    (writing.__enter__() / "key").write_text("2")

    def replace(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(OSError, match="Input/output error"):
        writing.__exit__(None, None, None)
    monkeypatch.undo()
    assert not (tmp_path / "key").exists()
    assert is_unfinished(tmp_path)
    with atomic_dir(tmp_path, "key") as tmp:
        (tmp / "key").write_text("3")
    assert listing(tmp_path) == {"key": "3", "mine": "kept"}


CHANGES = ("replace", "rename", "unlink", "rmdir", "mkdir")
NAMES = ("key", "a", "b", "sub/c", "old")


class Killed(BaseException):
    """Simulates a kill at a call that changes a directory. As after a real kill, no file may change afterwards."""


def test_atomic_dir_killed_at_any_change_is_old_or_new_or_has_no_key(tmp_path, monkeypatch):
    """After a kill, a directory never mixes files of two versions, and only a complete directory has the key file."""
    at, seen = 0, set()
    calls = {name: getattr(os, name) for name in CHANGES}
    while True:
        path, left = tmp_path / str(at), at
        for name in NAMES:
            (path / name).parent.mkdir(exist_ok=True, parents=True)
            (path / name).write_text("old")

        def change(*arguments, call, **options):
            nonlocal left
            left -= 1
            if left < 0:  # raised at every later change, too, because exception handlers would not run after a kill
                raise Killed
            return call(*arguments, **options)

        for name, call in calls.items():
            monkeypatch.setattr(os, name, partial(change, call=call))
        try:
            with atomic_dir(path, "key", ["old"]) as tmp:
                for name in NAMES[:-1]:
                    (tmp / name).parent.mkdir(exist_ok=True)
                    (tmp / name).write_text("new")
        except Killed:
            pass
        monkeypatch.undo()
        found = {name: content for name, content in listing(path).items() if name in NAMES}
        assert len(set(found.values())) <= 1, (at, found)
        if "key" in found:
            assert found in (dict.fromkeys(NAMES, "old"), dict.fromkeys(NAMES[:-1], "new")), (at, found)
        seen.add((found.get("key"), len(found)))
        if left >= 0:
            break
        at += 1
    assert {("old", 5), (None, 0), (None, 3), ("new", 4)} <= seen
    assert at > 10


def test_unchanged(tmp_path):
    key = tmp_path / "key"
    key.write_text("1")
    with unchanged(key):
        key.read_text()
    for change in (key.unlink, lambda: key.write_text("2"), lambda: (key.unlink(), key.write_text("2"))):
        with pytest.raises(InputError, match="key: another process has replaced it; run the command again"), \
                unchanged(key):
            change()


def test_is_unfinished(tmp_path):
    assert is_unfinished(tmp_path / "none")
    assert is_unfinished(tmp_path)
    (tmp_path / ".lock").touch()
    assert is_unfinished(tmp_path)
    (tmp_path / "file").touch()
    assert not is_unfinished(tmp_path)
    (tmp_path / ".new").mkdir()
    assert is_unfinished(tmp_path)
    assert not is_unfinished(tmp_path / "file")


def test_atomic_in_the_current_directory(tmp_path, monkeypatch):
    (tmp_path / "d").mkdir()
    monkeypatch.chdir(tmp_path / "d")
    for here in (".", "../d/"):
        with atomic_dir(here, "a") as tmp:
            (tmp / "a").write_text(here)
        with atomic_file("f") as file:
            file.write("x")
        assert listing(tmp_path) == {"d/a": here, "d/f": "x"}


def test_atomic_dir_over_a_file(tmp_path):
    (tmp_path / "f").write_text("mine")
    with pytest.raises(InputError, match="this is a file; give a directory"), atomic_dir(tmp_path / "f", "a"):
        pass
    assert listing(tmp_path) == {"f": "mine"}


WRITE = """
import sys, time
from punc.base.files import atomic_dir, atomic_file
with atomic_file(sys.argv[1] + "/f") as file, atomic_dir(sys.argv[1] + "/d", "a") as tmp:
    file.write("half")
    file.flush()
    (tmp / "b").touch()
    print("half", flush=True)
    time.sleep(60)
"""


def test_atomic_removes_leftovers_of_killed_processes_only(tmp_path):
    """A temporary file is a leftover if no process holds its lock, even if another machine wrote the file."""
    with subprocess.Popen([sys.executable, "-c", WRITE, tmp_path], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"half\n"
        names = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
        assert {"d/.lock", "d/.new/b"} < names
        with atomic_file(tmp_path / "f") as file:  # the other process is running, so its file stays
            file.write("whole")
        assert len(list(tmp_path.glob(".f.*.tmp"))) == 1
        process.kill()
        process.wait()
    (tmp_path / ".other.12345678.tmp").touch()  # a leftover of another file
    (tmp_path / ".f.12345678.tmp").touch()
    with atomic_file(tmp_path / "f") as file:
        file.write("again")
    with atomic_dir(tmp_path / "d", "a") as tmp:
        (tmp / "a").write_text("1")
    assert listing(tmp_path) == {"f": "again", "d/a": "1", ".other.12345678.tmp": ""}


def test_atomic_file_leftover_that_goes_meanwhile(tmp_path, monkeypatch):
    (tmp_path / ".f.12345678.tmp").touch()
    flock = fcntl.flock

    def other_is_faster(file, operation):
        (tmp_path / ".f.12345678.tmp").unlink(missing_ok=True)
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", other_is_faster)
    with atomic_file(tmp_path / "f") as file:
        file.write("whole")
    assert listing(tmp_path) == {"f": "whole"}


def test_atomic_file_removed_before_it_is_locked(tmp_path, monkeypatch):
    """If another process takes the new file for a leftover and removes it, this process makes another one."""
    flock, removed = fcntl.flock, []

    def other_is_faster(file, operation):
        if not removed:
            removed.append([path.unlink() for path in tmp_path.glob(".f.*.tmp")])
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", other_is_faster)
    with atomic_file(tmp_path / "f") as file:
        file.write("whole")
    assert listing(tmp_path) == {"f": "whole"}
    assert removed == [[None]]


def fails(error):
    """Fail like torch.save, which continues after a failed write and then raises a different error."""
    try:
        raise OSError(errno.ENOSPC, "No space left on device")
    except OSError:
        if error:
            raise error  # noqa: B904
        raise


@pytest.mark.parametrize("error", [None, RuntimeError("unexpected pos 704 vs 598")])
def test_full_disk_is_named(tmp_path, error):
    for write in (atomic_file(tmp_path / "f"), atomic_dir(tmp_path / "f", "a")):
        with pytest.raises(OSError, match="No space left") as raised, write:
            fails(error)
        assert raised.value.filename == f"{tmp_path}/f"
    with pytest.raises(RuntimeError, match="other"), atomic_file(tmp_path / "f"):
        raise RuntimeError("other")
