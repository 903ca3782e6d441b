"""Kinds of inputs: files of recognisers and captioners, which `punc transcript` reads, punctuates and writes.

The output is checked. Without new marks, it must equal the input. With new marks, it must have the input's letters, and
reading it must give the words that were written. In another format (except JSON), it must show all words but those
meant only for programs, such as `<noise>`.
"""

import html
import json
import random
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import json_grammars
import numpy as np
from kind import LABELS, Kind, changed, found, words

from punc.base.errors import InputError
from punc.data.labels import LabelSet
from punc.decoding.marked_transcript import MarkedTranscript, word_pauses
from punc.decoding.transcript_formats import WRITERS
from punc.text.casing import Casing
from punc.text.marked_words import MarkedWords
from punc.text.split_words import AUTO, KEEP, REPLACE, take_apart
from punc.text.word_parts import SILENCE, TokenReader, is_hidden
from punc.transcripts.read import read_transcript
from punc.transcripts.source import encoded
from punc.transcripts.transcript import Transcript, Words, words_of, write

sys.path.append(str(Path(__file__).parents[1]))
from transcript_files import MAKERS

BETWEEN = re.compile(r"[\s,]*")  # what can separate two values in a JSON file
ODD = ("", " ", "a b", "\n", "\0", "\ud800", "\u2028", '"', "\\", "<i>", "-->", "[x", "<unk>", ".", "E.", "x:", "a\nb")
NUMBERS = (0, -1, 1, 10**12, 2**63, 1.5, float("nan"), float("inf"), None, True, [], {}, [1], "1")


def kinds() -> Iterator[Kind]:
    for name in MAKERS:
        yield Kind(f"transcript {name}", partial(make, name), read, ("in",), share=3)
    for name in json_grammars.GRAMMARS:
        yield Kind(f"transcript {name}", partial(make, name), read, ("in",), alter=alter_json, share=3)


def timed(rng: random.Random) -> list[list[tuple[str, float, float]]]:
    at, segments = 0.0, list[list[tuple[str, float, float]]]()
    for _ in range(rng.randrange(1, 4)):
        segments.append([])
        for text in words(rng, rng.randrange(1, 8)):
            begin = at + rng.choice((0, 0, 0.3, 2))
            at = round(begin + rng.choice((0, 0.1, 0.5)), 3)
            segments[-1].append((text + rng.choice(("", "", ",", ".")), begin, at))
    first = rng.choice(("", "", "", "John: ", "- ", "[SPEAKER_01]: ", "<i>", ">> ")) + segments[0][0][0]
    segments[0][0] = (first, *segments[0][0][1:])
    return segments


def make(name: str, folder: Path, rng: random.Random) -> None:
    grammar = json_grammars.GRAMMARS.get(name)
    content = grammar(timed(rng), rng) if grammar else MAKERS[name](timed(rng))
    encoding = rng.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16"))
    (folder / "in").write_bytes((content if rng.randrange(5) else content.replace("\n", "\r\n")).encode(encoding))


