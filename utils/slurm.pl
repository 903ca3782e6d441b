#!/usr/bin/env python3
"""Runs a command, or an array of jobs, under Slurm, and waits until they end. Writes their output to log files.

    slurm.pl [options] [JOB=first:last] LOG COMMAND [ARGUMENT ...]

    slurm.pl --mem 8G --time 24:00:00 exp/log/train.log punc train ...
    slurm.pl --num-threads 4 --max-jobs-run 20 JOB=1:100 exp/log/make.JOB.log make.sh JOB

It has the same command line and logs as run.pl. The jobs run in the current directory, and first source its path.sh if
there is one. A configuration file, conf/slurm.conf or the FILE of --config, says how to translate options that ask for
resources to options of sbatch. It has the format of Kaldi's slurm.pl:

    command sbatch --export=PATH       # the command that submits
    option mem=* --mem-per-cpu $0      # --mem 8G becomes --mem-per-cpu 8G
    option mem=0                       # --mem 0 becomes nothing
    default gpu=0                      # without --gpu: --gpu 0

Without a file, the DEFAULTS in slurm_conf.py apply. An option that is not in the file is an error, except
--max-jobs-run N. Options with one dash (-p queue) are passed to sbatch unchanged.

The directory q/ next to the logs has the submitted script (.sh) and Slurm's own messages about the jobs (.log). A job
that Slurm ends (time, memory, scancel, a lost node) counts as failed, and is reported. If Slurm starts a job again,
this program waits for it. If a signal stops this program, it cancels its jobs. The exit status is 0 if all jobs
succeeded, otherwise 1.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from jobs import PROGRAM, empty, fail, parse, report, run_job, writing
from slurm_conf import sbatch_options

UNKNOWN = "no longer known"
ENDED = {"COMPLETED", "FAILED", UNKNOWN}
KILLED = {"BOOT_FAIL", "CANCELLED", "DEADLINE", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"}
GRACE = 60  # s; by then, the file of a finished job must be visible here, although network file systems are slow
LOOK = (0.1, 3)  # s between checks for finished jobs, at the beginning and later
ASK = (1, 30)  # s; limits for the time between two queries to Slurm, which is a quarter of the time waited so far

JOB_SCRIPT = """\
#!/bin/bash
# Submitted with: {submit}
cd {directory} || exit 1
if [ -f path.sh ]; then . ./path.sh; fi
exec {program} --run-job {description} "${{SLURM_ARRAY_TASK_ID:-1}}"
"""


def queue_place(call):
    """Return the directory and the name of Slurm's files, as in Kaldi: exp/q and a for the log exp/log/a.JOB.log."""
    directory, name = os.path.split(call.log)
    while call.name and call.name in directory:
        directory = os.path.dirname(directory)
    if call.name:
        name = re.sub(rf"\.?{call.name}", "", name)
    above, last = os.path.split(directory)
    return os.path.join(above if last in ("log", "LOG") else directory, "q"), name.removesuffix(".log") or "job"


def write_script(call, submit, threads, queue, name):
    """Write the script that the jobs run. Return its path, and the directory to which jobs write exit statuses."""
    script, description = (os.path.abspath(os.path.join(queue, name + end)) for end in (".sh", ".json"))
    with writing():
        os.makedirs(queue, exist_ok=True)
        done = tempfile.mkdtemp(prefix="done.", dir=os.path.abspath(queue))
        with open(description, "w") as file:
            json.dump({"command": call.command, "log": call.log, "name": call.name, "threads": threads, "done": done},
                      file, indent=1)
        with open(script, "w") as file:
            file.write(JOB_SCRIPT.format(submit=one_line(shlex.join(submit)), directory=shlex.quote(os.getcwd()),
                                         program=shlex.quote(os.path.realpath(__file__)),
                                         description=shlex.quote(description)))
    return script, done


def as_pattern(path):
    """Escape a path for --output, in which Slurm replaces patterns such as %j unless there is a backslash."""
    return path.replace("\\", "\\\\") if "\\" in path else path.replace("%", "%%")


def one_line(text):
    """Replace line ends in the text of a comment, because they would end the comment."""
    return re.sub(r"[\x00-\x1f\x7f]", "?", text)


def run_one(description, number):
    """Run a job on its node: run the command, and write its exit status to a file."""
    with open(description) as file:
        what = json.load(file)
    name = what["name"]
    command, log = (what[key].replace(name, number) if name else what[key] for key in ("command", "log"))
    job = f"{os.environ['SLURM_ARRAY_JOB_ID']}_{number}" if name else os.environ["SLURM_JOB_ID"]
    # Keep the log: Slurm may have started this job before, on a node that was lost; a training then continues.
    signal.signal(signal.SIGTERM, lambda *_: None)  # Slurm also sends it to the command, whose end must be reported
    # The command is not in a separate process group, because Slurm must find all processes.
    code = run_job(command, log, what["threads"], f"Running on {os.uname().nodename}, Slurm's job {job}")
    path = os.path.join(what["done"], number)
    with open(path + ".new", "w") as file:
        file.write(str(code))
    os.rename(path + ".new", path)
    return code


