"""Guesses an unknown JSON format from common member names, and counts the texts that have not been read."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from punc.transcripts.json_shape import JsonFormat, seconds
from punc.transcripts.transcript import BEGINS_WITH_BLANK, WORD, split

# Names of members, in lower case and without underscores. Earlier names are preferred.
TEXTS = ("punctuatedword", "word", "text", "transcript", "utterance", "sentence", "content", "caption", "subtitle",
         "phrase", "body", "speech", "display", "displaytext", "value", "token", "line", "message", "transcription",
         "w")
BEGINS = ("start", "begin", "from", "starttime", "begintime", "startoffset", "offset", "timestart", "onset", "tstart",
          "startat", "startts", "starttimestamp", "t0", "xmin", "ts", "time", "timestamp", "in")
ENDS = ("end", "to", "endtime", "stop", "stoptime", "endoffset", "timeend", "tend", "endat", "endts", "endtimestamp",
        "t1", "xmax", "finish", "out")
LENGTHS = ("duration", "dur", "length", "durationtime")
SPEAKERS = ("speaker", "speakername", "speakerdisplayname", "speakerdesignation", "spk", "speakerid", "speakerlabel",
            "speakertag", "participant", "role")
SYNTAX = frozenset(".|[]*+ ")  # characters with a special meaning in paths
UNIT = re.compile(r"(?:_in)?(?:_ms|_s|_msecs?|_millis|_secs?|_?milliseconds|_?seconds|Ms|Msecs?|Millis|Milliseconds"
                  r"|Secs?|Seconds)$")
DEEPEST = 12  # levels; objects and lists that are nested deeper are not searched
LONGEST = 60  # names of this many characters or more are ignored
# Members whose texts describe a file, not what was said.
ABOUT = frozenset(("systeminfo", "model", "params", "parameters", "metadata", "request", "config", "path", "file",
                   "filename", "audiofilepath", "audiourl", "url", "title", "version", "usage", "warnings", "error",
                   "job", "jobname"))
# How live results of Amazon, AssemblyAI, Rev.ai and others show that a later result replaces them.
INTERIM = "Transcript.Results.0.IsPartial=true message_type=partialtranscript type=partial end_of_turn=false"
OTHERS = frozenset(("alternatives", "nbest", "transcripts"))  # in these lists, only the first element is read


class Kind(NamedTuple):
    """A kind of object: its path, and the names of its members for text, begin, end (`+name`: duration) and speaker."""

    path: str
    text: str
    begin: str
    end: str
    speaker: str


def guessed_format(documents: list[Any]) -> JsonFormat | None:
    """Return a format for the documents, guessed from common member names; None if no object has a text and a time."""
    counts, texts, speakers = Counter[Kind](), defaultdict[str, list[str]](list), dict[str, str]()
    for path, value in _objects(documents):
        if (name := _name_of(value, SPEAKERS)) and path not in speakers:
            speakers[path] = name
        if name := _name_of(value, TEXTS, str):
            texts[f"{path}.{name}".lstrip(".")].append(value[name])
            if begin := _name_of(value, BEGINS, time=True):
                end = _name_of(value, ENDS, time=True)
                length = "" if end else _name_of(value, LENGTHS, time=True)
                counts[Kind(path, name, begin, end or (f"+{length}" if length else ""),
                            _name_of(value, SPEAKERS))] += 1
    if not counts:
        return None
    words = counts.most_common(1)[0][0]
    segments = next((kind for kind in counts if words.path.startswith(f"{kind.path}.") or
                     (not kind.path and words.path)), None)
    own = [f"{kind.path}.{kind.text}".lstrip(".") for kind in (words, segments) if kind]
    pieces = _are_pieces(texts[own[0]])
    said = split(("" if pieces else " ").join(texts[own[0]]))
    repeats = [path for path in texts if path not in own and split(" ".join(texts[path])) == said]
    unit = UNIT.search(words.begin)
    a_second = 0 if unit is None else 1000 if "m" in unit[0].lower() else 1
    row = JsonFormat("unknown JSON", "", "", speaker=words.speaker or (segments.speaker if segments else ""),
                     begin=words.begin, end=words.end, unit=a_second, repeats=" ".join(repeats), skip=INTERIM)
    holder = max((path for path in speakers if words.path.startswith(f"{path}.") or (not path and words.path)),
                 key=len, default=None)
    if segments is None and holder is not None and not words.speaker:
        return row._replace(segments=holder, words=words.path.removeprefix(holder).lstrip("."), word=words.text,
                            speaker=speakers[holder], segment_times="- -")
    if segments is None:
        return row._replace(segments=words.path, text=words.text, pieces=pieces)
    inner = words.path.removeprefix(segments.path).lstrip(".")
    return row._replace(segments=segments.path, text=segments.text, words=inner, word=words.text,
                        segment_times=f"{segments.begin} {segments.end or '-'}")


def said_of(row: JsonFormat) -> str:
    """Return a message that states which members are read in a guessed format."""
    text = f"{row.words}.{row.word}" if row.words else row.text
    path = f"{row.segments}.{text}".strip(".")
    speaker = f", speakers from {row.speaker}" if row.speaker else ""
    return f"not a known format: words were read from {path}, times from {row.begin}" + \
        (f" and {row.end.lstrip('+')}" if row.end else "") + speaker


def _are_pieces(texts: list[str]) -> bool:
    """Return whether texts are pieces of words (` th`, `ank`, ` you`): none has several words, some begin a word, and
    others continue it with a letter."""
    begin = [text for text in texts if BEGINS_WITH_BLANK.match(text)]
    goes_on = any(text[:1].isalpha() for text in texts[1:])
    return bool(begin) and goes_on and all(len(split(text)) < 2 for text in texts)


def _objects(documents: list[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    waiting: list[tuple[str, int, Any]] = [("", 0, document) for document in reversed(documents)]
    while waiting:
        path, depth, value = waiting.pop()
        if isinstance(value, dict):
            yield path, value
            inner = [(f"{path}.{key}".lstrip("."), one) for key, one in value.items() if _is_plain(key)]
        else:
            inner = [(f"{path}[]", one) for one in value]
        if depth < DEEPEST:
            waiting += [(name, depth + 1, one) for name, one in reversed(inner) if isinstance(one, (dict, list))]


def _is_plain(key: str) -> bool:
    return 0 < len(key) < LONGEST and not key.isdecimal() and not set(key) & SYNTAX


@lru_cache(1000)
def plain_name(key: str) -> str:
    return UNIT.sub("", key).replace("_", "").replace("-", "").lower() or key.lower()


def _name_of(value: dict[str, Any], names: tuple[str, ...], kind: type = object, time: bool = False) -> str:
    best, found = len(names), ""
    for key, one in value.items():
        if not _is_plain(key) or one is None or not isinstance(one, kind):
            continue
        for name in (key.replace("_", "").lower(), plain_name(key)):
            if name in names[:best] and (not time or seconds(one) == seconds(one)):
                best, found = names.index(name), key
    return found


def unread(values: list[Any], used: Iterable[tuple[Any, Any]], stays: str = "", without: Iterable[int] = ()
           ) -> Counter[str]:
    """Count, for each member name, the texts with several words that were not read and therefore stay unchanged.

    used     the holder and the key of each text that was read
    stays    names of members whose texts are not words of the transcript
    without  the `id` of each value that is not searched
    """
    known = {(id(holder), key) for holder, key in used if " " in holder[key].strip()}
    ignored, skipped = ABOUT.union(stays.split(), SPEAKERS), set(without)
    counts = Counter[str]()
    waiting: list[tuple[str, Any]] = [("", value) for value in values]
    while waiting:
        name, holder = waiting.pop()
        if id(holder) in skipped or _has_numbers(holder):
            continue
        if isinstance(holder, list) and plain_name(name) in OTHERS:
            holder = holder[:1]
        for key, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
            own = key if isinstance(key, str) else name
            is_text = isinstance(value, str) and " " in value.strip() and (id(holder), key) not in known
            is_inner = isinstance(value, (dict, list))
            if not (is_text or is_inner) or own in ignored or plain_name(own) in ignored:
                continue
            if is_inner:
                waiting.append((own, value))
            else:
                words = [word for word in WORD.findall(value[:200]) if any(map(str.isalpha, word))]
                counts[own] += len(words) > 1
    return +counts


def _has_numbers(value: Any) -> bool:
    return isinstance(value, list) and value != [] and all(isinstance(value[i], (int, float)) for i in (0, -1))


def has_times(values: list[Any]) -> str:
    """Return the name of a member that contains a time and is named like a begin time; empty if there is none."""
    for _, value in _objects(values):
        if name := _name_of(value, BEGINS, time=True):
            return name
    return ""
