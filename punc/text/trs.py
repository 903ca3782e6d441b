"""Transcriber's `.trs` transcripts to a data directory with `segments`.

The file's name is the recording. An utterance is what stands between one `<Sync>` and the next, or the turn's end;
its speaker is the recording and the turn's speaker. Kaldi wants `wav.scp` with `segments`: it names the `.wav` of that
name beside the transcript, whether it is there or not. Non-speech events, comments and backgrounds are left out.

Repairs, each counted:

- A turn that has text before its first `<Sync>`, or no `<Sync>`: that text begins with the turn.
- A `<Sync>` that is not behind the one before it, or not before its turn's end: its text belongs to the one before.
- Overlapping speech (`<Who>`): of words said at the same time there is no order, so those of the turn's first
  speaker are kept and the others left out.
- A turn without a speaker that has words: the speaker is `unknown`.
- A mark before a turn's first word is dropped.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from punc.base.errors import InputError
from punc.base.files import atomic_dir, open_input
from punc.data.datadir import Utterance, write_tables
from punc.text.prose_reader import TextReader

IGNORED = {"Event": "non-speech events and other notes, left out", "Comment": "comments, left out",
           "Background": "changes of background, left out"}


class Event(NamedTuple):
    """Part of a file: the beginning of an element, its end (`/Turn`), or text (with no name)."""

    name: str
    attributes: dict[str, str]
    text: str
    line: int


class Segment(NamedTuple):
    """What is said between two times of a turn, in seconds."""

    speaker: str
    begin: float
    end: float
    text: str


def read_events(path: str | os.PathLike) -> list[Event]:
    """The elements and texts of a file. Raises InputError for what is no XML, with its line, or not Transcriber's."""
    events = []
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, attributes: events.append(
        Event(name, attributes, "", parser.CurrentLineNumber))
    parser.EndElementHandler = lambda name: events.append(Event(f"/{name}", {}, "", parser.CurrentLineNumber))
    parser.CharacterDataHandler = lambda text: events.append(Event("", {}, text, parser.CurrentLineNumber))
    with open_input(path) as file:
        try:
            parser.ParseFile(file)
        except (expat.ExpatError, ValueError, LookupError) as error:  # the latter two: an unknown encoding
            raise InputError(f"not XML: {str(error).partition(':')[0]}", "mend the file, or write it again in "
                             "Transcriber", path, getattr(error, "lineno", 1)) from None
    if events[0].name != "Trans":
        raise InputError(f"<{events[0].name}>, where Transcriber's files have <Trans>", "give .trs files", path,
                         events[0].line)
    return events


def seconds(event: Event, attribute: str, path: str | os.PathLike) -> float:
    """A time of an element. Raises InputError where it has none."""
    try:
        time = round(float(event.attributes[attribute]), 3)  # as `segments` has them
        if not 0 <= time < float("inf"):
            raise ValueError
    except (KeyError, ValueError):
        value = event.attributes.get(attribute)
        what = f"<{event.name}> without {attribute}" if value is None else f"{attribute} '{value}' is not a time"
        raise InputError(what, f'write <{event.name} {attribute}="SECONDS">', path, event.line) from None
    return time


def read_turns(path: str | os.PathLike, repairs: Counter) -> Iterator[list[Segment]]:
    """The segments of each turn of a file, those with text.

    Raises InputError for what is no Transcriber file, and for a turn or `<Sync>` without its time, or a turn that
    ends before it begins.
    """
    turn, parts, first_speaker = None, [], True
    for event in read_events(path):
        if event.name == "Turn":
            begin, end = seconds(event, "startTime", path), seconds(event, "endTime", path)
            if end <= begin:
                raise InputError(f"a turn from {begin:g} to {end:g} s", "mend startTime and endTime", path, event.line)
            turn, parts, first_speaker = (event.attributes.get("speaker", "").split(), begin, end), [], True
        elif event.name == "/Turn":
            yield _segments(*turn, parts, repairs)
            turn = None
        elif turn is None:
            continue
        elif event.name == "Sync":
            time, last = seconds(event, "time", path), max([turn[1], *(part[0] for part in parts)])
            if time >= turn[2] or time < last or (time == last and parts):
                repairs["syncs that jump back or past their turn's end, joined to the one before"] += 1
            else:
                parts.append((time, []))
            first_speaker = True
        elif event.name == "Who":
            first_speaker = event.attributes.get("nb") == "1"
        elif event.name in IGNORED:
            repairs[IGNORED[event.name]] += 1
        elif event.text.strip() and not first_speaker:
            repairs["words of overlapping speech, left out"] += len(event.text.split())
        elif event.text.strip():
            if not parts:
                repairs["texts before a first sync, which begin with their turn"] += 1
                parts.append((turn[1], []))
            parts[-1][1].append(event.text)


