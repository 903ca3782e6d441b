"""Transcriber's transcripts (.trs), with times; the data directory gets `segments`.

A recording is named after its file. An utterance is the text from one `<Sync>` to the next, or to the end of the turn.
The utterance's speaker id consists of the recording and the turn's speaker. Events, comments and backgrounds are left
out. Kaldi requires `wav.scp` if there are `segments`. For FILE.trs, `wav.scp` gets the path FILE.wav, even if no such
file exists.

These repairs are counted:

- Text before a turn's first `<Sync>` gets the time at which the turn begins.
- If a `<Sync>` is not later than the previous one, or is outside its turn, the text after it is added to the text
  before it.
- Simultaneous words (`<Who>`) have no order, so only the words of the turn's first speaker are kept.
- If a turn has words but no speaker, its speaker is `unknown`.
- A mark before a turn's first word is dropped. Text outside turns, which has no time, is left out.
"""

import html
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from punc.base.errors import InputError, StrPath
from punc.base.files import open_input
from punc.data.datadir import LATEST, Utterance, new_data_dir, write_utterances
from punc.data.labels import RECORD
from punc.data.tables import TURNS
from punc.text.abbreviations import count_dot
from punc.text.file_parts import bound
from punc.text.format import DROPPED, PrepareOptions
from punc.text.format import Format as BaseFormat
from punc.text.formats import prose
from punc.text.passages import stream_name

IGNORED = {"Event": "non-speech events and other notes, left out", "Comment": "comments, left out",
           "Background": "changes of background, left out"}


class Event(NamedTuple):
    """A part of a file: the start of an element (`name` is its name, such as `Turn`), its end (`/Turn`), or a text (no
    name)."""

    name: str
    attributes: dict[str, str]
    text: str
    line: int


class TurnPart(NamedTuple):
    """The text of a turn between two times in seconds."""

    speaker: str
    begin: float
    end: float
    text: str


def read_events(path: StrPath) -> list[Event]:
    """Return the elements and texts of a file. Raises InputError for a file that Transcriber did not write."""
    events: list[Event] = []
    texts: list[str] = []  # texts since the last element; expat splits long texts, even inside words

    def element(name: str, attributes: dict[str, str] | None = None) -> None:
        if texts:
            events.append(Event("", {}, "".join(texts), parser.CurrentLineNumber))
            texts.clear()
        events.append(Event(name, attributes or {}, "", parser.CurrentLineNumber))

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = element
    parser.EndElementHandler = lambda name: element(f"/{name}")
    parser.CharacterDataHandler = texts.append
    # expat does not read the external DTD, so it skips entities that the DTD may declare. HTML entities are decoded
    # here. Other entities stay unchanged.
    parser.SkippedEntityHandler = lambda name, of_dtd: texts.extend([] if of_dtd else [html.unescape(f"&{name};")])
    with open_input(path) as file:
        try:
            parser.ParseFile(file)
        except (expat.ExpatError, ValueError, LookupError) as error:  # the last two: unknown encodings
            raise InputError(f"not XML: {str(error).partition(':')[0]}", "fix the file, or write it again in "
                             "Transcriber", path, getattr(error, "lineno", 1)) from None
    if events[0].name != "Trans":
        raise InputError(f"<{events[0].name}>, but Transcriber's files have <Trans>", "give .trs files", path,
                         events[0].line)
    return events


def event_time(event: Event, attribute: str, path: StrPath) -> float:
    """Return the time in an attribute of an element. Raises InputError if the attribute is missing or invalid."""
    try:
        time = round(float(event.attributes[attribute]), 3)  # `segments` has a resolution of 1 ms
        if not 0 <= time < LATEST:
            raise ValueError
    except (KeyError, ValueError):
        value = event.attributes.get(attribute)
        what = f"<{event.name}> without {attribute}" if value is None else f"{attribute} '{value}' is not a time"
        raise InputError(what, f'write <{event.name} {attribute}="SECONDS">', path, event.line) from None
    return time


class Turn:
    """A turn that is being read: begin and end in seconds, and the texts from one `<Sync>` to the next."""

    def __init__(self, event: Event, path: StrPath):
        self.begin = event_time(event, "startTime", path)
        self.end = event_time(event, "endTime", path)
        if self.end <= self.begin:
            raise InputError(f"a turn from {self.begin:g} to {self.end:g} s", "fix startTime and endTime", path,
                             event.line)
        self.speakers = event.attributes.get("speaker", "").split()
        self.first_speaker = True  # false in words that other speakers say at the same time as the first
        self.texts: list[tuple[float, list[str]]] = []

    def sync(self, time: float, repairs: Counter[str]) -> None:
        last = self.texts[-1][0] if self.texts else self.begin
        if time >= self.end or time < last or (time == last and self.texts):
            repairs["syncs that jump back or past their turn's end, ignored"] += 1
        else:
            self.texts.append((time, []))
        self.first_speaker = True

    def add(self, text: str, repairs: Counter[str]) -> None:
        if not self.first_speaker:
            repairs["words of overlapping speech, left out"] += len(text.split())
            return
        if not self.texts:
            repairs["texts before a first sync, which begin with their turn"] += 1
            self.texts.append((self.begin, []))
        self.texts[-1][1].append(text)

    def parts(self, repairs: Counter[str]) -> list[TurnPart]:
        """Return the parts that contain text."""
        ends = [*(begin for begin, _ in self.texts[1:]), self.end]
        if not self.speakers and any(texts for _, texts in self.texts):
            repairs["turns with words and no speaker"] += 1
        speaker = self.speakers[0] if self.speakers else "unknown"
        return [TurnPart(speaker, begin, end, " ".join(texts))
                for (begin, texts), end in zip(self.texts, ends) if texts]


