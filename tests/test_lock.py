"""Locks of directories, in Python and utils/lock.sh: one holder at a time, and no lock that outlives its holder."""

import contextlib
import errno
import fcntl
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from punc.base import lock
from punc.base.errors import InputError
from punc.base.lock import lock_directory

HOLD = """
import sys, time
from punc.base.lock import lock_directory
with lock_directory(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    line = [sys.executable, "-c", HOLD, tmp_path / "exp", "two words"]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_lock_second_holder_is_refused(tmp_path, holder):
    message = f"{tmp_path}/exp: process {holder.pid} on {socket.gethostname()} is writing here " \
        f"(-c {tmp_path}/exp 'two words'); wait until it ends, or give another directory"
    before = (tmp_path / "exp/.lock").read_bytes()
    with pytest.raises(InputError) as error, lock_directory(tmp_path / "exp"):
        pass
    assert str(error.value) == message
    assert (tmp_path / "exp/.lock").read_bytes() == before


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_lock_of_killed_process_is_free(tmp_path, holder, number):
    holder.send_signal(number)
    holder.wait()
    assert (tmp_path / "exp/.lock").exists()
    with lock_directory(tmp_path / "exp"):
        assert (tmp_path / "exp/.lock").read_text().startswith(f"{socket.gethostname()} {os.getpid()} ")
        assert (tmp_path / "exp/.lock").read_text().count("\n") == 1
    assert list((tmp_path / "exp").iterdir()) == []  # this process did not make the directory, so it remains


def test_lock_does_not_pass_to_started_processes(tmp_path):
    with lock_directory(tmp_path):
        child = subprocess.Popen(["sleep", "60"])
    try:
        with lock_directory(tmp_path):
            pass
    finally:
        child.kill()
        child.wait()


def test_lock_unwritten_directories_are_removed(tmp_path):
    with lock_directory(tmp_path / "a/b/c"):
        assert (tmp_path / "a/b/c/.lock").is_file()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyError), lock_directory(tmp_path / "a/b/c"):
        raise KeyError
    assert list(tmp_path.iterdir()) == []
    with lock_directory(tmp_path / "a/b/c"):
        (tmp_path / "a/b/file").touch()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "file"]


def test_lock_before_its_content_is_written(tmp_path):
    with open(tmp_path / ".lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another process is writing here; wait"), lock_directory(tmp_path):
            pass


def test_lock_file_removed_between_open_and_lock_is_not_a_lock(tmp_path, monkeypatch):
    """The previous holder removes the file after this process has opened it. This process then locks a new file."""
    flock, calls = fcntl.flock, []

    def late(file, operation):
        calls.append(file)
        if len(calls) == 1:
            (tmp_path / ".lock").unlink()
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with lock_directory(tmp_path):
        assert len(calls) == 2
        with pytest.raises(InputError, match=f"process {os.getpid()} on "), lock_directory(tmp_path):
            pass


def test_lock_of_removed_directory_leaves_the_next_ones(tmp_path):
    """Another process replaces the directory and locks it. Releasing the first lock does not release the second one."""
    with lock_directory(tmp_path / "exp"):
        os.rename(tmp_path / "exp", tmp_path / "old")
        second = lock_directory(tmp_path / "exp")
        second.__enter__()
    with pytest.raises(InputError, match="is writing here"), lock_directory(tmp_path / "exp"):
        pass
    second.__exit__(None, None, None)


def test_lock_has_one_holder_of_many(tmp_path):
    inside, most, taken = [], [], []

    def work():
        for _ in range(200):
            with contextlib.suppress(InputError), lock_directory(tmp_path / "exp"):
                inside.append(1)
                most.append(len(inside))
                taken.append(1)
                inside.pop()

    with ThreadPoolExecutor(4) as pool:
        for result in [pool.submit(work) for _ in range(4)]:
            result.result()
    assert max(most) == 1
    assert taken
    assert not (tmp_path / "exp/.lock").exists()


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK])
def test_lock_file_system_without_locks_is_a_warning(tmp_path, capsys, monkeypatch, number):
    def flock(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    with lock_directory(tmp_path):
        pass
    assert capsys.readouterr().err == \
        f"{tmp_path}: locks do not work on this file system; do not start a second process here\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_lock_directory_that_cannot_be_written_is_an_input_error(tmp_path, monkeypatch, number):
    """The error is simulated, because tests may run as root, who may write everywhere."""
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(lock, "open", refuse, raising=False)
    with pytest.raises(InputError) as error, lock_directory(tmp_path / "exp"):
        pass
    assert str(error.value) == (f"{tmp_path}/exp: cannot be written: {os.strerror(number)}; "
                                "change its permissions, or give another directory")
    assert list(tmp_path.iterdir()) == []


LOCK = Path(__file__).parents[1] / "utils/lock.sh"
SCRIPT = f"""
set -euo pipefail
fail() {{ echo "$0: $*" >&2; exit 1; }}
. {LOCK}
lock_directory "$1" run.sh --stage 6
echo held
"""
WAIT = SCRIPT + "read -r _\n"


def start(directory, script=SCRIPT, **options):
    return subprocess.Popen(["bash", "-c", script, "run.sh", str(directory)], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def outcome(directory, script=SCRIPT, **options):
    process = start(directory, script, **options)
    out, err = process.communicate(timeout=60)
    return out, err, process.returncode


@pytest.fixture
def sh_holder(tmp_path):
    with start(tmp_path / "exp", WAIT) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_lock_sh_second_script_is_told_who_holds_it(tmp_path, sh_holder):
    message = f"run.sh: {tmp_path}/exp: process {sh_holder.pid} on {socket.gethostname()} is writing here " \
        "(run.sh --stage 6); wait until it ends, or give another directory\n"
    assert outcome(tmp_path / "exp") == ("", message, 1)
    sh_holder.communicate("\n", timeout=60)
    assert sh_holder.returncode == 0
    assert not (tmp_path / "exp").exists()
    assert outcome(tmp_path / "exp") == ("held\n", "", 0)


def test_lock_sh_leaves_a_directory_that_was_there_or_has_files(tmp_path):
    (tmp_path / "old").mkdir()
    assert outcome(tmp_path / "old")[0] == outcome(tmp_path / "new", SCRIPT + 'touch "$1/file"')[0] == "held\n"
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == ["new", "new/file", "old"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_lock_sh_ends_with_its_script(tmp_path, sh_holder, number):
    sh_holder.send_signal(number)
    sh_holder.wait()
    assert outcome(tmp_path / "exp") == ("held\n", "", 0)


def test_lock_sh_stays_while_a_command_of_a_killed_script_runs(tmp_path):
    with start(tmp_path, SCRIPT + "sh -c 'echo runs; cat'\n") as process:
        assert (process.stdout.readline(), process.stdout.readline()) == ("held\n", "runs\n")
        process.kill()
        assert "is writing here" in outcome(tmp_path)[1]
        process.stdin.close()
        process.stdout.read()  # returns when cat has ended
    assert outcome(tmp_path)[0] == "held\n"


def test_lock_sh_file_removed_in_between_is_not_a_lock(tmp_path):
    """The previous holder removes the file after this script has opened it. The script then locks a new file."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/flock").write_text(
        f'#!/bin/sh\n[ -e {tmp_path}/done ] || rm {tmp_path}/exp/.run.lock\ntouch {tmp_path}/done\n'
        'PATH=/usr/bin:/bin exec flock "$@"\n')
    (tmp_path / "bin/flock").chmod(0o755)
    with start(tmp_path / "exp", WAIT, env=os.environ | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}) as process:
        assert process.stdout.readline() == "held\n"
        assert "is writing here" in outcome(tmp_path / "exp")[1]
        process.communicate("\n", timeout=60)


def test_lock_sh_without_locks_is_a_warning(tmp_path):
    (tmp_path / "flock").write_text("#!/bin/sh\nexit 71\n")
    (tmp_path / "flock").chmod(0o755)
    out, err, status = outcome(tmp_path / "exp", env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert (out, status) == ("held\n", 0)
    assert err == f"run.sh: warning: {tmp_path}/exp: no locks here; do not start a second run\n"


def test_lock_sh_directory_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    assert outcome(tmp_path / "file/exp") == (
        "", f"run.sh: {tmp_path}/file/exp: cannot be written; change its permissions, or give another directory\n", 1)


def test_lock_of_a_file_is_an_error(tmp_path):
    (tmp_path / "exp").touch()
    with pytest.raises(FileExistsError), lock_directory(tmp_path / "exp"):
        pass
    assert (tmp_path / "exp").is_file()
