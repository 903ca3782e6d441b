"""Documents of segments: lines, cues and intervals with times, whose words have none."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from punc.asr.document import Document, Source, decoded, no_places, texts_at
from punc.asr.places import word_places
from punc.base.runs import ends_of_runs, starts_of_runs


class Segment(NamedTuple):
    """Words that stand together in a file.

    start, stop  the bytes of the text
    begin, end   seconds; NaN where they are not known
    stream       its number
    recording    the name of its recording
    speaker      a name; "" if it is not known
    """

    start: int
    stop: int
    begin: float = np.nan
    end: float = np.nan
    stream: int = 0
    recording: str = ""
    speaker: str = ""


Name = TypeVar("Name", bound=Hashable)


class Names(dict[Name, int]):
    """Names with numbers, in the order in which they come."""

    def __missing__(self, name: Name) -> int:
        self[name] = len(self)
        return self[name]


def segments_document(source: Source, name: str, segments: Sequence[Segment],
                      left_out: Iterable[tuple[int, int]] = (),
                      encode: Callable[[Sequence[str]], list[bytes]] | None = None,
                      decode: Callable[[str], str] | None = None) -> Document:
    """The document of segments in the order of the file; it is read stream by stream, by begin.

    left_out        bytes that are no words, as markup
    encode, decode  how the format writes and reads characters, if not as they are
    """
    begins, ends = (np.array([segment[i] for segment in segments], np.int64) for i in (0, 1))
    places = word_places(source.data, begins, ends, left_out)
    columns = np.array([(segment.stream, segment.begin) for segment in segments], float).reshape(-1, 2)
    order = np.arange(len(segments))
    if len(set(columns[:, 0].tolist())) > 1:
        order = np.lexsort((columns[:, 1], columns[:, 0]))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    chosen = np.argsort(rank[places.ranges], kind="stable")
    starts, stops, joined, ranges = (column[chosen] for column in places)
    first, last = starts_of_runs(ranges), ends_of_runs(ranges)
    begins, ends = np.full((2, len(starts)), np.nan)
    begins[first] = np.array([segment.begin for segment in segments], float)[ranges[first]]
    ends[last] = np.array([segment.end for segment in segments], float)[ranges[last]]
    recordings, speakers = Names[str](), Names[str]()
    recording = np.array([recordings[segment.recording] for segment in segments], np.int64)[ranges]
    speaker = np.array([speakers[segment.speaker] if segment.speaker else -1 for segment in segments], np.int64)
    pieces = decoded(texts_at(source.data, starts, stops))
    if decode:
        pieces = [decode(piece) if "&" in piece or '"' in piece else piece for piece in pieces]
    streams = np.array([segment.stream for segment in segments], np.int64)[ranges]
    return Document(source.data, pieces, starts, stops, joined, begins, ends, rank[ranges], streams,
                    list(recordings), recording, list(speakers), speaker[ranges], np.full(len(starts), np.nan),
                    no_places(), encode or encoded, None, name, source.encoding, source.bom)


def encoded(texts: Sequence[str]) -> list[bytes]:
    """Texts as UTF-8."""
    return [text.encode() for text in texts]
