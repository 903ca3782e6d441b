"""A transcript: the texts of a file with their times and speakers, and the words of the texts.

A reader splits a file into texts: for example, words in JSON, lines of a cue, or the words of a CTM. Each text has
a place in a document. When the transcript has been punctuated, the document is written with new texts in these places.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import NamedTuple, Protocol

import numpy as np

from punc.base.runs import bounds_of, next_of, previous_of, starts_of_runs
from punc.timing.align import align_words

# Words are separated by white space and by BLANKS: zero-width spaces, byte-order marks inside a text, marks of the
# direction of writing, and the sign that SentencePiece puts before a word.
BLANKS = "\u200b\u2060\ufeff\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069▁"
WORD = re.compile(rf"[^\s{BLANKS}]+")
BEGINS_WITH_BLANK = re.compile(rf"[\s{BLANKS}]")
TO_BLANKS = str.maketrans(dict.fromkeys(BLANKS, " "))
MARKS = ".,?!:;…\"'()[]<>«»“”-–—¿¡"  # two copies of a word may differ in case, and in these characters at its ends


class Text(NamedTuple):
    """A text of a file: one or more words, with escapes decoded. Begin and end are in seconds, NaN if unknown."""

    place: int  # the text's place in the document
    text: str
    begin: float = math.nan
    end: float = math.nan
    speaker: str = ""  # a name; empty if it is not known
    confidence: float = math.nan  # the recogniser's confidence; NaN if there is none
    segment: int = 0  # the segment of the file (a line, a cue) that the text is in
    stream: int = 0
    recording: str = ""  # the name of the recording; times count from its start
    joined: bool = False  # whether the first word continues the last word of the previous text, without a space
    times: tuple[tuple[float, float], ...] = ()  # begin and end of each word; empty if unknown
    turn: bool = False  # whether the speaker changes before this text; the new speaker may be unknown


class Repeat(NamedTuple):
    """A list of (place, text) that repeats the words in `texts[first:last]` of a transcript."""

    texts: list[tuple[int, str]]
    first: int
    last: int


class Document(Protocol):
    """A file in which texts can be replaced."""

    rated: bool  # whether the file can store the probability of each word's label

    def put(self, place: int, text: str, probability: float = math.nan) -> None:
        """Replace the text at `place`. If the file is `rated`, also store the probability, unless it is NaN."""

    def content(self) -> str:
        """Return the text of the whole file."""


@dataclass
class Transcript:
    """The texts of a file in reading order, one stream after another."""

    format: str
    texts: list[Text]
    document: Document
    repeats: list[Repeat] = field(default_factory=list)  # texts that repeat words of `texts`
    language: str = ""  # the language that the file names; empty if it names none
    notes: list[str] = field(default_factory=list)  # messages about how the file was read
    messages: list[str] = field(default_factory=list)  # problems that a user should check
    encoding: str = "utf-8"
    end: float = math.nan  # when the recording ends, in seconds; NaN if it is not known


class Words(NamedTuple):
    """W words of a transcript, in N pieces. Most words are one piece; a word that spans several texts has more pieces.

    begins, ends float64 (W,), seconds; NaN if unknown
    speakers     the names of the speakers; `speaker`, int64 (W,), is the index of each word's speaker, -1 if unknown
    first, last  int64 (W,): each word consists of the pieces [first, last)
    """

    texts: list[str]
    begins: np.ndarray
    ends: np.ndarray
    speakers: list[str]
    speaker: np.ndarray
    recordings: list[str]  # the names of the recordings; `recording`, int64 (W,), is the index of each word's recording
    recording: np.ndarray
    confidences: np.ndarray  # float64 (W,): the recogniser's confidence in each word; NaN if there is none
    segments: np.ndarray  # int64 (W,): the segment of each word; `streams`, int64 (W,): the stream of each word
    streams: np.ndarray
    turns: np.ndarray  # bool (W,): whether a turn begins with the word (see `_turns`)
    pieces: list[str]
    of: np.ndarray  # int64 (N,): which text of the transcript each piece is in
    first: np.ndarray
    last: np.ndarray
    script: "Script"


class Script(NamedTuple):
    """How the words of a language are separated."""

    split: Callable[[str], list[str]]  # splits a text into words
    with_words: Callable[[str, Sequence[str]], str]  # replaces each word of a text with a new one
    close: Callable[[str], str]  # removes spaces that the language does not use between words


def split(text: str) -> list[str]:
    return text.translate(TO_BLANKS).split() if not text.isascii() else text.split()


def in_order(texts: list[Text]) -> list[Text]:
    """If there are several streams, sort texts by stream, and within a stream by start time."""
    if len({text.stream for text in texts}) < 2:
        return texts
    begins, streams = (np.array([text[i] for text in texts]) for i in map(Text._fields.index, ("begin", "stream")))
    return [texts[i] for i in np.lexsort((begins, streams)).tolist()]


def with_words(text: str, words: Sequence[str]) -> str:
    """Replace each word of a text with a new word. The spaces stay."""
    return "".join(chain.from_iterable(zip_longest(WORD.split(text), words, fillvalue="")))


BLANKS_BETWEEN = Script(split, with_words, str)


def words_of(texts: Sequence[Text], script: Script = BLANKS_BETWEEN) -> Words:
    pieces, counts = list[str](), np.zeros(len(texts), np.int64)
    for number, text in enumerate(texts):
        own_pieces = script.split(text.text)
        pieces += own_pieces
        counts[number] = len(own_pieces)
    of, bounds = np.repeat(np.arange(len(texts)), counts), bounds_of(counts)
    begins, ends = np.full((2, len(pieces)), np.nan)
    filled = counts > 0
    begins[bounds[:-1][filled]] = np.array([text.begin for text in texts])[filled]
    ends[bounds[1:][filled] - 1] = np.array([text.end for text in texts])[filled]
    for number, text in enumerate(texts):
        if text.times and len(text.times) == counts[number]:
            begins[bounds[number]:bounds[number + 1]], ends[bounds[number]:bounds[number + 1]] = zip(*text.times)
    joined = np.zeros(len(pieces), bool)
    joined[bounds[:-1][filled]] = np.array([text.joined for text in texts], bool)[filled]
    joined[:1] = False
    first = np.flatnonzero(~joined)
    last = next_of(first, len(pieces))
    own = of[first]
    words = ["".join(pieces[begin:end]) for begin, end in zip(first.tolist(), last.tolist())]
    speakers, speaker = _numbered([text.speaker for text in texts])
    recordings, recording = _numbered([text.recording for text in texts], empty=0)
    confidences = np.array([text.confidence for text in texts], float)[own]
    segments, streams = (np.array([text[i] for text in texts], np.int64)[own] for i in map(
        Text._fields.index, ("segment", "stream")))
    begun = np.zeros(len(pieces), bool)
    begun[bounds[:-1][filled]] = np.array([text.turn for text in texts], bool)[filled]
    turns = _turns(speaker[own], streams, segments, begun[first])
    return Words(words, begins[first], ends[last - 1], speakers, speaker[own], recordings, recording[own], confidences,
                 segments, streams, turns, pieces, of, first, last, script)


def _turns(speaker: np.ndarray, streams: np.ndarray, segments: np.ndarray, begun: np.ndarray) -> np.ndarray:
    """Return where a turn begins, bool (W,): the speaker changes or, if the speaker is unknown, `begun` is true. The
    first word of a stream never begins a turn. Nor does a single word between two words of a different speaker in one
    segment, because the single word's speaker is probably a diarization error."""
    turns, known = begun & (speaker < 0), np.flatnonzero(speaker >= 0)
    if len(known):
        who, segment = speaker[known], segments[known]
        single = np.zeros(len(known), bool)
        single[1:-1] = (who[1:-1] != who[:-2]) & (who[:-2] == who[2:]) & (segment[:-2] == segment[2:])
        who = np.where(single, previous_of(who, -1), who)
        turns[known[starts_of_runs(who, streams[known])]] = True
        turns[known[0]] = begun[known[0]]
    return turns & ~starts_of_runs(streams)


