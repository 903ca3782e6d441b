"""Measures the time and memory that a command and its child processes take."""

import re
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

PUNC = [sys.executable, "-c", "import sys; from punc.bin.main import main; sys.exit(main())"]
MAPPING = re.compile(rb"^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+ *(.*)$")


class Usage(NamedTuple):
    """The time and memory that a command took.

    seconds   time from its start to its end
    cpu       processor time of all its processes, in seconds
    memory    peak memory without the files that `mapped` counts, in bytes
    mapped    peak memory of the mapped files below the directory `data` of `measure`, in bytes
    output    what it wrote to standard error
    """

    seconds: float
    cpu: float
    memory: int
    mapped: int
    output: str


def tree(process: int) -> list[int]:
    """Return the ids of a process and its descendants, or an empty list if the process has ended."""
    try:
        below = [child for task in Path(f"/proc/{process}/task").iterdir()  # each thread has its own child processes
                 for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return [process, *(one for child in below for one in tree(int(child)))]


def memory(process: int, data: Path) -> tuple[int, int]:
    """Return a process's memory as two sizes in bytes: all but the mapped files below `data`, and only these files.

    A page that n processes share counts as 1/n of a page (PSS).
    """
    own = mapped = 0
    in_data = False
    inside = f"{data}/".encode()
    try:
        with open(f"/proc/{process}/smaps", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    kilobytes = int(line.split()[1])
                    own, mapped = (own, mapped + kilobytes) if in_data else (own + kilobytes, mapped)
                elif match := MAPPING.match(line):
                    in_data = match[1].startswith(inside)
    except OSError:
        pass
    return own << 10, mapped << 10


def cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(command: list[str], data: Path, interval: float = 0.1) -> Usage:
    """Run a command to its end, and return what it took. If it fails, print its messages and end this program.

    The memory is sampled every `interval` seconds, or less often if sampling would otherwise use more than 2 % of a
    processor.
    """
    begin, cpu, peak, peak_mapped = time.perf_counter(), cpu_of_children(), 0, 0
    process = subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True)
    messages: list[str] = []
    reader = threading.Thread(target=lambda: messages.append(process.stderr.read()))
    reader.start()
    while True:
        start = time.process_time()
        both = [memory(one, data) for one in tree(process.pid)]
        peak = max(peak, sum(own for own, _ in both))
        peak_mapped = max(peak_mapped, sum(mapped for _, mapped in both))
        try:
            process.wait(max(interval, 50 * (time.process_time() - start)))
            break
        except subprocess.TimeoutExpired:
            pass
    seconds = time.perf_counter() - begin
    reader.join()
    if process.returncode:
        sys.exit("".join(messages))
    return Usage(seconds, cpu_of_children() - cpu, peak, peak_mapped, "".join(messages))
