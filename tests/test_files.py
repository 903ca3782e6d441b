"""Files: errors a user can act on; written whole or not at all."""

import os
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from punc.base.errors import InputError
from punc.base.files import atomic_dir, atomic_file, decode_line, open_input, read_blocks, read_lines


class Stop(Exception):
    pass


def interrupted(write):
    """Call `write` in a block, then leave that by an error."""
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


def test_open_input_error_of_the_block_passes_through(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileNotFoundError), open_input(tmp_path / "file"):
        raise FileNotFoundError


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_open_input_without_permission(tmp_path):
    (tmp_path / "file").touch(mode=0)
    with pytest.raises(InputError, match="check the name and its permissions"), open_input(tmp_path / "file"):
        pass


def test_decode_line():
    assert decode_line("a ä\u3000\u0085b \n".encode(), "f", 1) == "a ä\u3000\u0085b "
    assert decode_line(b"no end", "f", 1) == "no end"
    for line, message in ((b"a\r\n", "f:7: a carriage return; convert the line ends: sed -i 's/\\r//g'"),
                          (b"a\0b\n", "f:7: a NUL byte; "), (b"ab\xe4\n", "f:7: byte 3 is not UTF-8; "),
                          (b"\xed\xa0\x80\n", "f:7: byte 1 is not UTF-8; ")):
        with pytest.raises(InputError) as error:
            decode_line(line, "f", 7)
        assert str(error.value).startswith(message)


def test_read_blocks(tmp_path):
    (tmp_path / "f").write_bytes(b"abcdefg")
    assert list(read_blocks(tmp_path / "f", 3)) == [b"abc", b"def", b"g"]
    (tmp_path / "f").write_bytes(b"")
    assert list(read_blocks(tmp_path / "f")) == []
    with pytest.raises(InputError, match="no such file"):
        list(read_blocks(tmp_path / "none"))


def test_read_lines(tmp_path):
    (tmp_path / "f").write_text("# no\n\n  a b  \n\t\n#no\nc # d")
    assert list(read_lines(tmp_path / "f")) == [(3, "a b"), (6, "c # d")]


def listing(path):
    return {str(file.relative_to(path)): file.read_text() for file in path.rglob("*") if file.is_file()}


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


def test_atomic_file_current_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with atomic_file("f") as file:
        file.write("x")
    assert listing(tmp_path) == {"f": "x"}


def test_atomic_dir(tmp_path):
    path = tmp_path / "new/d"
    with atomic_dir(path) as tmp:
        (tmp / "a").write_text("1")
        (tmp / "sub").mkdir()
        (tmp / "sub/b").write_text("1")
        assert not path.exists()
    assert listing(tmp_path) == {"new/d/a": "1", "new/d/sub/b": "1"}
    (path / "mine").write_text("kept")
    with atomic_dir(path) as tmp:
        (tmp / "a").write_text("2")
    with pytest.raises(Stop), atomic_dir(path) as tmp:
        interrupted((tmp / "a").write_text)
    assert listing(tmp_path) == {"new/d/a": "2", "new/d/sub/b": "1", "new/d/mine": "kept"}
    assert [p.name for p in path.parent.iterdir()] == ["d"]


def test_atomic_dir_current_directory(tmp_path, monkeypatch):
    (tmp_path / "d").mkdir()
    monkeypatch.chdir(tmp_path / "d")
    for here in (".", "../d/"):
        with atomic_dir(here) as tmp:
            (tmp / "a").write_text(here)
        assert listing(tmp_path) == {"d/a": here}


def test_atomic_dir_over_a_file(tmp_path):
    (tmp_path / "f").write_text("mine")
    with pytest.raises(InputError, match="this is a file; name a directory"), atomic_dir(tmp_path / "f"):
        pass
    assert listing(tmp_path) == {"f": "mine"}


def test_atomic_removes_leftovers_of_killed_processes(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    host = socket.gethostname()
    file, folder = tmp_path / f".f.{dead.pid}@{host}.tmp", tmp_path / f".d.{dead.pid}@{host}.tmp"
    kept = [tmp_path / f".f.{os.getppid()}@{host}.tmp", tmp_path / f".f.{dead.pid}@elsewhere.tmp",
            tmp_path / f".other.{dead.pid}@{host}.tmp"]
    for path in (file, *kept):
        path.write_text("half")
    (folder / "inside").mkdir(parents=True)
    with atomic_file(tmp_path / "f") as out:
        out.write("whole")
    with atomic_dir(tmp_path / "d"):
        pass
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "d", tmp_path / "f", *kept])


def test_atomic_removes_leftovers_of_zombies(tmp_path):
    child = subprocess.Popen(["sleep", "60"])
    left = tmp_path / f".f.{child.pid}@{socket.gethostname()}.tmp"
    left.touch()
    with atomic_file(tmp_path / "f"):
        pass
    assert left.exists()  # it is still at work
    child.kill()
    while Path(f"/proc/{child.pid}/stat").exists() and b") Z" not in Path(f"/proc/{child.pid}/stat").read_bytes():
        time.sleep(0.01)
    with atomic_file(tmp_path / "f"):
        pass
    assert not left.exists() or not Path("/proc/self/stat").exists()
    child.wait()
