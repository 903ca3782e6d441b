#!/usr/bin/env python3
"""usage: races.py [--races N] [--commands NAME,…] [--seed N]

Starts two runs of a punc command at the same time, with different inputs but the same output directory, and keeps
reading this directory. Afterwards, the directory must contain the output of one run. The other run must have failed
with a message that the directory is in use, or the runs must have written one after the other. A reader must find the
old directory or one of the two new ones, or refuse what it finds. In nine of ten races, both runs start together; in
the tenth, one starts up to half a second later. Prints the counts. The status is 1 if a reader found anything else, if
both runs failed, or if one crashed.

--races N: total number of races, divided equally among the commands; 200 by default.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from world import COMMANDS, Command, in_child, make_area, make_inputs, run, run_in, start_child, state

# These commands read inputs that are outside the directory that they write.
RACED = ("prepare", "prepare-ctm", "make-store", "punctuate", "transcript", "project", "score", "part", "publish",
         "pack", "train")
READS = 20


def with_inputs(line: list[str], version: str) -> list[str]:
    return [f"in_{version}/{word[3:]}" if word.startswith("in/") else word for word in line]


def start(area: Path, line: list[str], version: str, delay: float) -> int:
    def work() -> int:
        time.sleep(delay)
        os.chdir(area)
        return run(with_inputs(line, version), "is writing here")

    return start_child(work)


def read(area: Path, command: Command, found: Path) -> str:
    found.write_text("failed")
    in_child(lambda: found.write_text(state(area, command)) and 0)
    return found.read_text()


def race(place: Path, area: Path, command: Command, expected: dict[str, str], delay: float) -> Counter[str]:
    """Run the command twice at the same time, and read the directory meanwhile. `expected` contains the states in which
    the directory may be."""
    counts: Counter[str] = Counter(races=1)
    children = [start(area, command.line, "a", 0), start(area, command.line, "b", delay)]
    for _ in range(READS):
        found = read(area, command, place / "found")
        counts["reads"] += 1
        counts["mixed reads"] += found not in (*expected.values(), "refused")
    ended = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    counts["both wrote, one after the other"] += ended == [0, 0]
    counts["one was refused"] += sorted(ended) == [0, 1]
    counts["other ends"] += sorted(ended) not in ([0, 0], [0, 1])
    final = read(area, command, place / "found")
    winners = [version for version, status in zip("ab", ended) if not status]
    counts["MIXED RESULTS"] += final not in [expected[version] for version in winners]
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=200)
    parser.add_argument("--commands", default=",".join(RACED))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    names, draw, total = options.commands.split(","), random.Random(options.seed), Counter()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        make_inputs(place)
        for name in names:
            command, counts, area = COMMANDS[name], Counter(), place / name
            expected = {"before": make_area(place, area, command)[0]}
            for version in "ab":
                (area / f"in_{version}").symlink_to(place / f"in_{version}")
            for version in "ab":
                done = place / f"{name}.{version}"
                shutil.copytree(area, done, symlinks=True)
                run_in(done, with_inputs(command.line, version))
                expected[version] = state(done, command)
            for number in range(-(-options.races // len(names))):
                work = place / "work"
                shutil.rmtree(work, ignore_errors=True)
                shutil.copytree(area, work, symlinks=True)
                counts += race(place, work, command, expected, 0 if number % 10 else draw.uniform(0, 0.5))
            print(f"{name:12} {dict(counts)}", flush=True)
            total += counts
    mixed = total["MIXED RESULTS"] + total["mixed reads"] + total["other ends"]
    print(f"races {total['races']}, mixed results {total['MIXED RESULTS']}, {dict(total)}")
    return int(mixed > 0)


if __name__ == "__main__":
    sys.exit(main())
