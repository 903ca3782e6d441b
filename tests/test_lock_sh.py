"""utils/lock.sh: one script at a time in a directory."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

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
def holder(tmp_path):
    with start(tmp_path / "exp", WAIT) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_lock_sh_second_script_is_told_who_holds_it(tmp_path, holder):
    message = f"run.sh: {tmp_path}/exp: process {holder.pid} on {socket.gethostname()} is writing here " \
        "(run.sh --stage 6); wait until it ends, or name another directory\n"
    assert outcome(tmp_path / "exp") == ("", message, 1)
    holder.communicate("\n", timeout=60)
    assert holder.returncode == 0
    assert not (tmp_path / "exp").exists()
    assert outcome(tmp_path / "exp") == ("held\n", "", 0)


def test_lock_sh_leaves_a_directory_that_was_there_or_has_files(tmp_path):
    (tmp_path / "old").mkdir()
    assert outcome(tmp_path / "old")[0] == outcome(tmp_path / "new", SCRIPT + 'touch "$1/file"')[0] == "held\n"
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == ["new", "new/file", "old"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_lock_sh_ends_with_its_script(tmp_path, holder, number):
    holder.send_signal(number)
    holder.wait()
    assert outcome(tmp_path / "exp") == ("held\n", "", 0)


def test_lock_sh_stays_while_a_command_of_a_killed_script_runs(tmp_path):
    with start(tmp_path, SCRIPT + "sh -c 'echo runs; cat'\n") as process:
        assert (process.stdout.readline(), process.stdout.readline()) == ("held\n", "runs\n")
        process.kill()
        assert "is writing here" in outcome(tmp_path)[1]
        process.stdin.close()
        process.stdout.read()  # cat has ended
    assert outcome(tmp_path)[0] == "held\n"


def test_lock_sh_file_removed_in_between_is_no_lock(tmp_path):
    """The last holder removes the file after this script has opened it: it takes the lock on a new file."""
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
        "", f"run.sh: {tmp_path}/file/exp: cannot be written; change its permissions, or name another directory\n", 1)
