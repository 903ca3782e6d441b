"""Files of recognisers, as `punc transcript` reads, punctuates and writes them; of a format without a grammar, texts.

What is written is checked, too: without new marks the same bytes, with marks the words that were read, and in other
formats all words but those that are for programs.
"""

import io
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import json_grammars
import numpy as np
from inputs_text import after_fifth_column, ctm, prose, without_comments
from json_grammars import dumped
from kind import LABELS, Kind, Read, changed, found, word, words
from punc.asr.document import Document, no_places, read_source, write_document
from punc.asr.matching import word_bounds, word_texts
from punc.asr.read import format_modules, read_document
from punc.decoding.document_output import WRITERS
from punc.decoding.documents import Punctuated, word_pauses

from punc.base.errors import InputError
from punc.data.labels import LabelSet
from punc.text.casing import Casing
from punc.text.marked_words import MarkedWords, take_apart
from punc.text.word_parts import SILENCE, TokenReader, is_hidden

MARKUP = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
NAME = re.compile(r"^[ \t]*(?:(?:-|>>)[ \t]*)?\[?[A-ZÀ-ÿ][^\n:]*:", re.MULTILINE)  # a speaker's
TIERS = (("words",), ("words", "phones"), ("ann - words", "ben - words"), ("ann", "ben"))  # of a TextGrid
TIER = re.compile(r'"IntervalTier"')
INTERVAL = re.compile(r'^[ \t]*(?:xmin = )?-?\d[\d.eE+-]*\s*\n[ \t]*(?:xmax = )?-?\d[\d.eE+-]*\s*\n[ \t]*(?:text = )?'
                      r'"((?:[^"]|"")*)"', re.MULTILINE)
ODD = ("", " ", "a b", "\n", "\0", "\ud800", "\u2028", '"', "\\", "<i>", "-->", "[x", "<unk>", ".", "E.", "x:", "a\nb")
NUMBERS = (0, -1, 1, 10**12, 2**63, 1.5, float("nan"), float("inf"), None, True, [], {}, [1], "1")


def kinds() -> Iterator[Kind]:
    for name in format_modules():
        is_json = name in ("whisper", "whisperx", "vosk", *json_grammars.GRAMMARS)
        visible = partial(of_other_json, name) if name in json_grammars.GRAMMARS else VISIBLE.get(name, of_lines)
        yield Kind(f"asr {name}", partial(make, name), read, ("in",), visible,
                   alter_json if is_json else None)


def timed(rng: random.Random) -> list[list[tuple[str, float, float]]]:
    """Segments of words with their begins and ends."""
    at, segments = 0.0, list[list[tuple[str, float, float]]]()
    for _ in range(rng.randrange(1, 4)):
        segments.append([])
        for text in words(rng, rng.randrange(1, 8)):
            begin = at + rng.choice((0, 0, 0.3, 2))
            at = round(begin + rng.choice((0, 0.1, 0.5)), 3)
            segments[-1].append((text + rng.choice(("", "", ",", ".")), begin, at))
    return segments


def whisper(rng: random.Random, blank: str = " ", confidence: str = "probability") -> dict[str, Any]:
    segments = []
    for number, row in enumerate(timed(rng)):
        segment = {"id": number, "seek": 0, "start": row[0][1], "end": row[-1][2],
                   "text": "".join(" " + text for text, *_ in row), "tokens": [50364, 407], "temperature": 0.0}
        if rng.randrange(5):
            segment["words"] = [{"word": blank + text, "start": begin, "end": end, confidence: 0.5}
                                for text, begin, end in row]
        segments.append(segment)
    if not rng.randrange(4):
        for segment in segments:
            segment.pop("words", None)
    return {"text": "".join(segment["text"] for segment in segments), "segments": segments, "language": "en"}


def whisperx(rng: random.Random) -> str:
    made = whisper(rng, "", "score")
    if not rng.randrange(3):
        made = whisper(rng)
        lines = made["segments"] if rng.randrange(2) else []
        return "".join(json.dumps(line) + "\n" for line in lines) or dumped(made["segments"], rng)  # faster-whisper's
    del made["text"]
    for segment in made["segments"]:
        segment["speaker"] = rng.choice(("SPEAKER_00", "SPEAKER_01"))
        segment.setdefault("words", [])  # the aligner knew none of its letters
        for one in segment["words"]:
            if not rng.randrange(4):
                del one["start"], one["end"], one["score"]
    every = [one for segment in made["segments"] for one in segment["words"]]
    return dumped({**made, "word_segments": every}, rng)


