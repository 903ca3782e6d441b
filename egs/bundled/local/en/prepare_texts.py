"""usage: prepare_texts.py CORPUS OUT

Writes the text of podcasts and of Europarl as prose, with a `#doc` line before each document:

OUT/text.txt                                training: one document in five of each source
OUT/text_more.txt                           training: all other training documents
OUT/written.txt                             training documents that stay as written (see below), for the casing table
OUT/dev_{podcasts,europarl}.txt             dev: documents 50, 150, … of each source
OUT/{podcasts,europarl}.txt                 test: documents 100, 200, … of each source

ASR systems differ in how they write numbers and compounds. So half of the training and dev documents are converted to
spoken words by the rules of utils/calls/spoken.py (numbers spelled out, compounds split). The words of the other half,
and of all test documents, stay as written. In all documents, a dash between words becomes a comma, and so does an
ellipsis before a small letter. `#speaker` lines are dropped. In Europarl, text in parentheses is dropped too, because
nobody said it.
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
    """Replace dashes and ellipses inside sentences with commas. Remove text in parentheses if `brackets` is true."""
    if brackets and "(" in line:
        line = BRACKETS.sub(" ", line)
    return ELLIPSIS.sub(",", DASH.sub(", ", line)).strip(" ,")


def part(number: int, source: str) -> tuple[str, bool]:
    """Return the set for document `number` (from 1) of a source, and whether its words are converted to spoken form."""
    if number % EVERY in (0, DEV):
        return (f"dev_{source}", number // EVERY % 2 == 1) if number % EVERY else (source, False)
    return "text" if number % MORE == 1 else "text_more", number // MORE % 2 == 1


def main(corpus: Path, out: Path) -> None:
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
