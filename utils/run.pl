#!/usr/bin/env python3
"""Runs a command, or an array of jobs in parallel, on this machine. Writes their output to log files.

    run.pl [options] [JOB=first:last] LOG COMMAND [ARGUMENT ...]

    run.pl exp/log/train.log punc train ...
    run.pl --max-jobs-run 4 JOB=1:10 exp/log/make.JOB.log make.sh JOB '\\|' sort '>' out.JOB

It has the command line and log format of Kaldi's run.pl, so slurm.pl or queue.pl can replace it. That is why it has
this name, although it is a Python script. Its options are

    --max-jobs-run N, -tc N   how many jobs run at a time (default: one per processor; with --gpu 1, one per GPU)
    --pick WHICH              which jobs of an earlier call to run again: all, failed (they failed or did not end), or
                              incomplete (they did not end). The others keep the exit status of the earlier call

All other options (--mem 4G, --num-threads 4, -l ...) ask a scheduler for resources; they and their values are ignored.

Arguments are passed to bash. An argument without spaces is not quoted, so an escaped | or > works. Other arguments are
put in double quotes, or in single quotes if they contain double quotes. JOB, or another name before the =, is replaced
by the job's number in the command and in LOG. The exit status is 0 if all jobs succeeded, otherwise 1.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from jobs import empty, fail, parse, report, run_job

running = set()


def jobs_at_once(options, jobs):
    """Return how many jobs run at a time if no option says so."""
    if options.get("--gpu", "0") not in ("", "0", "false"):
        with contextlib.suppress(OSError):
            run = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
            return max(1, sum(line.startswith("GPU") for line in run.stdout.splitlines()))
        return 1
    processors = os.cpu_count() or 1
    return max(1, jobs) if jobs < 1.4 * processors else processors  # as in Kaldi: a few extra jobs do not wait


def ended(log):
    """Return the exit status of a job of an earlier call, from its log; None if the job did not end."""
    try:
        with open(log, "rb") as file:
            endings = re.findall(rb"^# Ended \(code (\d+)(; signal \d+)?\)", file.read(), re.M)
    except OSError:
        return None
    return (1 if endings[-1][1] else int(endings[-1][0])) if endings else None


def picked(options, logs):
    """Return the indices of the jobs to run, and the exit status of each job in an earlier call, or None."""
    pick = options.get("--pick", "all")
    if pick not in ("all", "failed", "incomplete"):
        fail(f"--pick takes all, failed or incomplete, not '{pick}'")
    before = [None if pick == "all" else ended(log) for log in logs]
    again = [i for i, code in enumerate(before) if code is None or (code and pick == "failed")]
    return again, before


def stop(number, _frame):
    """Pass a signal on to the jobs, so that no job outlives this program.

    The jobs do not get the signal themselves, because they are in other process groups.
    """
    for job in list(running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, number)
    os._exit(128 + number)


def main(arguments):
    call = parse(arguments)
    options, logs = {option: values[0] for option, values in call.options if values}, call.logs()
    again, codes = picked(options, logs)
    empty([logs[i] for i in again])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)

    def run(i):
        codes[i] = run_job(call.of(call.command, call.numbers[i]), logs[i], running=running)

    with ThreadPoolExecutor(call.at_once or jobs_at_once(options, len(again))) as pool:
        list(pool.map(run, again))
    return report(call, codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