def submit(command):
    """Submit a job. Return its number. End the program if Slurm refuses."""
    try:
        said = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except OSError as error:
        fail(f"{command[0]}: {error.strerror}; is this a machine that can submit to Slurm?")
    job = re.search(r"Submitted batch job (\d+)", said.stdout)
    if said.returncode or not job:
        fail(f"not submitted: {' '.join((said.stderr + said.stdout).split())}; the command was {shlex.join(command)}")
    return job[1]


def states(job):
    """Return the states of a job's tasks, {number: state}, without tasks that Slurm has forgotten.

    Return None if Slurm does not answer.
    """
    said = subprocess.run(["squeue", "--noheader", "--array", "--states=all", "--format=%K %T", f"--jobs={job}"],
                          capture_output=True, text=True, check=False)
    if said.returncode:
        return {} if "Invalid job id" in said.stderr else None
    rows = [line.split() for line in said.stdout.splitlines()]
    return {int(number) if number.isdigit() else 1: state for number, state in rows}


def left_in(done):
    """Return the exit statuses that jobs have written so far, {number: status}."""
    found = {}
    for name in os.listdir(done):
        if name.isdigit():
            with open(os.path.join(done, name)) as file:
                found[int(name)] = int(file.read())
    return found


def remove(done):
    """Remove the directory of exit statuses, even if cancelled jobs are still writing theirs."""
    gone = done + ".gone"
    with contextlib.suppress(FileNotFoundError):  # a signal interrupted an earlier call
        os.rename(done, gone)  # so that jobs can no longer write into `done`
    shutil.rmtree(gone, ignore_errors=True)


def settled(state, left, late):
    """Return a job's exit status, and the reason if Slurm ended it. Return None if the job has not ended."""
    if state in KILLED:
        return left or 1, state
    if left is not None and state in ENDED:
        return left, None
    if state == "FAILED" or (late and state in ENDED):
        return 1, f"{state}, without an exit status"
    return None


def wait(job, numbers, done):
    """Wait for all jobs. Return {number: exit status}, and {number: reason} for jobs that Slurm ended.

    Ask Slurm about jobs that have written no exit status, and about jobs whose exit status says that they were killed,
    because Slurm may have killed them.
    """
    codes, reasons, silent_since = {}, {}, {}
    start = asked = time.monotonic()
    pause = LOOK[0]
    while True:
        left, now = left_in(done), time.monotonic()
        codes |= {number: code for number, code in left.items() if code < 128}
        waiting = [number for number in numbers if number not in codes]
        if not waiting:
            return codes, reasons
        if now - asked > min(ASK[1], max(ASK[0], (now - start) / 4)):
            asked, said = now, states(job)
            for number in waiting if said is not None else ():
                state = said.get(number, UNKNOWN)
                silent_since[number] = silent_since.get(number, now) if state in ENDED else now
                end = settled(state, left.get(number), now - silent_since[number] > GRACE)
                if end:
                    codes[number] = end[0]
                    reasons |= {number: end[1]} if end[1] else {}
        time.sleep(pause)
        pause = min(LOOK[1], 1.2 * pause)


def main(arguments):
    if arguments[:1] == ["--run-job"]:
        return run_one(*arguments[1:])
    call = parse(arguments)
    command, threads = sbatch_options(call)
    queue, name = queue_place(call)
    queue_log = os.path.join(queue, f"{name}.log")
    command += ["--open-mode=append", f"--job-name={name}", f"--output={as_pattern(os.path.abspath(queue_log))}"]
    if call.name:
        limit = f"%{call.at_once}" if call.at_once else ""
        command.append(f"--array={call.numbers[0]}-{call.numbers[-1]}{limit}")
    empty([*call.logs(), queue_log])
    script, done = write_script(call, command, threads, queue, name)

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)  # until the job can be cancelled
    job = submit([*command, script])

    def stop(number, _frame):
        subprocess.run(["scancel", job], check=False)
        remove(done)
        print(f"{PROGRAM}: stopped; job {job} is cancelled", file=sys.stderr)
        os._exit(128 + number)
    for number in signals:
        signal.signal(number, stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
    codes, reasons = wait(job, call.numbers, done)
    remove(done)
    for number, reason in sorted(reasons.items()):
        print(f"{PROGRAM}: job {f'{job}_{number}' if call.name else job} was ended: {reason}; "
              f"what Slurm says is in {queue_log}", file=sys.stderr)
    return report(call, [codes[number] for number in call.numbers])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
