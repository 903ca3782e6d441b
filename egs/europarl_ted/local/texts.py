#!/usr/bin/env python3
"""usage: local/texts.py CORPUS-DIR OUT-DIR

The corpora as prose, OUT-DIR/{train,dev,test}_{europarl,ted,conll}.txt, with a line `#doc NAME` before each document.
No document is on both sides of a cut, and no sitting of the Parliament, whose debates go on from one to the next.

- europarl: sittings up to June 2011 train, those of 4 and 5 July 2011 are dev, those from 6 July 2011 on are test.
  Lines of #speaker are left out. Phrases in single quotes, which are the usual ones there, get double ones (`quoted`).
- ted: the talks of train2012 and dev2012, and for test the eight of test2011.
- Of both, what is in parentheses is left out, which nobody said: (Applause), (PSE), (The sitting was closed at 12.30).
- conll: the files train, valid and test by documents. Sentences without a small letter, which are headlines and places
  with dates (`BRUSSELS 1996-08-22`), are left out: all is capital there, so they say nothing about case.
"""

import html
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import atomic_file, decode_line, open_input

DEV, TEST = "2011-07-04", "2011-07-06"  # the first sittings of dev and test
SEGMENT = re.compile(r'<doc docid="([^"]*)"|<seg\b[^>]*>(.*?)</seg>')
BRACKETS = re.compile(r"\([^()]*\)")
TALKS = {"train": "TED.train2012.cased.xml", "dev": "TED.dev2012.cased.xml",
         "test": "IWSLT12.TED.MT.tst2011.en-fr.en.xml"}
OPENING = re.compile(r"(?<![\w'‘’)])['‘](?=\w)(?!\d0s)")
CLOSING = re.compile(r"(?<=[\w.,?!;:)%])['’](?![\w'’])")
PARTS = "train", "dev", "test"


def europarl(corpus: Path) -> Iterator[tuple[str, str]]:
    part = ""
    for line in lines(corpus / "europarl/europarl.en.txt"):
        if line.startswith("#doc"):
            sitting = re.sub(r"\D*(\d+-\d+-\d+).*", r"\1", line)
            part = "train" if sitting < DEV else "dev" if sitting < TEST else "test"
        if not line.startswith("#speaker"):
            yield part, line if line.startswith("#doc") else quoted(spoken(line))


def spoken(line: str) -> str:
    """A line without what is in parentheses, which may stand in one another."""
    while (left := BRACKETS.sub(" ", line)) != line:
        line = left
    return " ".join(line.split())


def quoted(line: str) -> str:
    """A line in which phrases in single quotes have double ones.

    A quote that closes a phrase looks as the apostrophe of `citizens' rights` does. So a phrase ends at the first one
    that is not behind an s, if that comes before the next phrase begins; else at the first one. Without any, nothing
    is quoted.
    """
    if "'" not in line and "’" not in line:
        return line
    opens, closes = ([match.start() for match in mark.finditer(line)] for mark in (OPENING, CLOSING))
    characters, end = list(line), -1
    for begin, following in zip(opens, [*opens[1:], len(line)]):
        own = [at for at in closes if begin < at < following]
        if begin > end and own:
            end = next((at for at in own if line[at - 1] not in "sS"), own[0])
            characters[begin], characters[end] = "“", "”"
    return "".join(characters)


def ted(corpus: Path) -> Iterator[tuple[str, str]]:
    for part, file in TALKS.items():
        for line in lines(corpus / "iwslt_ted" / file):
            for name, segment in SEGMENT.findall(line):
                yield part, f"#doc {name}" if name else spoken(html.unescape(segment))


def conll(corpus: Path) -> Iterator[tuple[str, str]]:
    for part, file in zip(PARTS, ("train", "valid", "test")):
        documents, words = 0, []
        for line in [*lines(corpus / f"conll2003/{file}.txt"), ""]:
            if line.startswith("-DOCSTART-"):
                documents += 1
                yield part, f"#doc {documents:04d}"
            elif line:
                words.append(line.split(" ")[0])
            else:
                sentence, words = " ".join(words), []
                yield part, sentence if sentence != sentence.upper() else ""


def lines(path: Path) -> Iterator[str]:
    """The lines of a text file. Raises InputError where it is missing or is not UTF-8."""
    with open_input(path) as file:
        for number, line in enumerate(file, 1):
            yield decode_line(line, path, number)


def main(corpus: Path, out: Path) -> None:
    for source in (europarl, ted, conll):
        name, texts, counts = source.__name__, source(corpus), Counter()
        with (atomic_file(out / f"train_{name}.txt") as train, atomic_file(out / f"dev_{name}.txt") as dev,
              atomic_file(out / f"test_{name}.txt") as test):
            files = dict(zip(PARTS, (train, dev, test)))
            for part, line in texts:
                if line:
                    files[part].write(line + "\n")
                    counts[part] += line.startswith("#doc")
        print(f"{name}: {', '.join(f'{counts[part]} documents of {part}' for part in PARTS)}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except InputError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
