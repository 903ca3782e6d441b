"""STM, NIST's form of a reference with times: a line a segment, `id channel speaker begin end [<label>] word …`.

Times in seconds. sclite (Debian's sctk) scores a CTM against it: the words of the CTM whose middle is within a segment
are aligned with those of the segment. It wants both files sorted by id, channel and time, and reads `(uh)`, `{ a / b }`
and `-` in words as optional words, alternatives and fragments; here they are words.
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


class Segment(NamedTuple):
    """A line of an STM: reference words with the times of their segment, in seconds; label None where there is none."""

    id: str
    channel: str
    speaker: str
    begin: float
    end: float
    label: str | None
    words: list[str]


def read_stm(path: str | os.PathLike, repairs: Counter | None = None) -> Iterator[Segment]:
    """Read an STM; segments not to be scored are left out, counted in `repairs`.

    Raises InputError as `punc.timing.ctm.read_ctm`, and where a segment ends before it begins.
    """
    repairs = Counter() if repairs is None else repairs
    number = 0
    with open_input(path) as file:
        for number, line in enumerate(file, 1):
            columns = fields(decode_line(line, path, number))
            if not columns or columns[0].startswith(";;"):
                continue
            if len(columns) < 5:
                raise InputError(f"{len(columns)} columns", "write: id channel speaker begin end words", path, number)
            id, channel, speaker, begin, end, *words = columns
            begin, end = seconds(begin, "begin", path, number), seconds(end, "end", path, number)
            if end < begin:
                raise InputError(f"a segment from {begin:g} to {end:g} s", "mend its times", path, number)
            label = words.pop(0)[1:-1] if words and LABEL.fullmatch(words[0]) else None
            if [word.lower() for word in words] == ["ignore_time_segment_in_scoring"]:
                repairs["segments not to be scored"] += 1
                continue
            yield Segment(id, channel, speaker, begin, end, label, words)
    if not number:
        raise InputError("the file is empty", "make it again", path)


def write_stm(path: str | os.PathLike, segments: Iterable[Segment]) -> None:
    """Write segments as an STM, in the order given: times to a microsecond, two decimals at least.

    Raises ValueError where the first word of a segment without a label would be read as its label.
    """
    with atomic_file(path) as file:
        for id, channel, speaker, begin, end, label, words in segments:
            if label is None and words and LABEL.fullmatch(words[0]):
                raise ValueError(f"'{id}': the first word, {words[0]}, would be a label")
            labels = [] if label is None else [f"<{label}>"]
            file.write(" ".join((id, channel, speaker, decimals(begin), decimals(end), *labels, *words)) + "\n")
