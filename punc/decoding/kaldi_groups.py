"""The words of a Kaldi data directory, or of its CTM, as transcripts of whole streams.

Streams are those of `datadir`: recordings if there is a file `segments`, else speakers. The times of a *recording*
count from one start; without `segments`, each utterance or speaker is a recording. Memory holds a few hundred bytes for
each utterance, and the words of one group of streams (see `spans.grouped`).
"""

from collections.abc import Iterable, Iterator, Set
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.jobs import Share
from punc.data.datadir import DataDir, Utterance
from punc.data.tables import count_blanks
from punc.decoding.kaldi_tables import Entry, read_entries, read_tables
from punc.decoding.options import CHUNK_SIZE
from punc.decoding.spans import grouped
from punc.timing.pauses import SEGMENT_SLACK
from punc.transcripts.ctm import CtmIndex, read_lines
from punc.transcripts.parts import PartsDocument
from punc.transcripts.source import Source
from punc.transcripts.transcript import Text, Transcript

ALL = Share(1, 1)
BYTES = 24  # of a CTM's line, about


class Group(NamedTuple):
    """The words of some whole streams.

    transcript  its texts, stream after stream; of a CTM, its document has the lines
    lines       (id, number of the text after its last one) for each line of the transcript's `text`
    recordings  the names of the recordings, in order, also of those without words
    pauses      float (W,), seconds after each word; None if they follow from the times of the words
    """

    transcript: Transcript
    lines: list[tuple[str, int]]
    recordings: list[str]
    pauses: np.ndarray | None = None


def ctm_groups(directory: Path, ctm: CtmIndex, share: Share = ALL, chunk_size: int = CHUNK_SIZE) -> Iterator[Group]:
    """The words of a CTM for the utterances or recordings of a data directory, in groups of whole streams.

    share        take this share of the streams
    chunk_size   long streams fill whole batches of such chunks

    Utterances and recordings that are not in the CTM have no words. Raises InputError for broken files, and for an id
    of the CTM that the data directory does not have, or that is of another kind than those before.
    """
    tables = read_tables(directory)
    streams = [(stream, sum(_size(entry, ctm) for entry in stream)) for stream in read_entries(tables, ctm, directory)]
    check_file_names({entry.recording for stream, _ in streams for entry in stream}, directory)
    own = share.of(streams, lambda stream: stream[1] + 1, sum(size for _, size in streams) + len(streams))
    for group in grouped(own, lambda stream: stream[1], chunk_size):
        yield _of_ctm([stream for stream, _ in group], ctm, tables.speakers.keys())


def _size(entry: Entry, ctm: CtmIndex) -> int:
    """About how many words an entry has."""
    return ctm.size(entry.place[0]) // BYTES if entry.place[0] in ctm else 0


def _of_ctm(streams: list[list[Entry]], ctm: CtmIndex, unnamed: Set[str]) -> Group:
    """The words of some streams."""
    entries = [(number, entry) for number, stream in enumerate(streams) for entry in stream]
    raw = [ctm.lines(*entry.place, entry.channels) if entry.place[0] in ctm else [] for _, entry in entries]
    parts = ["".join(line.text for line in lines) for lines in raw]
    document = PartsDocument(Source("", "".join(parts), "utf-8"))
    texts, lines, at = list[Text](), list[tuple[str, int]](), 0
    for (stream, entry), of_entry, part in zip(entries, raw, parts):
        found = _placed(read_lines(of_entry, document, at, ctm.repairs), entry, stream)
        if found and found[-1].end - entry.begin > entry.length + SEGMENT_SLACK:
            raise InputError(f"'{entry.id}' has a word that ends at {found[-1].end - entry.begin:.2f} s, but is "
                             f"{entry.length:.2f} s long", "count times from the start of the utterance, or use the "
                             "recording's id", *ctm.where(entry.place[0]))
        texts += found
        lines.append((entry.id, len(texts)))
        at += len(part)
    recordings = list(dict.fromkeys(entry.recording for _, entry in entries))
    return Group(Transcript("CTM", _with_turns(texts, unnamed), document), lines, recordings)


def _placed(texts: list[Text], entry: Entry, stream: int) -> list[Text]:
    """The texts of an entry in time order, with times from the start of the recording, speakers and stream."""
    begins, speakers = entry.speakers
    found = []
    for text in sorted(texts, key=lambda text: text.begin):
        middle = (text.begin + text.end) / 2
        part = max(int(np.searchsorted(begins, middle, "right")) - 1, 0) if len(begins) > 1 else 0
        found.append(text._replace(begin=text.begin + entry.begin, end=text.end + entry.begin, stream=stream,
                                   recording=entry.recording, speaker=speakers[part], segment=part))
    return found


def _with_turns(texts: list[Text], unnamed: Set[str]) -> list[Text]:
    """Texts with turns where the speaker changes, and without names of speakers that are none, or the only one.

    unnamed   utterances: one whose speaker has its name has none
    """
    first = {text.recording: text.speaker for text in reversed(texts)}
    several = {text.recording for text in texts if text.speaker != first[text.recording]}
    found = list(texts)
    for i, (before, text) in enumerate(pairwise([None, *texts])):
        assert text
        turn = before is not None and before.recording == text.recording and before.speaker != text.speaker
        named = text.recording in several and text.speaker not in unnamed
        found[i] = text._replace(turn=turn, speaker=text.speaker if named else "")
    return found


def text_groups(directory: Path, share: Share = ALL, chunk_size: int = CHUNK_SIZE) -> Iterator[Group]:
    """The words of a data directory's `text`, with its pauses if it has some, in groups of whole streams.

    Without `segments`, each stream is a recording. Arguments as those of `ctm_groups`; raises InputError as
    `DataDir.utterances`.
    """
    data, tables = DataDir(directory), read_tables(directory)
    names = set(tables.speakers.values()) if tables.segments is None else {r for r, *_ in tables.segments.values()}
    check_file_names(names, directory)
    own = share.of(data.streams(), lambda stream: _count(stream) + 1, count_blanks(data.path / "text") + len(names))
    for group in grouped(own, _count, chunk_size):
        texts, lines, pauses = list[Text](), list[tuple[str, int]](), list[np.ndarray]()
        for number, (stream, utterances) in enumerate(group):
            for utterance in utterances:
                texts.append(Text(0, " ".join(utterance.words), speaker=tables.speakers[utterance.id],
                                  segment=len(texts), stream=number, recording=stream))
                lines.append((utterance.id, len(texts)))
                pauses += [] if utterance.pauses is None else [utterance.pauses.astype(float)]
        document = PartsDocument(Source("", "", "utf-8"))
        yield Group(Transcript("text of Kaldi", _with_turns(texts, tables.speakers.keys()), document), lines,
                    [stream for stream, _ in group], np.concatenate(pauses) if pauses else None)


def _count(stream: tuple[str, list[Utterance]]) -> int:
    return sum(len(utterance.words) for utterance in stream[1])


def file_name(recording: str) -> str:
    """The name of a recording's files, without ending."""
    return recording.replace("/", "_")


def check_file_names(recordings: Iterable[str], directory: Path) -> None:
    """Raise InputError if two recordings would have the same files."""
    names: dict[str, str] = {}
    for recording in sorted(recordings):
        if (other := names.setdefault(file_name(recording), recording)) != recording:
            raise InputError(f"recordings '{other}' and '{recording}' would have the same files: "
                             f"{file_name(recording)}.txt", "rename one of them", directory)