def _numbered(names: Sequence[str], empty: int = -1) -> tuple[list[str], np.ndarray]:
    numbers: dict[str, int] = {}
    found = [numbers.setdefault(name, len(numbers)) if name or not empty else empty for name in names]
    return list(numbers), np.array(found, np.int64)


def write(transcript: Transcript, words: Words, new: Sequence[str], probabilities: np.ndarray | None = None) -> str:
    """Return the file with W new words and the probabilities of their labels, float64 (W,); NaN is not written."""
    pieces = _new_pieces(words, new)
    bounds = np.searchsorted(words.of, np.arange(len(transcript.texts) + 1)).tolist()
    chances = np.full(len(pieces), np.nan)
    if probabilities is not None:
        chances[words.last - 1] = probabilities
    rated = chances.tolist()
    document = transcript.document
    for number, text in enumerate(transcript.texts):
        begin, end = bounds[number], bounds[number + 1]
        if begin == end:
            continue
        chance = rated[end - 1] if end == begin + 1 or len(split(text.text)) == 1 else math.nan
        if chance == chance or pieces[begin:end] != words.pieces[begin:end]:
            own = text.text.replace(words.pieces[begin], pieces[begin], 1) if end == begin + 1 else \
                words.script.with_words(text.text, pieces[begin:end])
            document.put(text.place, own, chance)
    for repeat in transcript.repeats:
        low, high = bounds[repeat.first], bounds[repeat.last]
        begin, end = np.searchsorted(words.first, (low, high)).tolist()
        by_piece = (words.pieces[low:high], pieces[low:high])
        by_word = (words.texts[begin:end], new[begin:end])
        _write_repeat(document, repeat, words.script, by_piece, by_word)
    return document.content()


def _new_pieces(words: Words, new: Sequence[str]) -> list[str]:
    pieces = []
    for text, first, last in zip(new, words.first.tolist(), words.last.tolist()):
        for piece in words.pieces[first:last - 1]:
            pieces.append(text[:len(piece)])
            text = text[len(piece):]
        pieces.append(text)
    return pieces


def _write_repeat(document: Document, repeat: Repeat, script: Script, *forms: tuple[list[str], Sequence[str]]) -> None:
    """Write new words into the texts of `repeat`, which repeat words of the transcript. `forms`: the old and the
    new pieces, then the old and the new words."""
    if list(forms[-1][1]) == forms[-1][0]:
        return  # no word changed, so a repeat is left alone, even if its words differ from the transcript's
    split_texts = [script.split(text) for _, text in repeat.texts]
    said = list(chain.from_iterable(split_texts))
    written = next((new for old, new in forms if said == old), None)
    if written is None:
        old, new = forms[-1]
        ref, hyp = list(map(folded, said)), list(map(folded, old))
        number = align_words(ref, hyp).ref_to_hyp.tolist()
        written = [new[at] if at >= 0 and ref[i] == hyp[at] else said[i] for i, at in enumerate(number)]
    at = 0
    for (place, text), words in zip(repeat.texts, split_texts):
        own = written[at:at + len(words)]
        if words != own:
            document.put(place, script.with_words(text, own))
        at += len(words)


def folded(word: str) -> str:
    return word.strip(MARKS).casefold()
