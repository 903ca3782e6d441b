"""Reads formats with columns: NIST's CTM and STM, HTK's MLF, and Kaldi's `text`.

    CTM    see the module `ctm`
    STM    id channel speaker begin end [<labels>] word word …
    MLF    "*/id.lab"; then lines [begin end] word [score], with times in units of 100 ns; then a full stop
    text   id word word …

Comments (`;;`) in CTM and STM stay unchanged. Source: NIST's SCTK, `doc/infmts.htm`; the HTK Book, section 6.3.
"""

import math
import re
from collections.abc import Callable
from functools import partial
from itertools import islice

from punc.transcripts.clock import checked_seconds
from punc.transcripts.ctm import CtmLine, read_lines
from punc.transcripts.source import LINE, Source, Stretch, TextReader
from punc.transcripts.transcript import Text, Transcript

NUMBER = r"-?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})(?:[eE][-+]?\d{1,3})?"
COMMENT = re.compile(r"[ \t]*(?:;;.*)?")
CTM = re.compile(rf"[ \t]*[^\s;]\S*[ \t]+(?:\S+[ \t]+)?(?:{NUMBER}[ \t]+{NUMBER}[ \t]+\S+"
                 rf"(?:[ \t]+(?:NA|{NUMBER})(?:[ \t]+\S+){{0,2}})?"
                 r"|\S+[ \t]+\S+[ \t]+<ALT_BEGIN>.*)[ \t\r]*")
STM = re.compile(rf"[ \t]*[^\s;]\S*[ \t]+\S+[ \t]+\S+[ \t]+{NUMBER}[ \t]+{NUMBER}(?:[ \t]+<[^<>\n]*>)?(?:[ \t].*)?")
UTTERANCE = re.compile(r"(?=[^ \t]*\d)(?=[^ \t]*[A-Za-z_-])(?P<id>[A-Za-z0-9][A-Za-z0-9._-]*)(?:[ \t]+(?P<text>\S.*))?")
FEW = 4  # lines, of which each may begin with a word such as `covid-19`
# What follows an id in wav.scp, utt2spk and segments: a path, or another id, perhaps with times.
NO_WORDS = re.compile(r"|[\w-]*/\S*|(?:[^\W\d]|[.-])*\d[\w.-]*(?:[ \t]+[\d.]+){0,2}")
MLF_LINE = re.compile(r"(?:(?P<begin>\d{1,18})[ \t]+(?P<end>\d{1,18})[ \t]+)?(?P<text>\S+)(?:[ \t].*)?")
MLF_UNIT = 1e7  # time units per second in an MLF
IGNORED = "ignore_time_segment_in_scoring"


def reader_of(text: str) -> Callable[[Source], Transcript] | None:
    """Return the reader for a CTM, an STM or a Kaldi `text`; None if the file is none of these."""
    first = next((line[0] for line in LINE.finditer(text) if not COMMENT.fullmatch(line[0])), "")
    if CTM.fullmatch(first):
        return read_ctm_file
    if STM.fullmatch(first):
        return read_stm
    return read_kaldi_text if _is_kaldi_text(text) else None


def _is_kaldi_text(text: str) -> bool:
    lines = [line[0] for line in LINE.finditer(text)]
    found = [match for match in map(UTTERANCE.fullmatch, lines) if match]
    ids = [match["id"] for match in found]
    shapes = {re.sub(r"\d+", "0", id) for id in ids}
    if not len(ids) == len(lines) == len(set(ids)) or all(NO_WORDS.fullmatch(match["text"] or "") for match in found):
        return False
    return len(shapes) == 1 < len(ids) or all(map(_is_sure if len(ids) <= FEW else _is_long, ids))


def _is_long(id: str) -> bool:
    return "-" in id or "_" in id


def _is_sure(id: str) -> bool:
    """Return whether a word is an id, unlike `covid-19`, `20-year-old` and `f-16`."""
    return "_" in id or (id.count("-") > 1 and id[-1].isdigit()) or ("-" in id and id[-3:].isdigit())


