"""Kinds of inputs: live input, as bytes in pieces of any size, and as messages that a client sends to the server.

The input consists of words, CTM lines, JSON lines or Vosk's results. An input that arrives in pieces must give the same
result as an input that arrives at once. A session with a model must return all words, except those in lines that an
error names.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import json_grammars
from inputs_models import make_packed
from inputs_text import ctm
from inputs_transcripts import timed
from kind import Kind, Read, counted, found, words

from punc.base.errors import InputError
from punc.decoding.packed import load_packed
from punc.live.connection import Connection
from punc.live.input import End, Item, LiveWord, kind_of
from punc.live.session import OUTPUTS, UTTERANCE_ENDS, LiveOptions, Session, Writer
from punc.live.streaming import LiveReader
from punc.live.words import LiveWriter, open_stream
from punc.text.casing import Casing

BLANKS = " \t\n\r\v\f"


def kinds() -> Iterator[Kind]:
    for name, grammar in GRAMMARS.items():
        form = name if name in ("words", "ctm", "json") else "json" if name == "vosk" else "auto"
        yield Kind(f"live {name}", partial(make, grammar), partial(read, form), ("in",), partial(visible, form),
                   share=4)
    yield Kind("live message", partial(make, either), read_messages, ("in",), partial(visible, "auto"), share=4)


def plain(rng: random.Random) -> str:
    between = (" ", " ", " ", "\t", "\n", "\n\n")
    return "".join(text + rng.choice(between) for text in words(rng, rng.randrange(1, 20)))


def json_lines(rng: random.Random) -> str:
    lines: list[Any] = []
    for row in timed(rng):
        for text, begin, end in row:
            times = {"start": begin, "end": end} if rng.randrange(3) else {}
            lines.append({"word": text, **times, **rng.choice(({}, {"conf": 0.5, "id": "r"}))})
        lines += rng.choice(([], [{"utterance_end": True}], [{"eof": 1}]))
    return "".join(json.dumps(line, ensure_ascii=bool(rng.randrange(2))) + rng.choice(("\n", "\n", "\n\n"))
                   for line in lines)


def vosk(rng: random.Random) -> str:
    text = json_grammars.vosk(timed(rng), rng, together=False)
    return text


def either(rng: random.Random) -> str:
    return rng.choice((plain, ctm, json_lines, vosk))(rng)


GRAMMARS: dict[str, Callable[[random.Random], str]] = {
    "words": plain, "ctm": ctm, "json": json_lines, "vosk": vosk, "auto": either}


def make(grammar: Callable[[random.Random], str], folder: Path, rng: random.Random) -> None:
    (folder / "in").write_bytes(grammar(rng).encode(rng.choice(("utf-8", "utf-8", "utf-8-sig"))))


def visible(form: str, data: bytes) -> bytes:
    """Return the words of an input, including all words of lines that cannot be read."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\0", "\ufffd")
    form = (kind_of(text, True) or "words") if form == "auto" else form
    if form == "words":
        return text.encode()
    shown: list[str] = []
    for part in text.split("\n") if form == "ctm" else objects(text):
        shown += of_ctm_line(part) if form == "ctm" else of_object(part)
    if form == "ctm" and "<ALT" in text:
        return b""  # in damaged lines, it is unclear which words are alternatives
    return " ".join(shown).encode("utf-8", "replace")


def of_ctm_line(line: str) -> list[str]:
    """Return the fifth column of a CTM line, all columns if there are fewer than five, or none for a comment."""
    columns = line.split()
    return columns[4:5] or columns if not line.lstrip().startswith(";;") else []


def objects(text: str) -> Iterator[str]:
    """Yield the lines of JSON input, but join the lines from a line `{` to the next line `}`."""
    begun: list[str] = []
    for line in text.split("\n"):
        line = line.rstrip(BLANKS)
        if line == "{" and begun:
            yield "\n".join(begun)
            begun = []
        begun = [*begun, line] if begun or line == "{" else begun
        if not begun:
            yield line
        elif line == "}":
            yield "\n".join(begun)
            begun = []
    yield "\n".join(begun)


def of_object(text: str) -> list[str]:
    try:
        return [f"{one:s}" for one in _of_message(json.loads(text))]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        if "\n" in text:  # the object is damaged, and its lines may be objects themselves
            return [one for line in text.split("\n") for one in of_object(line)]
        return [text]


