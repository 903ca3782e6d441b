"""usage: prepare_texts.py CORPUS OUT

Writes the text of podcasts and of Europarl as prose, a stream for each document (`#doc` lines):

OUT/text.txt, OUT/text_more.txt             training: one document in five, and the others
OUT/written.txt                             the training documents left as written (see below), for the casing table
OUT/dev_{podcasts,europarl}.txt             of each source, documents 50, 150, …
OUT/{podcasts,europarl}.txt                 the test: documents 100, 200, …

ASR systems differ in what they write. So every second document of training and dev is in spoken words, by the rules of
utils/calls/spoken.py (numbers spelled out, compounds split); the others, and test, stay as they are written. A dash
between words is a comma, and so is an ellipsis before a small letter. `#speaker` lines are dropped, and so is text in
parentheses in Europarl, because nobody said it.
"""

import contextlib
import re
import sys
from collections import Counter
from pathlib import Path

import documents
from case import with_capitals
from spoken import SpokenText

from punc.base.files import atomic_file
from punc.bin.script import run_script

SOURCES = {"podcasts": ("podcasts/changelog.txt", "podcasts/bitcoin.txt"), "europarl": ("europarl/europarl.en.txt",)}
EVERY, DEV = 100, 50
MORE = 5
DASH = re.compile(r"(?<=\S)\s+(?:-{1,3}|[–—])(?=\s)|\s*(?:--+|—)\s*(?=\w)|(?<=[^\W\d])–(?=\w)")
ELLIPSIS = re.compile(r"(?:\.\s?\.\s?\.+|…)(?=[\"”’)]*\s+[a-z])")
BRACKETS = re.compile(r"\([^()]*\)")


def clean(line: str, brackets: bool) -> str:
    """A line with its dashes and unfinished ellipses as commas, without text in parentheses if `brackets`."""
    if brackets and "(" in line:
        line = BRACKETS.sub(" ", line)
    return ELLIPSIS.sub(",", DASH.sub(", ", line)).strip(" ,")


def part(number: int, source: str) -> tuple[str, bool]:
    """The set of a source's document `number`, from 1, and whether it is in spoken words."""
    if number % EVERY in (0, DEV):
        return (f"dev_{source}", number // EVERY % 2 == 1) if number % EVERY else (source, False)
    return "text" if number % MORE == 1 else "text_more", number // MORE % 2 == 1


def main(corpus: Path, out: Path) -> None:
    """Write the files. Prints how many documents each has."""
    names = ["text", "text_more", "written", *(kind + source for source in SOURCES for kind in ("dev_", ""))]
    counts: Counter[str] = Counter()
    with contextlib.ExitStack() as stack:
        files = {name: stack.enter_context(atomic_file(out / f"{name}.txt")) for name in names}
        for source, paths in SOURCES.items():
            spoken = SpokenText(with_capitals)
            for number, line in documents.lines(corpus / path for path in paths):
                name, said = part(number, source)
                document = line.startswith("#doc")
                counts[name] += document
                if not document:
                    line = clean(line, source == "europarl")
                files[name].write((spoken.line(line) if said and not document else line) + "\n")
                if name.startswith("text") and not said:
                    files["written"].write(line + "\n")
    print(", ".join(f"{name}: {counts[name]} documents" for name in names if counts[name]), file=sys.stderr)


if __name__ == "__main__":
    run_script(main, __doc__)
