#!/usr/bin/env python3
"""Runs a command, or an array of jobs in parallel, on this machine, with the output in log files.

    run.pl [options] [JOB=first:last] LOG COMMAND [ARGUMENT ...]

    run.pl exp/log/train.log punc train ...
    run.pl --max-jobs-run 4 JOB=1:10 exp/log/make.JOB.log make.sh JOB '\\|' sort '>' out.JOB

Takes the same command lines as Kaldi's run.pl and writes the same log format, so slurm.pl or queue.pl can stand in
its place; hence also the name, although this is Python. Options that ask a scheduler for resources (--mem 4G,
--gpu 1, --num-threads 4, -l ...) are taken with their value and ignored.

Each argument goes to bash: without blanks as it is (so an escaped | or > works), with blanks in double quotes, or
in single quotes where it has double quotes in it. JOB, or another name before the =, is replaced in the command and
in LOG. The exit status is 0 if all jobs succeeded, else 1.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

TWO_VALUES = {"-pe"}  # GridEngine's -pe NAME SLOTS
NO_VALUE = {"-V"}
running = set()


def fail(message):
    print("run.pl:", message, file=sys.stderr)
    sys.exit(1)


def parse(arguments):
    """Options and the job range, in any order. Returns (jobs at once, job name or None, job numbers, the rest)."""
    at_once, name, numbers = os.cpu_count() or 1, None, [1]
    arguments = list(arguments)
    while arguments:
        job = re.fullmatch(r"([A-Za-z_]\w*)=(\d+)(?::(\d+))?", arguments[0])
        if job and name is None:
            name, first, last = job[1], int(job[2]), int(job[3] or job[2])
            if first < 1 or last < first:
                fail(f"no job range: {arguments[0]}; write {name}=FIRST:LAST, from 1")
            numbers = range(first, last + 1)
            del arguments[0]
        elif arguments[0].startswith("-"):
            option = arguments.pop(0)
            count = 2 if option in TWO_VALUES else 0 if option in NO_VALUE else 1
            values, arguments = arguments[:count], arguments[count:]
            if len(values) < count:
                fail(f"{option} needs a value")
            if option in ("--max-jobs-run", "-tc"):
                if not re.fullmatch("[1-9][0-9]*", values[0]):
                    fail(f"{option} needs a number of jobs, not {values[0]}")
                at_once = int(values[0])
        else:
            break
    return at_once, name, numbers, arguments


def quote(argument):
    if re.fullmatch(r"\S+", argument):
        return argument
    return f"'{argument}'" if '"' in argument else f'"{argument}"'


def now():
    return time.strftime("%a %b %e %H:%M:%S %Z %Y")


def run_job(command, log):
    """Run one job in a process group of its own. Returns its exit status as bash gives it."""
    start = time.time()
    with open(log, "ab", buffering=0) as output:
        output.write(os.fsencode(f"# {command}\n# Started at {now()}\n#\n"))
        # The command comes on stdin because one argument of exec cannot be longer than 128 KB.
        with subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=output, stderr=output,
                              start_new_session=True) as job:
            running.add(job)
            job.communicate(os.fsencode(f"( {command} )\n"))
            running.discard(job)
        seconds = round(time.time() - start)
        code = job.returncode if job.returncode >= 0 else 128 - job.returncode
        output.write(f"# Accounting: time={seconds} threads=1\n"
                     f"# Ended (code {code}) at {now()}, elapsed time {seconds} seconds\n".encode())
    return code


def stop(number, _frame):
    """Pass a signal on to the jobs; they are in other process groups, so that none outlives this program."""
    for job in list(running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, number)
    os._exit(128 + number)


def main(arguments):
    at_once, name, numbers, rest = parse(arguments)
    if len(rest) < 2:
        fail("usage: run.pl [options] [JOB=first:last] LOG COMMAND [ARGUMENT ...]")
    log, command = rest[0], " ".join(map(quote, rest[1:]))
    if len(numbers) > 1 and name not in log:
        fail(f"{len(numbers)} jobs would write one log, {log}; put {name} in its name")

    def of(text, number):
        return text.replace(name, str(number)) if name else text

    logs = [of(log, number) for number in numbers]
    try:
        for directory in {os.path.dirname(path) for path in logs} - {""}:
            os.makedirs(directory, exist_ok=True)
        for path in logs:
            open(path, "w").close()
    except OSError as error:
        fail(f"{error.filename}: cannot be written: {error.strerror}; name another log")

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    with ThreadPoolExecutor(at_once) as pool:
        codes = list(pool.map(run_job, [of(command, number) for number in numbers], logs))

    failed = sum(code != 0 for code in codes)
    if not failed:
        return 0
    if len(logs) == 1:
        print(f"run.pl: job failed, log is in {logs[0]}", file=sys.stderr)
        if "JOB" in logs[0]:
            print("run.pl: did you forget JOB=1:N before the log?", file=sys.stderr)
    else:
        print(f"run.pl: {failed} / {len(logs)} failed, log is in {of(log, '*')}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
