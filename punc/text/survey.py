"""What texts have before they are prepared: their words and speakers; and texts cut at their paragraphs.

A line that begins with `#`, as `#speaker NAME` or `#doc NAME`, has no words.
"""

import os
import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from punc.base.errors import InputError
from punc.base.files import open_input
from punc.base.parallel import map_ordered
from punc.data.tables import fields, read_table
from punc.text.cutter import file_name
from punc.text.file_parts import FilePart, file_parts

PIECE = re.compile(r"_\d{3,}$")  # the end of a piece's name


class Survey(NamedTuple):
    """The words of each text, by its name, and the speakers that its lines name."""

    words: dict[str, int]
    speakers: dict[str, set[str]]


def survey(paths: Iterable[str | os.PathLike[str]], speaker_prefix: str, nj: int) -> Survey:
    """Read texts in `nj` processes.

    speaker_prefix   what begins a line that names a speaker, as `#speaker`; empty: no line does
    """
    paths = list(paths)
    found = Survey({file_name(path): 0 for path in paths}, {file_name(path): set() for path in paths})
    for path, words, speakers in map_ordered(partial(_part, prefix=speaker_prefix), file_parts(paths, b"\n"), nj):
        found.words[file_name(path)] += words
        found.speakers[file_name(path)] |= speakers
    return found


def _part(part: FilePart, prefix: str) -> tuple[str, int, set[str]]:
    """A part's file, its words, and the speakers that it names."""
    words, speakers, start = 0, set(), prefix.encode()
    for line in part.data.splitlines():
        if prefix and line.startswith(start):
            speakers.add(line[len(start):].decode(errors="replace").strip())
        elif not line.startswith(b"#"):
            words += len(line.split())
    return part.path, words, speakers - {""}


def read_speakers(path: str | os.PathLike[str], names: Iterable[str]) -> dict[str, set[str]]:
    """The speakers of texts by a table of lines `TEXT SPEAKER …` or, as Kaldi's utt2spk, `UTTERANCE SPEAKER`.

    An utterance is one of the text whose name it begins with, before a `-` or `_`; of several such texts, the longest.
    A piece of a text (`cut_text`) has the speakers of the whole one. Raises InputError for a line without a speaker,
    and if no line is of a text.
    """
    whole = {name: PIECE.sub("", name) for name in names}
    found: dict[str, set[str]] = {name: set() for name in [*whole, *whole.values()]}
    for row in read_table(path, sort=False):
        speakers = fields(row.value)
        if not speakers:
            raise InputError(f"'{row.key}' has no speaker", "write: TEXT SPEAKER", path, row.line)
        key = row.key
        while key and key not in found:
            key = key[:max(key.rfind("-"), key.rfind("_"), 0)]
        if key:
            found[key].update(speakers)
    if found and not any(found.values()):
        raise InputError("no line is of a text", f"write: TEXT SPEAKER, as '{next(iter(found))} anna'", path)
    return {name: found[name] | found[of] for name, of in whole.items()}


def cut_text(path: str | os.PathLike[str], folder: Path, words: int) -> list[Path]:
    """Cut a text into files NAME_001.txt, … of at least `words` words, but for the last; returns their paths.

    A text is cut before an empty line, or before a line that begins with `#`; if there is none for as many words again,
    at the end of a line.
    """
    pieces: list[list[bytes]] = [[]]
    found: list[Path] = []
    count = 0

    def write() -> None:
        found.append(folder / f"{file_name(path)}_{len(found) + 1:03d}.txt")
        found[-1].write_bytes(b"".join(pieces.pop()))

    with open_input(path) as file:
        for line in file:
            border = not line.strip() or line.startswith(b"#")
            if count >= words and (border or count >= 2 * words):
                write()
                pieces, count = [[]], 0
            pieces[-1].append(line)
            count += 0 if line.startswith(b"#") else len(line.split())
    if count or not found:
        write()
    return found