def vosk(rng: random.Random) -> str:
    results: list[Any] = []
    for row in timed(rng):
        text = " ".join(text for text, *_ in row)
        rated = [{"conf": 1.0, "end": end, "start": begin, "word": text} for text, begin, end in row]
        result = {"result": rated, "text": text}
        results += [rng.choice((result, result, {"alternatives": [result, {"text": word(rng)}]}, {"text": text}))]
        results += [{"partial": text}] * (not rng.randrange(3))
    return dumped(results, rng) if not rng.randrange(3) else "\n".join(dumped(one, rng) for one in results) + "\n"


def clock(time: float, point: str) -> str:
    ms = round(1000 * time)
    return f"{ms // 3600000:02}:{ms // 60000 % 60:02}:{ms // 1000 % 60:02}{point}{ms % 1000:03}"


def cue_text(row: list[tuple[str, float, float]], rng: random.Random) -> str:
    """The words of a cue, with a line end, markup or a speaker's name."""
    shown = [text for text, *_ in row]
    shown[0] = rng.choice(("", "", "", "John: ", "- ", "[SPEAKER_01]: ", "<i>")) + shown[0]
    return rng.choice((" ", "\n")).join(shown) + rng.choice(("", "", "</i>"))


def srt(rng: random.Random) -> str:
    return "".join(f"{number}\n{clock(row[0][1], ',')} --> {clock(row[-1][2], ',')}\n{cue_text(row, rng)}\n\n"
                   for number, row in enumerate(timed(rng), 1))


def webvtt(rng: random.Random) -> str:
    cues = []
    for row in timed(rng):
        inner = [f"<{clock(begin, '.')}><c>{text}</c>" if not rng.randrange(5) else text for text, begin, _ in row]
        text = rng.choice(("", "", "<v Ann B>")) + " ".join(inner).replace("&", "&amp;")
        cues.append(f"{rng.choice(('', '1', 'NOTE no words', 'STYLE'))}\n{clock(row[0][1], '.')} --> "
                    f"{clock(row[-1][2], '.')}{rng.choice(('', ' align:start'))}\n{text}\n")
    return "WEBVTT\n\n" + "\n".join(cues).replace("\nSTYLE\n", "\nSTYLE\n\n").replace("words\n", "words\n\n")


def stm(rng: random.Random) -> str:
    lines = [f"rec {rng.choice('12')} {rng.choice(('ann', 'inter_segment_gap'))} {row[0][1]} {row[-1][2]} "
             f"{rng.choice(('', '<o,f0,male> '))}{' '.join(text for text, *_ in row)}\n" for row in timed(rng)]
    return "".join([*lines, ";; comment\n", "rec 1 x 99 100 ignore_time_segment_in_scoring\n"][::rng.choice((1, -1))])


def textgrid(rng: random.Random, tiers: Sequence[Sequence[str]] = TIERS, zero: bool = True) -> str:
    """Tiers of intervals; `zero`: some words have no length."""
    names, long, made = rng.choice(tiers), rng.randrange(2), []
    for number, name in enumerate(names, 1):
        rows = [one for row in timed(rng) for one in row]
        end = max(rows[-1][2], 0.1)
        marks = [(begin, stop, rng.choice((text, text, text, "", "sil"))) for text, begin, stop in rows
                 if zero or stop > begin]
        if long:
            inner = "".join(f'        intervals [{i}]:\n            xmin = {a}\n            xmax = {b}\n'
                            f'            text = "{mark}" \n' for i, (a, b, mark) in enumerate(marks, 1))
            made.append(f'    item [{number}]:\n        class = "IntervalTier"\n        name = "{name}"\n        '
                         f'xmin = 0\n        xmax = {end}\n        intervals: size = {len(marks)}\n{inner}')
        else:
            inner = "".join(f'{a}\n{b}\n"{mark}"\n' for a, b, mark in marks)
            made.append(f'"IntervalTier"\n"{name}"\n0\n{end}\n{len(marks)}\n{inner}')
    return (f'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n99\n<exists>\n{len(names)}\n' + "".join(made))


def text(rng: random.Random) -> str:
    return rng.choice(("", "John Smith: ", "SPEAKER_00:\n")) + prose(rng) + rng.choice(("", f"\n\n{prose(rng)}"))