def _of_message(message: dict[str, Any]) -> Iterator[str]:
    if "word" in message:
        yield message["word"]
    elif "alternatives" in message:
        yield from _of_message({"text": "", **message["alternatives"][0]}) if message["alternatives"] else ()
    elif "result" in message:
        yield from (one["word"] for one in message["result"])
    else:
        yield message.get("text", "")


class Reader(LiveReader):
    def __init__(self, form: str):
        super().__init__(form)
        self.errors: list[InputError] = []

    def _checked(self, items: list[Item]) -> list[Item]:
        self.errors += self._items.take_errors()
        return items


def read(form: str, folder: Path, rng: random.Random) -> Read:
    data = (folder / "in").read_bytes()
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(6)))
    pieces = [data[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(data)])]
    reader, whole = Reader(form), Reader(form)
    items = [item for piece in pieces for item in reader.feed(piece)] + reader.end()
    if repr(items) != repr(whole.feed(data) + whole.end()) or len(reader.errors) != len(whole.errors):
        raise AssertionError("other items from pieces")
    text = decide(folder, items, rng)
    whole_text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    left_out = lines_of(whole_text, (error.line or 0 for error in reader.errors))
    return Read(" ".join((text, left_out)).encode("utf-8", "replace"))


def lines_of(text: str, numbers: Iterable[int]) -> str:
    """Return the lines with the given numbers. If an object begins in one of them, return all lines of the object."""
    lines, named = text.split("\n"), []
    for number in numbers:
        end = number
        if lines[number - 1].strip(BLANKS) == "{":
            end = next((i for i in range(number, len(lines)) if lines[i].rstrip(BLANKS) in ("}", "{")), len(lines)) + 1
        named += lines[number - 1:end]
    return " ".join(named)


@cache
def packed(place: Path) -> Any:
    make_packed("delay", place / "live_model", random.Random(1))
    return load_packed(place / "live_model")


def decide(folder: Path, items: Sequence[Item], rng: random.Random) -> str:
    model, output = packed(folder.parent), rng.choice(OUTPUTS)
    options = LiveOptions(rng.choice((None, 0.5)), rng.choice(UTTERANCE_ENDS))
    words, written = LiveWriter(model, Casing(model.labels, {})), Writer(output)
    session = Session(lambda: open_stream(model, words), options)
    messages, at = [], 0
    while at < len(items):
        part = items[at:at + rng.choice((1, 3, 100))]
        at += len(part)
        messages += written.messages(session.feed(part), part, session.waiting)
        if not rng.randrange(8):
            messages += written.messages(session.silence(), [], session.waiting)
    messages += written.messages(session.end(), [End.STREAM], session.waiting)
    text = "".join(message + written.line_end for message in messages)
    shown = " ".join(item.word for item in items if isinstance(item, LiveWord))
    if output == "text" and found(text.lower().encode()) != found(shown.lower().encode()):
        raise AssertionError("other words than came in")
    for line in text.split("\n")[:-1] if output != "text" else ():
        json.loads(line)
    text.encode()
    return text.lower() + (shown if shown != shown.lower() else "")


def besides(text: str, shown: bytes) -> list[str]:
    """Return the words that JSON input contains in addition to the words `shown`: repetitions and alternatives."""
    return [word.decode() for word in (counted(text.encode()) - counted(shown)).elements()]


def read_messages(folder: Path, rng: random.Random) -> Read:
    text = (folder / "in").read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")
    model = packed(folder.parent)
    session = Session(lambda: open_stream(model, LiveWriter(model, Casing(model.labels, {}))), LiveOptions())
    connection = Connection(None, None, session, None, "auto", 1000.0, lambda count: None)  # type: ignore[arg-type]
    lines, items, named, in_json = text.split("\n"), [], [], ""
    while lines:
        size = rng.choice((1, 5, 10**6))
        message, rest, lines = "\n".join(lines[:size]), "\n".join(lines), lines[size:]
        wrong = False
        for came, errors in connection._read(message):
            json.dumps([str(error) for error in errors])
            items += came
            wrong = wrong or bool(errors)
        named += [message] * wrong
        if message.lstrip(BLANKS).startswith("{"):  # the first message in JSON may follow messages of words
            in_json = in_json or rest
            named += besides(message, " ".join(of_object(message)).encode("utf-8", "replace"))
    named += besides(in_json, visible("json", in_json.encode()))
    return Read(" ".join((decide(folder, items, rng), *named)).encode("utf-8", "replace"))
