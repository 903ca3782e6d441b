"""Reads and writes STM, NIST's format of a reference with times.

A line is a segment: `id channel speaker begin end [<label>] word …`, times in seconds. sclite (Debian's sctk) scores a
CTM against an STM: it aligns a segment's words with the words of the CTM whose middle is within the segment. It needs
both files sorted by id, channel and time. It reads `(uh)`, `{ a / b }` and `-` in words as optional words, alternatives
and fragments; here they are words.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from punc.base.errors import InputError
from punc.base.files import atomic_file, decode_line, open_input
from punc.data.tables import fields
from punc.timing.ctm import decimals, seconds

LABEL = re.compile(r"<>|<[^>]*,[^>]*>|<o>", re.I)  # `<o,f0,male>` and `<>` are labels, `<unk>` is a word


class StmSegment(NamedTuple):
    """A line of an STM: reference words with the times of their segment, in seconds; label None if there is none."""

    id: str
    channel: str
    speaker: str
    begin: float
    end: float
    label: str | None
    words: list[str]


def read_stm(path: str | os.PathLike[str], repairs: Counter[str] | None = None) -> Iterator[StmSegment]:
    """Read an STM; segments not to be scored are left out, and counted in `repairs`.

    Raises InputError as `ctm.read_ctm` does, and for a segment that ends before it begins.
    """
    repairs = Counter[str]() if repairs is None else repairs
    number = 0
    with open_input(path) as file:
        for number, line in enumerate(file, 1):
            columns = fields(decode_line(line, path, number))
            if not columns or columns[0].startswith(";;"):
                continue
            if len(columns) < 5:
                raise InputError(f"{len(columns)} columns", "write: id channel speaker begin end words", path, number)
            id, channel, speaker, *times = columns[:5]
            words = columns[5:]
            begin, end = (seconds(time, name, path, number) for time, name in zip(times, ("begin", "end")))
            if end < begin:
                raise InputError(f"a segment from {begin:g} to {end:g} s", "fix its times", path, number)
            label = words.pop(0)[1:-1] if words and LABEL.fullmatch(words[0]) else None
            if [word.lower() for word in words] == ["ignore_time_segment_in_scoring"]:
                repairs["segments not to be scored"] += 1
                continue
            yield StmSegment(id, channel, speaker, begin, end, label, words)
    if not number:
        raise InputError("the file is empty", "make it again", path)


def write_stm(path: str | os.PathLike[str], segments: Iterable[StmSegment]) -> None:
    """Write segments as an STM, in the order given, with times as `ctm.decimals` writes them.

    Raises ValueError if the first word of a segment without a label would be read as its label.
    """
    with atomic_file(path) as file:
        for id, channel, speaker, begin, end, label, words in segments:
            if label is None and words and LABEL.fullmatch(words[0]):
                raise ValueError(f"'{id}': the first word, {words[0]}, would be a label")
            labels = [] if label is None else [f"<{label}>"]
            file.write(" ".join((id, channel, speaker, decimals(begin), decimals(end), *labels, *words)) + "\n")