def _segments(speakers: Sequence[str], begin: float, end: float, parts: Sequence[tuple[float, list[str]]],
              repairs: Counter) -> list[Segment]:
    """A turn's texts between their times; what stands before the first `<Sync>` has the turn's beginning."""
    ends = [*(time for time, _ in parts[1:]), end]
    if not speakers and any(texts for _, texts in parts):
        repairs["turns with words and no speaker"] += 1
    return [Segment(speakers[0] if speakers else "unknown", time, until, " ".join(texts))
            for (time, texts), until in zip(parts, ends) if texts]


def utterances(path: str | os.PathLike, reader: TextReader, remove: str,
               repairs: Counter) -> Iterator[tuple[Utterance, Segment]]:
    """The utterances of a file that have words, with their times; `delete` as in `punc.text.readers.RawFormat`."""
    recording = legal_id(Path(path).stem)
    for turn in read_turns(path, repairs):
        found = []
        for segment in turn:
            words, labels = [], []
            for token in (re.sub(remove, " ", segment.text) if remove else segment.text).split():
                parts = reader.token(token)
                before = labels or (found[-1][0].labels if found else None)
                if parts.lead and before:
                    before[-1] = reader.attach(before[-1], parts.lead)
                elif parts.lead:
                    repairs["marks before a first word, dropped"] += 1
                words += parts.words.split()
                labels += parts.labels.split()
            if words:
                speaker = f"{recording}_{legal_id(segment.speaker)}"
                id = f"{speaker}-{round(segment.begin * 1000):08d}_{round(segment.end * 1000):08d}"
                found.append((Utterance(id, speaker, words, labels), segment))
        yield from found


def legal_id(name: str) -> str:
    """A name as part of an id; with these characters, the order of speakers is that of their utterances."""
    return "".join(c if c.isalnum() or c in "._" else "_" for c in name)


def prepare_trs(paths: Iterable[str | os.PathLike], output: str | os.PathLike, reader: TextReader,
                remove: str = "") -> Counter:
    """Write the data directory of some `.trs` files. Memory: all of them.

    Returns counts: streams, utterances, words, and the repairs. Raises InputError for files that cannot be read, two
    of one name, two utterances of one speaker at one time; the output is then as it was.
    """
    counts, repairs, found = Counter(), Counter(), {}
    files = {}
    for path in paths:
        recording = legal_id(Path(path).stem)
        if recording in files:
            raise InputError(f"a second file is called '{recording}'", "rename it", path)
        files[recording] = path
        for utterance, segment in utterances(path, reader, remove, repairs):
            if utterance.id in found:
                raise InputError(f"two turns of '{segment.speaker}' from {segment.begin:g} s", "mend them", path)
            found[utterance.id] = utterance, f"{recording} {segment.begin:.3f} {segment.end:.3f}"
            counts["words"] += len(utterance.words)
    output = Path(output)
    with atomic_dir(output) as tmp:
        ids = sorted(found, key=str.encode)
        write_tables(tmp, output, (found[id][0] for id in ids))
        (tmp / "segments").write_text("".join(f"{id} {found[id][1]}\n" for id in ids), encoding="utf-8")
        recordings = sorted({row.split()[0] for _, row in found.values()}, key=str.encode)
        (tmp / "wav.scp").write_text("".join(f"{name} {Path(files[name]).absolute().with_suffix('.wav')}\n"
                                                for name in recordings), encoding="utf-8")
    for stale in ("pauses.scp", "pauses.ark", "reco2file_and_channel"):
        (output / stale).unlink(missing_ok=True)
    return counts + Counter(streams=len(recordings), utterances=len(found)) + repairs
