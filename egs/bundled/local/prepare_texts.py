"""usage: prepare_texts.py EVERY CORPUS OUT NAME:FILE[+FILE …] …

Writes texts as prose, with a `#doc` line before each document. Each NAME is a source of text, and its FILEs are in
CORPUS. The documents of a source are numbered from 1. Numbers EVERY, 2 · EVERY, … go to OUT/test_NAME.txt, the numbers
halfway between multiples of EVERY go to OUT/dev_NAME.txt, and all others to OUT/NAME.txt. These are dropped: `#speaker`
lines, text in parentheses (nobody said it), and dashes after a mark (they show that the speaker turns to someone else).
"""

import re
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import documents

from punc.base.files import atomic_file
from punc.bin.script import run_script

BRACKETS = re.compile(r"[(（][^()（）]*[)）]")
DASH = re.compile(r"(?<=[.!?,;:…])\s+[–—-]+(?=\s|$)")


def part(number: int, every: int, name: str) -> str:
    """Return the name of the set that gets document `number`, counted from 1."""
    return {0: f"test_{name}", every // 2: f"dev_{name}"}.get(number % every, name)


def main(every: int, corpus: Path, out: Path, *sources: str) -> None:
    counts: Counter[str] = Counter()
    for name, _, paths in (source.partition(":") for source in sources):
        with ExitStack() as stack:
            files = {kind: stack.enter_context(atomic_file(out / f"{kind}.txt"))
                     for kind in (name, f"dev_{name}", f"test_{name}")}
            for number, line in documents.lines(corpus / path for path in paths.split("+")):
                kind, document = part(number, every, name), line.startswith("#doc")
                counts[kind] += document
                files[kind].write((line if document else DASH.sub("", BRACKETS.sub(" ", line)).strip()) + "\n")
    print(", ".join(f"{name}: {count} documents" for name, count in counts.items()), file=sys.stderr)


if __name__ == "__main__":
    run_script(main, __doc__)
