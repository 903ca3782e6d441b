"""Kinds of inputs: the formats of `punc prepare`. If a format has no grammar in this module, its files are prose."""

import os
import random
import re
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from kind import LABELS, NAMES, Kind, Read, named, word, words

from punc.data.labels import LabelSet
from punc.text.format import PrepareOptions, format_names, load_format

MARKUP = re.compile(rb"<!--.*?-->|<[A-Za-z/!?][^<>]*>", re.DOTALL)  # `a<>b` is text
DOCUMENT = re.compile(rb"#doc.*")
COMMENT = re.compile(rb"^[ \t]*;;.*$", re.MULTILINE)


def kinds() -> Iterator[Kind]:
    for name in format_names():
        visible = {"mteval": without_markup, "trs": without_markup, "ctm": fifth_column}.get(name, without_names)
        yield Kind(name, partial(make, name), partial(read, name), (f"in.{name}",), visible)


def without_markup(data: bytes) -> bytes:
    return MARKUP.sub(b" ", data)


def without_names(data: bytes) -> bytes:
    return DOCUMENT.sub(b"", data)


def without_comments(data: bytes) -> bytes:
    return COMMENT.sub(b"", data)


def fifth_column(data: bytes) -> bytes:
    columns = [line.replace(b"\t", b" ").split() for line in without_comments(data).split(b"\n")]
    return b" ".join(column[4] for column in columns if len(column) > 4)


def after_fifth_column(data: bytes) -> bytes:
    lines = without_comments(data).replace(b"\t", b" ").split(b"\n")
    return b" ".join(b" ".join(line.split()[5:]) for line in lines)


def make(name: str, folder: Path, rng: random.Random) -> None:
    (folder / "labels.txt").write_text(LABELS)
    (folder / f"in.{name}").write_text(GRAMMARS.get(name, prose)(rng), encoding="utf-8")


def read(name: str, folder: Path, rng: random.Random) -> Read:
    kind = load_format(name)
    choices = {"utt_words": (50, 3, 0) if kind.lines_as_utterances else (50, 3), "independent": (False, True),
               "lowercase": (True, False), "keep_names": (False, True), "document_prefix": ("", "#doc"),
               "prefix": ("", "x-")}
    given = {option: rng.choice(values) for option, values in choices.items() if option in kind.takes}
    if given.get("independent"):
        given["document_prefix"] = ""
    if given.get("independent") or given.get("document_prefix"):
        given["keep_names"] = False
    options = PrepareOptions(LabelSet.read(folder / "labels.txt"), **given)
    with tempfile.TemporaryDirectory(dir=folder.parent) as out:
        counts = kind(options).prepare([folder / f"in.{name}"], os.path.join(out, "data"))
        table = Path(out, "data", "text").read_bytes()
        if sum(len(line.split(b" ")) - 1 for line in table.splitlines()) != counts["words"]:
            raise AssertionError("not the words that the message counts")
        return Read(table, named(counts))


def prose(rng: random.Random) -> str:
    lines = []
    for _ in range(rng.randrange(1, 8)):
        line = [f"{text}{rng.choice(('', '', ',', '.', '?', ' - ', '...', ')'))}" for text in words(rng, 6)]
        lines.append(" ".join(line))
    return rng.choice(("", f"#doc {word(rng)}\n")) + "\n".join(lines) + rng.choice(("\n", ""))


def lrec(rng: random.Random) -> str:
    return "".join(f"{text}\t{rng.choice(NAMES)}\n" for text in words(rng, rng.randrange(1, 30)))


def sil(rng: random.Random) -> str:
    marks = ("", "", "", "<sil=0.25>", "<sil=-0.00>", ",COMMA", "<sil=1.5> .PERIOD", "?QUESTIONMARK", ";SEMICOLON",
             "'CAUSE", "$MILLION")
    return " ".join(f"{text} {rng.choice(marks)}" for text in words(rng, rng.randrange(1, 40))) + "\n"


def mteval(rng: random.Random) -> str:
    docs = []
    for number in range(rng.randrange(1, 4)):
        segments = [f'<seg id="{i}"> {prose(rng).strip()} &amp; </seg>\n' for i in range(rng.randrange(1, 4))]
        docs.append(f'<doc docid="{number}" genre="x">\n<title>{word(rng)}</title>\n{"".join(segments)}</doc>\n')
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<mteval>\n<refset>{"".join(docs)}</refset></mteval>\n'


def trs(rng: random.Random) -> str:
    turns, time = [], 0.0
    for _ in range(rng.randrange(1, 4)):
        begin, texts = time, []
        for _ in range(rng.randrange(1, 4)):
            extra = rng.choice(("", "", '<Event desc="b" type="noise" extent="begin"/>', '<Comment desc="c"/>',
                                f'<Who nb="1"/>\n{word(rng)}\n<Who nb="2"/>'))
            texts.append(f'<Sync time="{time:.3f}"/>{extra}\n{" ".join(words(rng, 4))}.\n')
            time += rng.random() * 5 + 0.01
        turns.append(f'<Turn speaker="spk{rng.randrange(3)}" startTime="{begin:.3f}" endTime="{time:.3f}">\n'
                     f'{"".join(texts)}</Turn>\n')
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE Trans SYSTEM "trans-14.dtd">\n'
            f'<Trans audio_filename="x">\n<Episode><Section type="report" startTime="0" endTime="{time:.3f}">\n'
            f'{"".join(turns)}</Section></Episode>\n</Trans>\n')


def ctm(rng: random.Random) -> str:
    lines = []
    for id in range(rng.randrange(1, 4)):
        time = 0.0
        for text in words(rng, rng.randrange(1, 12)):
            confidence = rng.choice(("", "", " 0.97", " NA"))
            lines.append(f"rec{id} 1 {time:.3f} 0.25 {rng.choice((text, text, text, '<eps>'))}{confidence}\n")
            time += rng.random() + 0.25
        if not rng.randrange(4):
            parts = [f"rec{id} 1 {time:.2f} 0.1 {word(rng)}" for _ in range(2)]
            lines.append(f"rec{id} 1 * * <ALT_BEGIN>\n{parts[0]}\nrec{id} 1 * * <ALT>\n{parts[1]}\n"
                         f"rec{id} 1 * * <ALT_END>\n;; {word(rng)}\n")
    return "".join(lines)


GRAMMARS = {"lrec": lrec, "sil": sil, "mteval": mteval, "trs": trs, "ctm": ctm}