def alter_json(folder: Path, rng: random.Random) -> None:
    text = (folder / "in").read_bytes()
    content = text.decode("utf-16" if text[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    decoder, at, documents = json.JSONDecoder(), 0, []
    while content[at:].strip():
        at += len(content[at:]) - len(content[at:].lstrip())
        value, at = decoder.raw_decode(content, at)
        documents.append(value)
    for _ in range(rng.choice((1, 1, 3))):
        chosen = rng.randrange(len(documents))
        documents[chosen] = changed(documents[chosen], rng, (*NUMBERS, *ODD), ODD)
    (folder / "in").write_text("\n".join(json.dumps(one) for one in documents))


def read(folder: Path, rng: random.Random) -> None:
    path, labels = folder / "in", folder.parent / "labels.txt"
    labels.write_text(LABELS)
    transcript = read_transcript(path)
    found_words = words_of(transcript.texts)
    check_same(path, encoded(write(transcript, found_words, found_words.texts), transcript.encoding))
    transcript = read_transcript(path)
    marked = random_labels(found_words, LabelSet.read(labels), rng)
    before, after = path.read_bytes(), encoded(write(transcript, found_words, marked.texts), transcript.encoding)
    if letters(before) != letters(after):
        raise AssertionError("other letters than before")
    (folder / "out").write_bytes(after)
    check_again(folder / "out", transcript, marked)
    with suppress(InputError):  # an InputError says that the words have no times
        check_form(rng.choice(sorted(WRITERS)), found_words, marked, folder)


def check_same(path: Path, content: bytes) -> None:
    """Raise AssertionError unless `content` equals the file's content. Only letters and digits of JSON are compared."""
    old = path.read_bytes()
    if old != content and (documents(old) is None or letters(old) != letters(content)):
        raise AssertionError("another file without new marks")


def documents(data: bytes) -> str | None:
    """Return the values of a JSON file as text, or None if the file is not JSON."""
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")
    if text.lstrip()[:1] not in ("{", "["):
        return None
    decoder, at, found = json.JSONDecoder(), 0, list[str]()
    with suppress(ValueError, RecursionError):
        while (start := BETWEEN.match(text, at)) and start.end() < len(text):
            at = start.end()
            value, at = decoder.raw_decode(text, at)
            found.append(json.dumps(value, ensure_ascii=False))
        return "".join(found)
    return None


def letters(data: bytes) -> str:
    """Return the letters and digits of a text, case-folded. New marks do not change them."""
    text = documents(data)
    if text is None:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace")
    return "".join(filter(str.isalnum, html.unescape(html.unescape(text)).casefold()))


def check_again(path: Path, transcript: Transcript, marked: MarkedTranscript) -> None:
    """Raise AssertionError if the words read from the written file differ, for no known reason, from `marked`."""
    try:
        again = read_transcript(path)
    except InputError:
        return  # with marks, a text of few words can look like another format
    texts = words_of(again.texts).texts
    written = list(filter(None, marked.texts))
    if again.format != transcript.format or written == texts:
        return
    if any(":" in text for text in written):
        return  # a capitalised word and a colon look like a speaker's name; `0:` before a time becomes part of the time
    if documents(path.read_bytes()) is not None:
        return  # JSON may contain the words twice; if the copies' marks now differ, the reader may take the second copy
    raise AssertionError("other words than were written")


def random_labels(found_words: Words, label_set: LabelSet, rng: random.Random) -> MarkedTranscript:
    split = take_apart(found_words.texts, TokenReader(lowercase=bool(rng.randrange(4))), found_words.streams,
                       found_words.turns, found_words.segments)
    draw = np.random.default_rng(rng.randrange(99))
    labels = np.where(split.counts > 0, draw.integers(0, len(label_set), len(split.codes)), 0)
    writer = MarkedWords(label_set, Casing(label_set, {}), rng.choice((AUTO, KEEP, REPLACE)), bool(rng.randrange(2)))
    texts, labels = writer.write(split, labels)
    pauses = word_pauses(found_words, split)
    return MarkedTranscript(split, texts, labels, draw.random(len(texts)), pauses, label_set, 0, False)


def check_form(form: str, found_words: Words, marked: MarkedTranscript, folder: Path) -> None:
    """Write a transcript as `form`. Raise AssertionError unless the output shows all words but the hidden ones:
    silences and, except in a CTM, tags for programs such as `<unk>`. The words in JSON output are not checked."""
    uncounted = [re.sub("qz([a-p]{3}q)", r"xz\1", name, flags=re.I) for name in found_words.speakers]
    names = [f"in{i}" for i in range(len(found_words.recordings))]
    found_words = found_words._replace(speakers=uncounted, recordings=names)
    text = WRITERS[form](found_words, marked)
    drop = [token.kind == SILENCE if form in ("ctm", "json") else is_hidden(token) for token in marked.words.tokens]
    shown = [text for text, code in zip(marked.texts, marked.words.codes.tolist()) if not drop[code]]
    if found(" ".join(shown).lower().encode()) != found(text.lower().encode()) and form != "json":
        raise AssertionError(f"other words as {form}")
