#!/usr/bin/env python3
"""usage: stream.py [--words N] [--streams N] [--only command|pauses]

Punctuates a live stream in two ways and monitors the memory use. First, `punc punctuate en-live -` reads words. Then
this program passes words and pauses directly to the model, through `SlotStream`. Prints the smallest and the largest
resident memory after the first tenth of the words. The status is 1 if the largest exceeds the smallest by more than 5
%, if words are missing, or if there are too few words to measure the memory.

--words N: number of words; 10 million by default, about six weeks of speech without a break. --streams N: number of
empty lines that the command reads, spread evenly over the words; each of them ends a stream; 0 by default.
"""

import argparse
import math
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from program import PUNC

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as in `punc`
FLAT = 0.05  # allowed growth of the memory, as a fraction of its smallest value
PLACES = 200


def words(count: int, seed: int) -> Iterator[tuple[str, float]]:
    """Yield words, each with a pause in seconds. The model does not know one word in 50; the frequencies of the other
    words are proportional to 1 / rank."""
    from punc.decoding.shipped import FOLDER
    known = [word for word in (FOLDER / "en-live/vocab").read_text(encoding="utf-8").split("\n")[2:] if word]
    draw = random.Random(seed)
    for number in range(count):
        rank = int(math.exp(draw.random() * math.log(len(known)))) - 1
        yield known[rank] if number % 50 else f"new{number}", draw.choice((0.0, 0.1, 0.4, 1.2, math.nan))


def resident(process: int) -> int:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def report(name: str, count: int, seconds: float, memory: list[int]) -> bool:
    kept = memory[len(memory) // 10:]
    if not kept:  # all words were sent before the program had loaded its model
        print(f"{name}: {count} words, too few to measure the memory; raise --words")
        return False
    flat = max(kept) <= (1 + FLAT) * min(kept)
    print(f"{name}: {count} words, {count / seconds:,.0f} a second, memory {min(kept) / 1024:.1f} to "
          f"{max(kept) / 1024:.1f} MiB ({100 * (max(kept) / min(kept) - 1):.1f} %): {'flat' if flat else 'NOT FLAT'}",
          flush=True)
    return flat


def through_the_command(count: int, streams: int) -> bool:
    """Send words through a pipe. Return whether all words came back and the memory did not grow."""
    every = count // streams if streams else count + 1
    line = [*PUNC, "punctuate", "en-live", "-"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        came, memory = [0], []

        def read() -> None:
            rest = b""
            while block := os.read(process.stdout.fileno(), 1 << 16):
                text = rest + block
                came[0] += len(text.split()) - (0 if text[-1:].isspace() else 1)
                rest = b"" if text[-1:].isspace() else text.split()[-1]
            came[0] += bool(rest)

        reader = threading.Thread(target=read)
        reader.start()
        begin = time.monotonic()
        for number, (word, _) in enumerate(words(count, 1), 1):
            process.stdin.write(word.encode() + (b"\n\n" if number % every == 0 else b" "))
            if number % max(1, count // PLACES) == 0:
                process.stdin.flush()
                if came[0]:  # the program has loaded its model
                    memory.append(resident(process.pid))
        process.stdin.close()
        reader.join()
    whole = came[0] == count and process.returncode == 0
    if not whole:
        print(f"{came[0]} of {count} words came back, status {process.returncode}")
    return report("punc punctuate en-live -", count, time.monotonic() - begin, memory) and whole


def with_pauses(count: int) -> bool:
    import numpy as np

    from punc.decoding.packed import load_packed
    from punc.decoding.shipped import FOLDER
    from punc.live.stream import SlotStream
    model, memory, slots = load_packed(FOLDER / "en-live"), [], 0
    encode, begin = model.tokenizer.encode, time.monotonic()
    tokens = ((token, pause) for word, pause in words(count, 2) for token in encode((word,)).ids.tolist())
    stream = SlotStream(model)
    for token, pause in tokens:
        logits = stream.push(token, pause)
        if logits is None:
            continue
        assert np.isfinite(logits).all()
        slots += 1
        if slots % max(1, count // PLACES) == 0:
            memory.append(resident(os.getpid()))
    if slots != count:
        print(f"{slots} of {count} slots came back")
    return report("with pauses", count, time.monotonic() - begin, memory) and slots == count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=10_000_000)
    parser.add_argument("--streams", type=int, default=0)
    parser.add_argument("--only", choices=("command", "pauses"), help="only one of the two ways")
    options = parser.parse_args()
    fine = []
    if options.only != "pauses":
        fine.append(through_the_command(options.words, options.streams))
    if options.only != "command":
        fine.append(with_pauses(options.words))
    return int(not all(fine))


if __name__ == "__main__":
    sys.exit(main())