def read_turns(path: StrPath, repairs: Counter[str]) -> Iterator[list[TurnPart]]:
    """Yield, for each turn, the parts that contain text. Raises InputError for an invalid file or turn."""
    turn: Turn | None = None
    for event in read_events(path):
        if event.name == "Turn":
            if turn:
                raise InputError("a turn inside another one", "end the first with </Turn>", path, event.line)
            turn = Turn(event, path)
        elif turn is None:
            repairs["words outside a turn, left out"] += len(event.text.split())
        elif event.name == "/Turn":
            yield turn.parts(repairs)
            turn = None
        elif event.name == "Sync":
            turn.sync(event_time(event, "time", path), repairs)
        elif event.name == "Who":
            turn.first_speaker = event.attributes.get("nb") == "1"
        elif event.name in IGNORED:
            repairs[IGNORED[event.name]] += 1
        elif event.text.strip():
            turn.add(event.text, repairs)


class Format(BaseFormat):
    """Reads transcripts. Holds all utterances in memory."""

    takes = ("labels", "lowercase", "clitics", "abbreviations", "remove", "clean")

    def __init__(self, options: PrepareOptions):
        super().__init__(options)
        self._text = prose.Format(options)

    def prepare(self, inputs: Sequence[StrPath], output: StrPath) -> Counter[str]:
        """Write a data directory (see `Format.prepare`). Raises InputError if two files have the same name, or if two
        utterances of a speaker have the same times."""
        counts, repairs, files = Counter[str](), Counter[str](), dict[str, StrPath]()
        found: dict[str, tuple[Utterance, str]] = {}  # id → utterance, and its line in `segments` without the id
        for path in inputs:
            recording = legal_id(Path(path).stem)
            if recording in files:
                raise InputError(f"a second file is called '{recording}'", "rename it", path)
            if not os.path.abspath(path).isprintable():  # for example, a path with bytes that are not UTF-8
                raise InputError("no line of wav.scp can have this name", "rename the file or its directory", path)
            files[recording] = path
            for utterance, part in self._utterances(path, recording, repairs):
                if utterance.id in found:
                    raise InputError(f"two turns of '{part.speaker}' begin at {part.begin:g} s", "fix them", path)
                found[utterance.id] = utterance, f"{recording} {part.begin:.3f} {part.end:.3f}"
                counts["words"] += len(utterance.words)
            bound(repairs)
        recordings = sorted({row.split()[0] for _, row in found.values()}, key=str.encode)
        wavs = {name: Path(files[name]).absolute().with_suffix(".wav") for name in recordings}
        with new_data_dir(Path(output), "pauses.scp", "pauses.ark", TURNS, "reco2file_and_channel") as tmp:
            ids = sorted(found, key=str.encode)
            write_utterances(tmp, Path(output), (found[id][0] for id in ids))
            self._text.reader.labels.write(tmp / RECORD)
            (tmp / "segments").write_text("".join(f"{id} {found[id][1]}\n" for id in ids), encoding="utf-8")
            (tmp / "wav.scp").write_text("".join(f"{name} {wav}\n" for name, wav in wavs.items()), encoding="utf-8")
        return counts + Counter(streams=len(recordings), utterances=len(found)) + repairs

    def _utterances(self, path: StrPath, recording: str, repairs: Counter[str]) -> Iterator[tuple[Utterance, TurnPart]]:
        text = self._text
        for turn in read_turns(path, repairs):
            found: list[tuple[Utterance, TurnPart]] = []
            for part in turn:
                passage = text.passage(text.said(part.text, repairs), repairs)
                words, labels = passage.words.split(), passage.labels.split()
                before = found[-1][0].labels if found else None
                if passage.lead and before:
                    before[-1] = text.reader.attach(before[-1], passage.lead)
                elif passage.lead:
                    repairs[DROPPED] += 1
                if passage.dot:
                    count_dot(passage.dot.dot, True, repairs)
                if words:
                    speaker = f"{recording}_{legal_id(part.speaker)}"
                    id = f"{speaker}-{round(part.begin * 1000):08d}_{round(part.end * 1000):08d}"
                    found.append((Utterance(id, speaker, words, labels), part))
            yield from found


def legal_id(name: str) -> str:
    """Convert a name to a part of an id, without hyphens, so that speakers and their utterances have the same order."""
    return stream_name(name).replace("-", "_")
