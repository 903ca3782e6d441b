"""The common part of run.pl and slurm.pl: parses the command line, runs a job with its log, and reports failed jobs."""

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

PROGRAM = os.path.basename(sys.argv[0])
TWO_VALUES = {"-pe"}  # GridEngine's -pe NAME SLOTS
NO_VALUE = {"-V"}
AT_ONCE = ("--max-jobs-run", "-tc")


class Call(NamedTuple):
    """A parsed command line.

    options   options with their values, in the given order, without those in AT_ONCE
    at_once   maximum number of jobs at a time; if several are given, the smallest, as in Kaldi; None if none is given
    name      the placeholder for the job's number, usually JOB; None for a single job without a number
    numbers   the jobs' numbers; 1 for a single job without a number
    log       the name of the log file, with the placeholder
    command   the command for bash, with the placeholder
    """

    options: list[tuple[str, list[str]]]
    at_once: int | None
    name: str | None
    numbers: Sequence[int]
    log: str
    command: str

    def of(self, text: str, number: int | str) -> str:
        """Return the text for one job, with the job's number in place of the placeholder."""
        return text.replace(self.name, str(number)) if self.name else text

    def logs(self) -> list[str]:
        return [self.of(self.log, number) for number in self.numbers]


def fail(message: str) -> NoReturn:
    """Exit with a message and status 1."""
    print(f"{PROGRAM}:", message, file=sys.stderr)
    sys.exit(1)


def parse(arguments: Sequence[str]) -> Call:
    """Parse a command line: options and job range in any order, then log and command. Exits if it is invalid."""
    options, at_once, name, numbers, rest = [], [], None, range(1, 2), list(arguments)
    while len(rest) > 1 or (rest and rest[0].startswith("-")):
        if name is None and re.fullmatch(r"[A-Za-z_]\w*=(\d*|[^/]*:[^/]*)", rest[0]):
            name, numbers = _job_range(rest.pop(0))
        elif rest[0].startswith("-"):
            option = rest.pop(0)
            count = 2 if option in TWO_VALUES else 0 if option in NO_VALUE else 1
            values, rest = rest[:count], rest[count:]
            if len(values) < count:
                fail(f"{option} needs a value")
            if any(value.startswith("--") for value in values):
                print(f"{PROGRAM}: warning: '{values[0]}' is taken for the value of {option}", file=sys.stderr)
            if option in AT_ONCE:
                if not re.fullmatch("[1-9][0-9]*", values[0]):
                    fail(f"{option} needs a number of jobs, not {values[0]}")
                at_once.append(int(values[0]))
            else:
                options.append((option, values))
        else:
            break
    if len(rest) < 2:
        fail(f"usage: {PROGRAM} [options] [JOB=first:last] LOG COMMAND [ARGUMENT ...]")
    if len(numbers) > 1 and name not in rest[0]:
        fail(f"{len(numbers)} jobs would write one log, {rest[0]}; put {name} in its name")
    return Call(options, min(at_once, default=None), name, numbers, rest[0], " ".join(map(quote, rest[1:])))


def _job_range(text: str) -> tuple[str, range]:
    name, _, numbers = text.partition("=")
    both = re.fullmatch(r"(\d+)(?::(\d+))?", numbers)
    first, last = (int(both[1]), int(both[2] or both[1])) if both else (0, 0)
    if not 1 <= first <= last:
        fail(f"no job range: {text}; write {name}=FIRST:LAST, from 1")
    return name, range(first, last + 1)


def quote(argument: str) -> str:
    """Quote an argument for bash if it is empty or contains spaces. Other arguments stay unchanged, so that an escaped
    | or > works."""
    if re.fullmatch(r"\S+", argument, re.ASCII):  # re.ASCII: bash does not split words at Unicode spaces
        return argument
    return f"'{argument}'" if '"' in argument else f'"{argument}"'


@contextlib.contextmanager
def writing() -> Iterator[None]:
    """Exit with a one-line message if a file cannot be written."""
    try:
        yield
    except OSError as error:
        fail(f"{error.filename}: cannot be written: {error.strerror}; give another log")


def empty(logs: Sequence[str]) -> None:
    """Create empty logs and their directories. Exits if that fails."""
    with writing():
        for directory in {os.path.dirname(path) for path in logs} - {""}:
            os.makedirs(directory, exist_ok=True)
        for path in logs:
            open(path, "w").close()


def _now() -> str:
    return time.strftime("%a %b %e %H:%M:%S %Z %Y")


def run_job(command: str, log: str, threads: int = 1, note: str = "", running: set | None = None) -> int:
    """Run one job and write its output to a log in Kaldi's format. Return the exit status that bash would report.

    threads   number of threads, for the log
    note      an additional line for the head of the log
    running   a set that contains the job's process while it runs; if given, the process leads its own process group
    """
    start = time.time()
    shown = command.replace("\n", "\n#   ")  # every line of the head begins with #
    head = [f"# {shown}", f"# Started at {_now()}", *([f"# {note}"] if note else []), "#\n"]
    with open(log, "ab", buffering=0) as output:
        output.write(os.fsencode("\n".join(head)))
        # The command is passed on stdin, because Linux limits an argument of exec to 128 KiB.
        with subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=output, stderr=output,
                              start_new_session=running is not None) as job:
            if running is not None:
                running.add(job)
            job.communicate(os.fsencode(f"( {command} )\n"))
        if running is not None:
            running.discard(job)
        seconds, code = round(time.time() - start), job.returncode
        ended = f"code {code}" if code >= 0 else f"code 0; signal {-code}"
        output.write(f"# Accounting: time={seconds} threads={threads}\n"
                     f"# Ended ({ended}) at {_now()}, elapsed time {seconds} seconds\n".encode())
    return code if code >= 0 else 128 - code


def report(call: Call, codes: Sequence[int]) -> int:
    """If any jobs failed, print how many, and where their logs are. Return the exit status of the program."""
    failed = sum(code != 0 for code in codes)
    if not failed:
        return 0
    if len(codes) > 1:
        print(f"{PROGRAM}: {failed} / {len(codes)} failed, log is in {call.of(call.log, '*')}", file=sys.stderr)
        return 1
    log, = call.logs()
    print(f"{PROGRAM}: job failed, log is in {log}", file=sys.stderr)
    if "JOB" in log:
        print(f"{PROGRAM}: probably you forgot to put JOB=1:$nj in your script.", file=sys.stderr)
    return 1
