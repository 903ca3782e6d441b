#!/usr/bin/env python3
"""usage: signals.py [--times N] [--seed N]

Presses Ctrl-C: SIGINT to the whole process group, as a terminal sends it, at a random moment of `punc punctuate --nj
2`; half of the moments are in its first 0.2 s. Then SIGTERM to the program alone, in the same way. It counts how often
the program ended within 2 s, with exactly one line, with nothing left of its directory, and with no process left. The
status is 1 if one of the counts is short.

The interpreter itself starts for some hundredths of a second before it runs a line of the program: what it prints then
is counted apart. --times N: of each signal, 100 by default.
"""

import argparse
import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from program import PUNC
from world import make_inputs

OURS = re.compile(r"^punc|/punc/\w+/", re.MULTILINE)
LIMIT = 2.0  # s
EARLY = 0.2  # s
WORDS = 400_000  # the program takes some seconds


def make_long(place: Path) -> None:
    """Some minutes of work for the decoder."""
    words = " ".join(["a1 a2 a3 a4 a5"] * (WORDS // 5))
    (place / "long").mkdir()
    for number in range(4):
        with open(place / "long/text", "a") as text, open(place / "long/utt2spk", "a") as speakers:
            text.write(f"u{number} {words}\n")
            speakers.write(f"u{number} u{number}\n")


def group(leader: int) -> list[int]:
    """The processes of a group that still run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == leader and fields[0] != b"Z":
            found.append(int(path.parent.name))
    return found


def stopped(place: Path, number: signal.Signals, delay: float) -> tuple[dict[str, bool], str]:
    """Start the program, send the signal after `delay` seconds. Returns what was as it should be, and the messages."""
    program = subprocess.Popen([*PUNC, "punctuate", "--nj", "2", "in_a/packed", "long", "out"], cwd=place, text=True,
                               stderr=subprocess.PIPE, start_new_session=True)
    time.sleep(delay)
    if number == signal.SIGINT:
        os.killpg(program.pid, number)
    else:
        program.send_signal(number)
    begin = time.monotonic()
    with contextlib.suppress(subprocess.TimeoutExpired):
        program.wait(10)
    seconds = time.monotonic() - begin
    time.sleep(0.1)  # workers see that their parent has gone
    left = group(program.pid)
    for process in left:
        os.kill(process, signal.SIGKILL)
    program.kill()
    messages = program.communicate()[1]
    line = {signal.SIGINT: "punc punctuate: interrupted\n", signal.SIGTERM: "punc punctuate: terminated\n"}[number]
    return {"in time": seconds <= LIMIT, "one line": messages == line, "clean": not (place / "out").exists(),
            "no process": not left}, messages


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw, short = random.Random(options.seed), 0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        make_inputs(place)
        make_long(place)
        for number in (signal.SIGINT, signal.SIGTERM):
            counts, interpreter = Counter(), 0
            for _ in range(options.times):
                delay = draw.uniform(0, EARLY) if draw.random() < 0.5 else draw.uniform(EARLY, 3)
                found, messages = stopped(place, number, delay)
                if not found["one line"] and not OURS.search(messages):  # no line of the program had run
                    interpreter += 1
                    found["one line"] = True
                elif not all(found.values()):
                    print(f"{number.name} after {delay:.3f} s: {found} {messages!r}")
                counts.update({what: int(good) for what, good in found.items()})
                subprocess.run(["rm", "-rf", place / "out"], check=True)
            short += sum(options.times - count for count in counts.values())
            print(f"{number.name}: of {options.times}: {dict(counts)}; {interpreter} before the program's first line",
                  flush=True)
    return int(short > 0)


if __name__ == "__main__":
    sys.exit(main())
