#!/usr/bin/env python3
"""usage: local/prepare_corpus.py CORPUS-DIR OUT-DIR

Divides the corpus into the sets of the recipe: texts for the first stage, OUT-DIR/<source>.{train,dev}.txt, and words
with pauses, OUT-DIR/pauses.{train,dev,test}.txt. All of these files have `#doc` lines.

- For the text sources edt, estner and fiction, dev consists of documents 10, 30, 50, … For bn, train and dev are the
  files train.txt and dev.txt of raw_data. Empty lines separate the broadcasts in these two files, and each broadcast
  becomes a document. Marks such as `,COMMA` become plain marks.
- raw_data contains six broadcasts with pauses. The one in pauses.dev.txt is the test set. The other five, one per line
  of pauses.train.txt, are for train and dev. Each of these five is cut into news items. Dev gets the items that begin
  in the first fifth of the first broadcast's words, in the second fifth of the second broadcast's words, and so on, so
  that train and dev both contain headlines, reports, sports and weather. A news item ends at a period with a pause of
  2 s or more: in such pauses, a jingle is played, a recorded report begins, or the broadcast moves to another place.
  The text before the dev items of a broadcast and the text after them, if there is any, are separate streams of train.
"""

import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from punc.base.files import open_input
from punc.bin.script import run_script

ITEM_END = re.compile(r"<sil=(?:[2-9]|\d\d+)\.\d+>\s+\.PERIOD\s")
SPELT_MARK = re.compile(r"\s+([^\w\s<+])[A-Z]{4,}(?=\s|$)")
# Number of words with pauses in the sets of RESULTS.md; `main` warns if a set differs.
WORDS = {"train": 21049, "test": 4307}


def read(path: Path) -> str:
    """Read a text of the corpus. Raises InputError if it is missing."""
    with open_input(path, "README.md says where to get the corpus"):
        return path.read_text(encoding="utf-8")


def documents(path: Path) -> Iterator[str]:
    for text in re.split(r"^(?=#doc)", read(path), flags=re.MULTILINE):
        if text.strip():
            yield text.rstrip("\n") + "\n"


def broadcasts(path: Path) -> Iterator[str]:
    """Yield each broadcast in a file of raw_data as a document: a `#doc` line, and the text with plain marks."""
    for i, text in enumerate(filter(str.strip, re.split(r"\n\s*\n", read(path))), 1):
        yield f"#doc {path.stem}{i}\n{SPELT_MARK.sub(lambda mark: mark[1], text).strip()}\n"


def items(broadcast: str) -> list[str]:
    """Cut a broadcast with pauses into news items. Together, the items make up the broadcast."""
    ends = [0, *(match.end() for match in ITEM_END.finditer(broadcast)), len(broadcast)]
    return [broadcast[begin:end] for begin, end in pairwise(ends) if broadcast[begin:end].strip()]


def words(text: str) -> int:
    """Count the words of a text with pauses: `<sil=SECONDS>` follows each word."""
    return text.count("<sil=")


def split(broadcast: str, part: int, parts: int) -> tuple[str, str, str]:
    """Return the text before a broadcast's dev items, the dev items, and the text after them. The broadcast's words are
    divided into `parts` equal parts. Dev items are those that begin in part number `part`, counted from 0."""
    before, dev, after, at, total = "", "", "", 0, words(broadcast)
    for item in items(broadcast):
        if at * parts < part * total:
            before += item
        elif at * parts < (part + 1) * total:
            dev += item
        else:
            after += item
        at += words(item)
    return before, dev, after


def write(path: Path, texts: list[str]) -> None:
    tmp = path.with_suffix(".new")
    tmp.write_text("".join(texts), encoding="utf-8")
    tmp.replace(path)


def main(corpus: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    raw = corpus / "raw_data"
    for source, file in ("edt", "edt.tok.txt"), ("estner", "estner_devtest.tok.txt"), ("fiction", "fiction_ebooks.txt"):
        every = list(documents(corpus / file))
        write(out / f"{source}.train.txt", [text for i, text in enumerate(every, 1) if i % 20 != 10])
        write(out / f"{source}.dev.txt", every[9::20])
    write(out / "bn.train.txt", list(broadcasts(raw / "train.txt")))
    write(out / "bn.dev.txt", list(broadcasts(raw / "dev.txt")))

    train = list(filter(str.strip, read(raw / "pauses.train.txt").split("\n")))
    test = read(raw / "pauses.dev.txt")
    for name, text in (("train", "".join(train)), ("test", test)):
        if words(text) != WORDS[name]:
            print(f"{sys.argv[0]}: the {name} set has {words(text)} words with pauses, not the {WORDS[name]} of "
                  "RESULTS.md; the figures will differ", file=sys.stderr)
    parts = [split(broadcast + "\n", i, len(train)) for i, broadcast in enumerate(train)]
    write(out / "pauses.train.txt", [f"#doc broadcast{i}{side}\n{text}\n" for i, (before, _, after) in
                                     enumerate(parts, 1) for side, text in (("a", before), ("b", after)) if text])
    write(out / "pauses.dev.txt", [f"#doc broadcast{i}\n{dev}\n" for i, (_, dev, _) in enumerate(parts, 1)])
    write(out / "pauses.test.txt", [f"#doc broadcast{len(train) + 1}\n{test}\n"])


if __name__ == "__main__":
    run_script(main, __doc__)
