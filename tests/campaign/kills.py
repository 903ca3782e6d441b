#!/usr/bin/env python3
"""usage: kills.py [--kills N] [--commands NAME,…] [--seed N]

Kills every command of punc that writes a directory, once before each call that changes a directory (replace, rename,
link, unlink, remove, rmdir, mkdir). One more run is not killed. After each run, a reader must find the old directory or
the new one, or refuse what is left (after `punc pauses`, it may also find the directory without pauses). Then the
command runs again, and its output must equal the output of a run that was not killed. Prints how often each outcome
occurred. The status is 1 if there are any faults.

--kills N: only about N of these runs, drawn at random; 0, the default: all of them.
"""

import argparse
import functools
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from world import COMMANDS, Command, in_child, make_area, make_inputs, run, state

CHANGES = ("replace", "rename", "link", "unlink", "remove", "rmdir", "mkdir")


def killed_at(line: list[str], area: Path, at: int, counter: Path | None = None) -> int:
    """Run a command, and kill it before change number `at`, counted from 0. If it ends by itself, write the number of
    its changes to `counter`."""
    made = 0

    def change(*arguments, call, **options):
        nonlocal made
        if made == at:
            os.kill(os.getpid(), signal.SIGKILL)
        made += 1
        return call(*arguments, **options)

    def work() -> int:
        os.chdir(area)
        for name in CHANGES:
            setattr(os, name, functools.partial(change, call=getattr(os, name)))
        status = run(line)
        if counter:
            counter.write_text(str(made))
        return status

    return in_child(work)


def kill_command(place: Path, name: str, command: Command, draws: Callable[[int], list[int]]) -> Counter[str]:
    """Kill a command before some of its changes, and return the counts of the outcomes. `draws` takes the number of
    changes, and returns the indices of the changes before which to kill."""
    counts: Counter[str] = Counter()
    area, work = place / name, place / f"{name}.work"
    old, new = make_area(place, area, command)
    shutil.copytree(area, work, symlinks=True)
    assert killed_at(command.line, work, -1, place / "changes") == 0
    for at in draws(int((place / "changes").read_text())):
        shutil.rmtree(work)
        shutil.copytree(area, work, symlinks=True)
        status = killed_at(command.line, work, at)
        counts["kills"] += status == -9
        found = looked(work, command, place)
        without_pauses = name == "pauses" and found not in (old, new) and not (work / "data/pauses.scp").exists()
        kind = "old" if found == old else "new" if found == new else "refused" if found in ("refused", "") \
            else "without pauses" if without_pauses else "MIXTURES"
        counts[kind] += 1
        if kind == "MIXTURES" or not found:
            counts["reader errors"] += not found
            print(f"{name}, change {at}: {kind} {sorted(map(str, work.rglob('*')))}")
        # After a complete join, there is nothing left to join.
        done = command.line[0] == "join" and not any(file.name != ".lock" for file in work.glob("parts/*/*"))
        again = in_child(lambda: (os.chdir(work), run(command.line))[1])
        if looked(work, command, place) != new or (again and not done):
            counts["repeated runs that did not repair it"] += 1
            print(f"{name}, change {at}: status {again} when run again")
    return counts


def looked(work: Path, command: Command, place: Path) -> str:
    """Return the state of a command's output, read by a separate process, or "" if the reader failed."""
    (place / "found").write_text("")
    in_child(lambda: (place / "found").write_text(state(work, command)) and 0)
    return (place / "found").read_text()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--commands", default=",".join(COMMANDS))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    names, draw = options.commands.split(","), random.Random(options.seed)
    each = -(-options.kills // len(names))

    def draws(changes: int) -> list[int]:
        return list(range(changes + 1)) if not each else [draw.randrange(changes + 1) for _ in range(each)]

    total: Counter[str] = Counter(kills=0, MIXTURES=0)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        make_inputs(place)
        for name in names:
            begin = time.monotonic()
            counts = kill_command(place, name, COMMANDS[name], draws)
            print(f"{name:16} {dict(counts)} {time.monotonic() - begin:.1f} s", flush=True)
            total += counts
    bad = total["MIXTURES"] + total["reader errors"] + total["repeated runs that did not repair it"]
    print(f"kills {total['kills']}, mixtures {total['MIXTURES']}, {dict(total)}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
