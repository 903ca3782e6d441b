"""usage: prepare_texts.py EVERY CORPUS OUT NAME:FILE[+FILE …] …

Writes the text of sources as prose, a stream for each document (`#doc` lines). Of each source, NAME with its FILEs in
CORPUS, document EVERY, 2 · EVERY, … is OUT/test_NAME.txt, those halfway between them OUT/dev_NAME.txt, all others
OUT/NAME.txt. `#speaker` lines are dropped, and so are text in parentheses, because nobody said it, and a dash after a
mark, which shows that the speaker turns to another person.
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
    """The set of document `number`, from 1."""
    return {0: f"test_{name}", every // 2: f"dev_{name}"}.get(number % every, name)


def main(every: int, corpus: Path, out: Path, *sources: str) -> None:
    """Write the files. Prints how many documents each has."""
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
