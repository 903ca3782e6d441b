#!/usr/bin/env python3
"""usage: signals.py [--times N] [--programs NAME,…] [--seed N]

Interrupts `punc punctuate --nj 2` and `punc train` at random moments, half of them in the first 0.2 s. SIGINT goes to
the whole process group, as a terminal sends it after Ctrl-C; SIGTERM goes to the program alone. Counts how often the
program ended within 2 s, with exactly one line of output, with no unexpected file in its directory, and with no process
left. Training is started again until it is complete; its model must then equal that of an uninterrupted run. The status
is 1 if one of these checks failed even once.

Python needs some hundredths of a second before it runs the first line of the program. If a signal in this time makes
Python print something else, this is counted separately, not as a failure.

--times N: number of signals of each kind for each program, 100 by default.
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
from typing import NamedTuple

from program import PUNC
from world import LABELS, TRAIN, inside, make_inputs, run

from punc.base import stop

PROGRESS = re.compile(r"^(kept )?epoch .*\n", re.MULTILINE)  # lines in the log of a training run
OURS = re.compile(r"^punc|/punc/\w+/", re.MULTILINE)
LIMIT = 2.0  # s; the program must end within this time after the signal
EARLY = 0.2  # s; half of the signals come within this time after the start
# Utterances, and words in each. All utterances together take some seconds. A longer utterance would outlast stop.GRACE.
UTTERANCES, WORDS = 24, 400_000
TRAINING_WORDS = 60_000  # so many that an epoch lasts three seconds


class Program(NamedTuple):
    """A command that writes `out`.

    line    its arguments
    kept    files of `out` that may remain after a signal
    last    latest time of a signal, in seconds after the start
    """

    line: list[str]
    kept: frozenset[str] = frozenset()
    last: float = 3.0


PROGRAMS = {
    "punctuate": Program(["punctuate", "--nj", "2", "in_a/packed", "long", "out"]),
    "train": Program([*TRAIN, "store", "out"], frozenset([".lock", "epoch.pt", "progress.pt", "best.pt", "conf",
                                                          "labels.txt", "vocab", "final.pt"]), 10.0),
}


def make_long(place: Path) -> None:
    words = " ".join(["a1 a2 a3 a4 a5"] * (WORDS // 5))
    (place / "long").mkdir()
    for number in range(UTTERANCES):
        with open(place / "long/text", "a") as text, open(place / "long/utt2spk", "a") as speakers:
            text.write(f"u{number:02} {words}\n")
            speakers.write(f"u{number:02} u{number:02}\n")


def make_store(place: Path) -> None:
    """Make a store so large that an epoch takes seconds, and `whole`, the model of an uninterrupted training run."""
    draw = random.Random(1)
    words = (f"a{draw.randrange(30)}{draw.choice(['', '', '', ',', '.'])}" for _ in range(TRAINING_WORDS))
    (place / "words.txt").write_text(" ".join(words) + "\n")
    (place / "labels.txt").write_text(LABELS)
    with inside(place):
        for line in (["prepare", "--format", "prose", "--labels", "labels.txt", "--nj", "1", "words.txt", "data"],
                     ["make-store", "--nj", "1", "--labels", "labels.txt", "store", "data"]):
            assert run(line) == 0, line
    # A separate process is used, because the bytes of a model file depend on what the process has read before.
    subprocess.run([*PUNC, *TRAIN, "store", "whole"], cwd=place, check=True, stderr=subprocess.DEVNULL)


def group(leader: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == leader and fields[0] != b"Z":
            found.append(int(path.parent.name))
    return found


def stopped(place: Path, program: Program, number: signal.Signals, delay: float) -> tuple[dict[str, bool], str]:
    """Start the program, and send the signal after `delay` seconds. Return the results of the checks and the messages,
    both empty if the program ended before the signal."""
    process = subprocess.Popen([*PUNC, *program.line], cwd=place, text=True, stderr=subprocess.PIPE,
                               start_new_session=True)
    with contextlib.suppress(subprocess.TimeoutExpired):
        if process.wait(delay) == 0:
            process.communicate()
            return {}, ""
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    begin = time.monotonic()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(10)
    seconds = time.monotonic() - begin
    time.sleep(0.1)  # workers need a moment to notice that their parent has ended
    left = group(process.pid)
    for one in left:
        os.kill(one, signal.SIGKILL)
    process.kill()
    messages = process.communicate()[1]
    out, said = place / "out", PROGRESS.sub("", messages) if program.kept else messages
    line = f"punc {program.line[0]}: {stop.SIGNALS[number]}\n"
    clean = {path.name for path in out.glob("*")} <= program.kept if program.kept else not out.exists()
    return {"in time": seconds <= LIMIT, "one line": said == line, "clean": clean, "no process": not left}, messages


def remove_out(place: Path) -> None:
    subprocess.run(["rm", "-rf", place / "out"], check=True)


def same_model(place: Path) -> bool:
    return (place / "out/final.pt").read_bytes() == (place / "whole/final.pt").read_bytes()


def signal_program(place: Path, program: Program, number: signal.Signals, times: int, draw: random.Random) -> int:
    """Send a signal to a program `times` times. Print the counts. Return the number of failed checks, plus the
    number of models that differ from that of an uninterrupted run."""
    counts, interpreter, models, others = Counter[str](), 0, 0, 0
    for _ in range(times):
        while True:
            delay = draw.uniform(0, EARLY) if draw.random() < 0.5 else draw.uniform(EARLY, program.last)
            found, messages = stopped(place, program, number, delay)
            if found:
                break
            if program.kept:  # the training run had already finished
                models, others = models + 1, others + (not same_model(place))
            remove_out(place)
        if not found["one line"] and not OURS.search(messages):  # Python was still starting
            interpreter += 1
            found["one line"] = True
        elif not all(found.values()):
            print(f"{number.name} after {delay:.3f} s: {found} {messages!r}")
        counts.update({what: int(good) for what, good in found.items()})
        if not program.kept:
            remove_out(place)
    ended = f"; {models} training runs ended, {others} with a different model" * bool(models)
    print(f"{program.line[0]}, {number.name}: of {times}: {dict(counts)}; {interpreter} before the program's first "
          f"line{ended}", flush=True)
    return sum(times - count for count in counts.values()) + others


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw, short, names = random.Random(options.seed), 0, options.programs.split(",")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        make_inputs(place)
        make_long(place)
        if "train" in names:
            make_store(place)
        for name in names:
            for number in (signal.SIGINT, signal.SIGTERM):
                short += signal_program(place, PROGRAMS[name], number, options.times, draw)
                remove_out(place)
    return int(short > 0)


if __name__ == "__main__":
    sys.exit(main())