GRAMMARS: dict[str, Callable[[random.Random], str]] = {
    "whisper": lambda rng: dumped(whisper(rng), rng), "whisperx": whisperx, "vosk": vosk, "ctm": ctm, "stm": stm,
    "textgrid": textgrid, "srt": srt, "webvtt": webvtt, "text": text}


def make(name: str, folder: Path, rng: random.Random) -> None:
    other = json_grammars.GRAMMARS.get(name)
    content = other(timed(rng), rng) if other else GRAMMARS.get(name, text)(rng)
    encoding = rng.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16"))
    (folder / "in").write_bytes((content if rng.randrange(5) else content.replace("\n", "\r\n")).encode(encoding))


def alter_json(folder: Path, rng: random.Random) -> None:
    """Other values in the JSON, or fewer members."""
    content = decoded((folder / "in").read_bytes())
    documents = list(objects(content))
    at = rng.randrange(len(documents))
    for _ in range(rng.choice((1, 1, 3))):
        documents[at] = changed(documents[at], rng, (*NUMBERS, *ODD), ODD)
    (folder / "in").write_text("\n".join(json.dumps(one) for one in documents))


def decoded(data: bytes) -> str:
    """A file as text, as far as it is that."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "ignore")
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "ignore")


def objects(text: str) -> Iterator[Any]:
    """The JSON documents of a text, one after another."""
    at, decoder = 0, json.JSONDecoder()
    while text[at:].strip(" \t\r\n"):
        at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n"))
        value, at = decoder.raw_decode(text, at)
        yield value


def of_json(data: bytes) -> bytes:
    """The words of the segments: of lists of words, or of texts where there are none."""
    try:
        return " ".join(_texts(list(objects(decoded(data))))).encode("utf-8", "replace")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return b""  # not JSON, or not of a recogniser: it must be refused, or read somehow


def _texts(content: Any) -> Iterator[str]:
    for one in content:
        if isinstance(one, list):
            yield from _texts(one)
        elif "segments" in one:
            yield from _texts(one["segments"])
        elif isinstance(one.get("alternatives"), list) and not {"result", "words"} & one.keys():
            yield from _texts(one["alternatives"][:1])
        elif listed := one.get("words") or one.get("result"):
            yield from (item["word"] for item in listed)
        elif isinstance(one.get("text"), str):
            yield one["text"]


def of_other_json(name: str, data: bytes) -> bytes:
    """The words of a format of `json_grammars`."""
    try:
        return " ".join(json_grammars.seen(name, list(objects(decoded(data))))).encode("utf-8", "replace")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError, IndexError):
        return b""


def of_lines(data: bytes) -> bytes:
    """A text without what may be names of speakers."""
    return NAME.sub(" ", decoded(data)).encode()


def of_srt(data: bytes) -> bytes:
    """The words of cues: lines without an arrow, from the first arrow on."""
    lines = decoded(data).split("\n")
    return of_lines(MARKUP.sub(" ", "\n".join(line for line in lines if "-->" not in line)).encode())


def of_vtt(data: bytes) -> bytes:
    """What stands between the times of a cue and the empty line after it."""
    blocks = re.split(r"\n[ \t\r]*(?=\n)", decoded(data))
    shown = [block.partition("-->")[2].partition("\n")[2] for block in blocks]
    return of_lines(MARKUP.sub(" ", "\n".join(shown)).encode())


def of_stm(data: bytes) -> bytes:
    lines = [line for line in decoded(data).split("\n") if "ignore_time_segment_in_scoring" not in line.lower()]
    return MARKUP.sub(" ", after_fifth_column("\n".join(lines).encode()).decode()).encode()


def of_ctm(data: bytes) -> bytes:
    """The fifth column, of alternatives that of the first."""
    shown, later = [], False
    for line in without_comments(decoded(data).encode()).split(b"\n"):
        column = line.split()[4:5]
        if column in ([b"<ALT_BEGIN>"], [b"<ALT>"], [b"<ALT_END>"]):
            later = column == [b"<ALT>"]
        elif not later:
            shown += column
    return b" ".join(shown)


def of_textgrid(data: bytes) -> bytes:
    """What the intervals of the tiers of words have between their quotes."""
    content = decoded(data)
    starts = [match.end() for match in TIER.finditer(content)]
    tiers = [content[begin:end] for begin, end in pairwise([*starts, len(content)])]
    names = [(re.findall(r'"((?:[^"]|"")*)"', tier) or [""])[0] for tier in tiers]
    chosen = [i for i, name in enumerate(names) if name == "words"] or \
        [i for i, name in enumerate(names) if name.endswith(" - words")] or range(len(tiers))
    return " ".join(match for i in chosen for match in INTERVAL.findall(tiers[i])).encode()


VISIBLE = {"whisper": of_json, "whisperx": of_json, "vosk": of_json, "ctm": of_ctm, "stm": of_stm, "srt": of_srt,
           "webvtt": of_vtt, "textgrid": of_textgrid}


def read(folder: Path, rng: random.Random) -> Read:
    path, labels = folder / "in", folder.parent / "labels.txt"
    labels.write_text(LABELS)
    document = read_document(path)
    if written(document._replace(copies=no_places()), document.pieces) != path.read_bytes():
        raise AssertionError("other bytes without new marks")
    punctuated = random_labels(document, LabelSet.read(labels), rng)
    pieces, chances = punctuated.pieces(document)
    (folder / "out").write_bytes(written(document, pieces, chances if rng.randrange(2) else None))
    named = any(piece.endswith(":") for piece in pieces)  # with a capital, such a word is a speaker's name
    if not named:
        # A text's first line can come to look like another format: without commas, as a segment of an STM.
        again = format_modules()[document.format].read(read_source(folder / "out"))
        # A mark between tags may go: `a,</i>;` becomes `a.</i>`. A word of blanks is empty, and stays.
        if [*filter(None, again.pieces)] != [*filter(None, pieces)]:
            raise AssertionError("other words than were written")
        if word_texts(again.pieces, *word_bounds(again.joined)) != punctuated.texts:
            raise AssertionError("words are cut or joined")
    with suppress(InputError):  # no times
        check_form(rng.choice(sorted(WRITERS)), document, punctuated, folder)
    return Read(" ".join(document.pieces).encode("utf-8", "replace"), 0 if document.pieces else 10**9)


def written(document: Document, texts: list[str], chances: np.ndarray | None = None) -> bytes:
    file = io.BytesIO()
    write_document(file, document, texts, chances)
    return file.getvalue()


def random_labels(document: Document, label_set: LabelSet, rng: random.Random) -> Punctuated:
    """A document as if a model had chosen the labels."""
    read = take_apart(document, TokenReader(lowercase=bool(rng.randrange(4))))
    count = len(read.codes)
    draw = np.random.default_rng(rng.randrange(99))
    labels = np.where(read.counts > 0, draw.integers(0, len(label_set), count), 0)
    marked = MarkedWords(label_set, Casing(label_set, {}), keep_marks=not rng.randrange(3),
                         sentences=bool(rng.randrange(2)))
    texts, labels = marked.write(read, labels)
    return Punctuated(read, texts, labels, draw.random(count), word_pauses(document, read), label_set)


def uncounted(name: str) -> str:
    """A name in which no word counts: texts and paragraphs have names of speakers and recordings between the words."""
    return re.sub("qz([a-p]{3}q)", r"xz\1", name, flags=re.I)


def check_form(form: str, document: Document, punctuated: Punctuated, folder: Path) -> None:
    """Raise AssertionError unless all words are in another format that people see, or programs read."""
    names = [[uncounted(name) for name in column] for column in (document.recordings, document.speakers)]
    document = document._replace(recordings=[name or "in" for name in names[0]], speakers=names[1])
    with open(folder / "form", "w", encoding="utf-8") as file:
        file.write(WRITERS[form](document, punctuated))
    drop = [token.kind == SILENCE if form in ("ctm", "json") else is_hidden(token)
            for token in punctuated.words.tokens]
    shown = [text for text, code in zip(punctuated.texts, punctuated.words.codes.tolist()) if not drop[code]]
    again = (folder / "form").read_bytes()
    expected, names = found(" ".join(shown).lower().encode()), ""
    if form in ("ctm", "json", "srt", "vtt") and shown:
        reread = read_document(folder / "form")
        again, names = " ".join(reread.pieces).encode(), " ".join(reread.speakers)
    got = found(again.lower())
    for one in found(names.lower().encode()):  # `Tom John:` at the beginning of a cue is read as a speaker's name
        del expected[one], got[one]
    if expected != got:
        raise AssertionError(f"other words as {form}")
