"""Ctrl-C and SIGTERM end a program quickly and with one line of output, whatever the program is doing."""

import signal
import subprocess
import sys
import time

import pytest

from punc.base import stop
from punc.base.parallel import map_ordered

START = "import sys, time\nfrom punc.base import stop\nstop.watch('punc test')\n"
RAISES = START + """
try:
    print(flush=True)
    time.sleep(60)
except stop.Stopped as error:
    stop.say("punc test", error)
    stop.say("punc test", error)
    sys.exit(error.status)
"""
SWALLOWS = START + """
end = time.monotonic() + 60
while time.monotonic() < end:
    try:
        print(flush=True)
        time.sleep(60)
    except BaseException:
        pass
"""
IN_A_CALLBACK = START + """
class Slow:
    def __del__(self):
        print(flush=True)
        time.sleep(60)

try:
    slow = Slow()
    del slow
    time.sleep(60)
except stop.Stopped as error:
    stop.say("punc test", error)
    sys.exit(error.status)
"""
SLEEPS = """
import time
def sleep(seconds):
    time.sleep(seconds)
"""
POOL = START + """
sys.path.insert(0, sys.argv[1])
from sleeps import sleep
from punc.base.parallel import map_ordered
if __name__ == "__main__":
    print(flush=True)
    try:
        list(map_ordered(sleep, [60] * 4, 2))
    except stop.Stopped as error:
        stop.say("punc test", error)
        sys.exit(error.status)
"""


@pytest.fixture
def stopped(tmp_path):
    """Return a function that starts a program, sends it signals, and returns its messages, its status, and the
    seconds from the first signal to its end."""
    def stopped(program, *numbers, delay=0.0, before="env"):
        (tmp_path / "program.py").write_text(program)
        (tmp_path / "sleeps.py").write_text(SLEEPS)
        line = [*before.split(" "), sys.executable, str(tmp_path / "program.py"), str(tmp_path)]
        with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            time.sleep(delay)
            begin = time.monotonic()
            for number in numbers:
                process.send_signal(number)
                time.sleep(0.1)
            errors = process.communicate(timeout=60)[1]
        return errors, process.returncode, time.monotonic() - begin
    return stopped


@pytest.mark.parametrize(("number", "line", "status"), [(signal.SIGINT, "punc test: interrupted\n", 130),
                                                        (signal.SIGTERM, "punc test: terminated\n", 143)])
@pytest.mark.parametrize("program", [RAISES, SWALLOWS, IN_A_CALLBACK], ids=["raises", "swallows", "in a callback"])
def test_signal_ends_the_program_with_one_line(stopped, program, number, line, status):
    errors, code, seconds = stopped(program, number, number)
    assert (errors, code) == (line, status)
    assert seconds < 10  # s; a busy machine may take longer than the 2 s that tests/campaign allows


def test_signal_ends_the_program_while_workers_are_busy(stopped):
    """The workers are busy from the start: they import modules, then sleep."""
    errors, code, seconds = stopped(POOL, signal.SIGINT, delay=0.1)
    assert (errors, code) == ("punc test: interrupted\n", 130)
    assert seconds < 10


# Sends the signal as soon as the first worker exists, before the worker gets its task.
SPAWNS = POOL.replace("    print(flush=True)", """
    import os, signal
    from multiprocessing import util
    spawn = util.spawnv_passfds
    def spawn_and_signal(path, args, fds):
        process = spawn(path, args, fds)
        if "--multiprocessing-fork" in args:  # not for multiprocessing's resource tracker
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
        return process
    util.spawnv_passfds = spawn_and_signal
    print(flush=True)""")


def test_signal_while_a_worker_is_started(stopped):
    errors, code, seconds = stopped(SPAWNS)
    assert (errors, code) == ("punc test: interrupted\n", 130)
    assert seconds < 10


HOLDS = START + """
try:
    with stop.held():
        with stop.held():
            print(flush=True)
            time.sleep(0.3)
        print("whole", flush=True)
        time.sleep(0.3)
        sys.stderr.write("whole\\n")
except stop.Stopped as error:
    stop.say("punc test", error)
    sys.exit(error.status)
"""


def test_signal_waits_while_it_is_held(stopped):
    assert stopped(HOLDS, signal.SIGINT)[:2] == ("whole\npunc test: interrupted\n", 130)


def test_signal_that_the_caller_ignores_is_ignored(stopped):
    program = START + "print(flush=True)\ntime.sleep(0.5)\nprint('end')\n"
    shell = "import\tos,signal,sys;signal.signal(signal.SIGINT,signal.SIG_IGN);os.execv(sys.argv[1],sys.argv[1:])"
    errors, code, _ = stopped(program, signal.SIGINT, before=f"{sys.executable} -c {shell}")
    assert (errors, code) == ("", 0)


def fail_or_sleep(number):
    if number:
        time.sleep(60)
    raise ZeroDivisionError


def test_error_of_a_worker_does_not_wait_for_the_others():
    begin = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        list(map_ordered(fail_or_sleep, [0, 1, 1], 2))
    assert time.monotonic() - begin < 50


def test_stopped_says_which_signal():
    assert [(str(stop.Stopped(number)), stop.Stopped(number).status) for number in stop.SIGNALS] == [
        ("interrupted", 130), ("terminated", 143)]