def read_ctm_file(source: Source) -> Transcript:
    """Read a CTM. Each channel of an id is a stream. If there are several streams, the words of each are sorted by
    time. Raises InputError for an invalid line."""
    reader, streams = TextReader(source), dict[tuple[str, str], int]()
    lines = [CtmLine(source.path, number, f"{line}\n")
             for number, line in enumerate(source.text.replace("\r", " ").split("\n"), 1)]
    reader.texts = read_lines(lines, reader.document, streams=streams)
    if len({id for id, _ in streams}) < len(streams):  # if an id has several channels, each is a speaker
        names = [channel for _, channel in streams]
        reader.texts = [text._replace(speaker=text.speaker or names[text.stream]) for text in reader.texts]
    return reader.transcript("CTM")


def read_stm(source: Source) -> Transcript:
    """Read an STM. Raises InputError for an invalid line."""
    reader = TextReader(source)
    streams = dict[tuple[str, str], int]()
    for number, line in enumerate(LINE.finditer(source.text)):
        if COMMENT.fullmatch(line[0]):
            continue
        if not STM.fullmatch(line[0]):
            raise source.error("not a line of an STM", "write: id channel speaker begin end [<labels>] words",
                               line.start())
        columns = line[0].split(maxsplit=5)
        error = partial(source.error, at=line.start())
        begin, end = (checked_seconds(text, "time", error) for text in columns[3:5])
        if len(columns) < 6:
            continue
        start = line.end() - len(columns[5])
        if columns[5][0] == "<" and (labels := re.match(r"<[^<>\n]*>(?=\s|$)", columns[5])):
            start += labels.end()
        words = source.text[start:line.end()].strip()
        if words.casefold().strip(".,?!") == IGNORED:
            continue
        speaker = "" if columns[2] == "inter_segment_gap" else columns[2]
        stream = streams.setdefault((columns[0], columns[1]), len(streams))
        if words:
            reader.read(Stretch(start, line.end(), begin, end, speaker, number, stream, columns[0]))
    return reader.transcript("STM")


def read_kaldi_text(source: Source) -> Transcript:
    """Read Kaldi's `text`. Utterances whose ids differ only after the last `-` or `_` form a stream."""
    reader = TextReader(source)
    streams = dict[str, int]()
    for number, line in enumerate(LINE.finditer(source.text)):
        found = UTTERANCE.fullmatch(line[0])
        assert found
        if found["text"]:
            recording = re.split(r"[-_](?=[^-_]*$)", found["id"])[0]
            stream = streams.setdefault(recording, len(streams))
            start = line.start() + found.start("text")
            reader.read(Stretch(start, line.end(), segment=number, stream=stream, recording=recording), False)
    return reader.transcript("text of Kaldi")


def read_mlf(source: Source) -> Transcript:
    """Read an HTK master label file. Raises InputError for an invalid line."""
    reader, number, recording = TextReader(source), -1, ""
    for line in islice(LINE.finditer(source.text), 1, None):
        text = line[0].strip()
        if text in ("", ".", "///"):
            continue
        if text.startswith('"'):
            number += 1
            recording = re.sub(r"\.\w+$", "", text.strip('"').rpartition("/")[2])
            continue
        found = MLF_LINE.fullmatch(line[0])
        if not found or number < 0:
            raise source.error("not a line of an MLF", 'write "*/id.lab", lines `begin end word`, and a full stop',
                               line.start())
        begin, end = (int(found[name]) / MLF_UNIT if found[name] else math.nan for name in ("begin", "end"))
        if found["text"] not in ("sil", "sp"):
            start, stop = (line.start() + at for at in found.span("text"))
            place = reader.document.place(start, stop)
            reader.texts.append(Text(place, reader.document.read(place), begin, end, segment=number, stream=number,
                                     recording=recording))
    return reader.transcript("MLF")
