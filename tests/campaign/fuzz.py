#!/usr/bin/env python3
"""Passes broken inputs to all readers. A reader must run no code from its input, lose no words, print no traceback,
and not hang.

    python tests/campaign/fuzz.py --inputs 1000000 --seed 1 --jobs 2 --out fuzz_failures

Each input is a mutation of a valid input of its kind. To make one input again, give its number, the same seed, and the
same `--kind` options: `--seed SEED --first NUMBER --inputs 1`.
"""

import argparse
import json
import logging
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

import mutate  # noqa: E402
from kind import Kind, all_kinds, counted, found  # noqa: E402

from punc.base.errors import InputError  # noqa: E402

FAULTS = ("code run", "traceback", "loss", "hang")
SECONDS, KILL_SECONDS = 10, 120  # s: limit of processor time per input; time after which a worker is killed
MIB_SECONDS = 10  # additional seconds per MiB; the slowest reader, that of characters, needs 4.5 s per MiB
MEMORY = 12 << 30  # bytes of address space per process
KEPT = 3  # maximum number of failures that are kept for each kind of input and place in the code
EVENTS = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "subprocess.Popen", "pickle.find_class")


class Hang(BaseException):
    """Raised if an input takes too long. As a BaseException, it is not caught by a reader's `except Exception`."""


class Runner:
    """Passes inputs to their readers in this process, and counts the outcomes.

    counts   {(kind, what): number}; what: "read", "refused", "hung", "failed", or one of FAULTS
    """

    def __init__(self, kinds: list[Kind], seed: int, out: Path, place: Path, seconds: float = SECONDS):
        self.kinds = [kind for kind in kinds for _ in range(kind.share)]
        self.seed, self.out, self.place, self.seconds = seed, out, place, seconds
        everything = [kind.name for kind in kinds] == [kind.name for kind in all_kinds()]
        self.chosen = "" if everything else "".join(f" --kind '{kind.name}'" for kind in kinds)
        self.counts: Counter[tuple[str, str]] = Counter()
        self.places: Counter[tuple[str, ...]] = Counter()
        self.marker = place / "ran"
        self.events: list[str] = []
        sys.addaudithook(lambda event, _: self.events.append(event) if event in EVENTS else None)
        signal.signal(signal.SIGVTALRM, self._stop)

    def _stop(self, *_: object) -> None:
        raise Hang

    def run(self, number: int) -> None:
        kind, folder = self.kinds[number % len(self.kinds)], self.place / "in"
        rng = random.Random(f"{self.seed}/{number}")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        kind.make(folder, rng)
        path = folder / rng.choice([name for name in kind.mutated if (folder / name).is_file()])
        if kind.alter and rng.randrange(2):
            kind.alter(folder, rng)
        else:
            path.write_bytes(mutate.mutated(path.read_bytes(), rng, self.marker))
        visible = kind.visible(path.read_bytes()) if kind.visible else b""
        self.events.clear()
        outcome, fault, why = self._read(kind, folder, rng, visible)
        self.counts[kind.name, outcome] += 1
        if self.events or self.marker.exists():
            fault, why = "code run", why or (f"{self.events}",)
            shutil.rmtree(self.marker, ignore_errors=True)
        if fault:
            self.counts[kind.name, fault] += 1
            self._keep(kind, fault, why, number)

    def _read(self, kind: Kind, folder: Path, rng: random.Random, visible: bytes) -> tuple[str, str, tuple[str, ...]]:
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        signal.setitimer(signal.ITIMER_VIRTUAL, self.seconds + MIB_SECONDS * size / (1 << 20))
        try:
            read = kind.read(folder, rng)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        except (InputError, OSError) as error:  # the input is refused; punc reports any OSError in one line
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            if "\n" in str(error):
                return "refused", "traceback", ("several lines", str(error))
            return "refused", "", ()
        except Hang:
            return "hung", "hang", tuple(traceback.format_exc().splitlines()[-12:])
        except Exception as error:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            frames = [f for f in traceback.extract_tb(error.__traceback__) if "/punc/" in f.filename]
            place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
            return "failed", "traceback", (type(error).__name__, place, traceback.format_exc())
        if read and visible:
            lost = counted(visible) - found(read.words)
            if lost.total() > read.named:
                return "read", "loss", (f"{dict(lost)} of {read.named} named",)
        return "read", "", ()

    def _keep(self, kind: Kind, fault: str, why: tuple[str, ...], number: int) -> None:
        place = (kind.name, fault, *(why[:2] if fault == "traceback" else ()))
        self.places[place] += 1
        if self.places[place] <= KEPT:
            target = self.out / f"{kind.name}-{fault}-{number}".replace(" ", "_")
            shutil.copytree(self.place / "in", target, dirs_exist_ok=True, ignore_dangling_symlinks=True)
            (target / "WHY").write_text("\n".join((kind.name, fault, f"--seed {self.seed} --first {number} --inputs 1"
                                                   f"{self.chosen}", *why)), encoding="utf-8", errors="replace")


