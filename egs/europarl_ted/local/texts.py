#!/usr/bin/env python3
"""usage: local/texts.py CORPUS-DIR OUT-DIR

Writes the corpora as prose, OUT-DIR/{train,dev,test}_{europarl,ted,conll}.txt, with a line `#doc NAME` before each
document. Each document is in only one set. All documents of a sitting of the Parliament are in the same set, because
debates continue from one document to the next.

- europarl: train contains the sittings up to June 2011, dev those of 4 and 5 July 2011, and test the later sittings.
  `#speaker` lines are dropped. Single quotes around phrases, which are common in Europarl, become double quotes
  (`quoted`).
- ted: train2012 is train, dev2012 is dev, and the eight talks of test2011 are test.
- europarl and ted: text in parentheses is dropped, because nobody said it: (Applause), (PSE), (The sitting was closed
  at 12.30).
- conll: train, dev and test are the files train, valid and test, cut into documents. Sentences without a small letter
  are dropped: headlines and places with dates (`BRUSSELS 1996-08-22`). A model cannot learn from them which words have
  capitals.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from punc.base.files import atomic_file, decode_line, open_input
from punc.bin.script import run_script
from punc.text.formats.mteval import documents_and_segments

DEV, TEST = "2011-07-04", "2011-07-06"  # dates of the first sittings of dev and test
BRACKETS = re.compile(r"\([^()]*\)")
TALKS = {"train": "TED.train2012.cased.xml", "dev": "TED.dev2012.cased.xml",
         "test": "IWSLT12.TED.MT.tst2011.en-fr.en.xml"}
OPENING = re.compile(r"(?<![\w'‘’)])['‘](?=\w)(?!\d0s)")
CLOSING = re.compile(r"(?<=[\w.,?!;:)%])['’](?![\w'’])")
PARTS = "train", "dev", "test"


def europarl(corpus: Path) -> Iterator[tuple[str, str]]:
    """Yield, for each line of the debates, its part (train, dev or test) and its text."""
    part = ""
    for line in lines(corpus / "europarl/europarl.en.txt"):
        if line.startswith("#doc"):
            sitting = re.sub(r"\D*(\d+-\d+-\d+).*", r"\1", line)
            part = "train" if sitting < DEV else "dev" if sitting < TEST else "test"
        if not line.startswith("#speaker"):
            yield part, line if line.startswith("#doc") else quoted(spoken(line))


def spoken(line: str) -> str:
    """Remove text in parentheses, which may be nested."""
    while (left := BRACKETS.sub(" ", line)) != line:
        line = left
    return " ".join(line.split())


def quoted(line: str) -> str:
    """Replace single quotes around phrases with double quotes.

    A closing quote looks like the apostrophe of `citizens' rights`. So a phrase ends at the first closing quote that
    does not follow an s. If there is no such quote before the next phrase, the phrase ends at its first closing quote
    of any kind. A phrase without a closing quote does not change.
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
    """Yield, for each segment of the talks, its part (train, dev or test) and its text."""
    for part, file in TALKS.items():
        for line in lines(corpus / "iwslt_ted" / file):
            for name, segment in documents_and_segments(line):
                yield part, f"#doc {name}" if name else spoken(segment)


def conll(corpus: Path) -> Iterator[tuple[str, str]]:
    """Yield, for each sentence of the newswire, its part (train, dev or test) and its text."""
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
    """Yield the lines of a text file. Raises InputError if it is missing or not UTF-8."""
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
    run_script(main, __doc__)