def work(names: list[str], numbers: range, args: argparse.Namespace, place: Path, shared: object, job: int) -> None:
    """Run a worker. It writes the number and start time of its current input to `shared`, and its counts to files."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ignored, because the parent process stops the workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    logging.disable()
    warnings.simplefilter("error", RuntimeWarning)  # so that a number that overflows to infinity is an error
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    kinds = [kind for kind in all_kinds() if not names or kind.name in names]
    folder = place / str(os.getpid())
    folder.mkdir()
    runner, saved = Runner(kinds, args.seed, args.out, folder), 0.0
    for number in numbers:
        shared[2 * job], shared[2 * job + 1] = number, time.monotonic()
        runner.run(number)
        if time.monotonic() > saved + 5:
            saved = time.monotonic()
            save(runner, args.out, job)
            if os.getppid() == 1:  # the parent has been killed
                return
    save(runner, args.out, job)
    shared[2 * job] = -1


def save(runner: Runner, out: Path, job: int) -> None:
    content = [[[*key, number] for key, number in counter.items()] for counter in (runner.counts, runner.places)]
    (out / f"counts.{job}.tmp").write_text(json.dumps(content))
    os.replace(out / f"counts.{job}.tmp", out / f"counts.{job}.{os.getpid()}.json")


def watch(names: list[str], args: argparse.Namespace, place: Path) -> Counter[tuple[str, str]]:
    """Run the workers. If a worker crashes, or hangs and is killed, a new worker continues with the next input."""
    context = multiprocessing.get_context("fork")
    shared, hangs = context.Array("d", 2 * args.jobs, lock=False), Counter[tuple[str, str]]()
    kinds = [kind.name for kind in all_kinds() if not names or kind.name in names for _ in range(kind.share)]
    last = args.first + args.inputs
    workers = {}

    def start(job: int, first: int) -> None:
        shared[2 * job], shared[2 * job + 1] = first, time.monotonic()
        workers[job] = context.Process(target=work, args=(names, range(first, last, args.jobs), args, place, shared,
                                                          job))
        workers[job].start()

    def look(job: int) -> None:
        worker, number, since = workers[job], int(shared[2 * job]), shared[2 * job + 1]
        if not worker.is_alive() and number < 0:
            del workers[job]
        elif not worker.is_alive() or time.monotonic() - since > KILL_SECONDS:
            fault = "hang" if worker.is_alive() else "traceback"
            worker.kill()
            worker.join()
            hangs[kinds[number % len(kinds)], fault] += 1
            print(f"input {number}, {kinds[number % len(kinds)]}: {fault}, the worker was replaced", flush=True)
            start(job, number + args.jobs)

    try:
        for job in range(args.jobs):
            start(job, args.first + job)
        while workers:
            time.sleep(0.2)
            for job in list(workers):
                look(job)
    except KeyboardInterrupt:
        for worker in workers.values():
            worker.kill()
            worker.join()
    return hangs


def report(out: Path, hangs: Counter[tuple[str, str]], seconds: float) -> int:
    counts, places = Counter(hangs), Counter[tuple[str, ...]]()
    for path in out.glob("counts.*.json"):
        both = json.loads(path.read_text())
        counts.update({(kind, what): number for kind, what, number in both[0]})
        places.update({tuple(key): number for *key, number in both[1]})
    columns = ("inputs", "read", "refused", *FAULTS)
    print(f"{'':<24}" + "".join(f"{column:>12}" for column in columns))
    total: Counter[str] = Counter()
    for name in sorted({kind for kind, _ in counts}):
        row = Counter({what: number for (kind, what), number in counts.items() if kind == name})
        row["inputs"] = sum(row[what] for what in ("read", "refused", "failed", "hung"))
        total += row
        print(f"{name:<24}" + "".join(f"{row[column]:>12,}" for column in columns))
    print(f"{'all':<24}" + "".join(f"{total[column]:>12,}" for column in columns))
    for place, number in places.most_common():
        print(f"{number:>7} {' | '.join(place)}")
    print(f"{seconds:.0f} s, {total['inputs'] / max(seconds, 1e-9):.0f} inputs/s")
    return sum(total[fault] for fault in FAULTS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=10_000, help="number of inputs")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("fuzz_failures"), help="directory for inputs that fail")
    parser.add_argument("--kind", action="append", default=[], help="only this kind of input; can be given again")
    parser.add_argument("--list", action="store_true", help="print the kinds of inputs")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.list:
        print("\n".join(kind.name for kind in all_kinds()))
        return 0
    args.out.mkdir(parents=True, exist_ok=True)
    for path in args.out.glob("counts.*"):
        path.unlink()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as place:
        hangs = watch(args.kind, args, Path(place))
    return 1 if report(args.out, hangs, time.monotonic() - start) else 0


if __name__ == "__main__":
    sys.exit(main())
