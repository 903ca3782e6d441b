"""Punctuated texts in files, or in data directories, counted against each other by alignment: `punc score-text`.

A file is one text, or has a text on each line: a recording, or a post. A side's texts are *streams* as everywhere.
"""

import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.base.files import decode_line, open_input
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.scoring.counts import BLOCK, Counts, block_names, check_slots, side_of
from punc.scoring.stream_counts import Words, count_streams
from punc.scoring.texts import Read

WHOLE = "text"  # the stream's name, if the texts are compared as a whole


class Side(NamedTuple):
    """The texts of a file, or of a data directory.

    path     the file or directory
    names    the streams' names; of a file, their numbers from 1 without empty lines at its end
    streams  the streams
    named    whether the names are those of a data directory
    """

    path: Path
    names: list[str]
    streams: list[Words]
    named: bool

    @property
    def words(self) -> int:
        """The number of words."""
        return sum(len(stream.plain) for stream in self.streams)

    @property
    def checksum(self) -> str:
        """12 hex digits of a hash of words and labels, stream by stream."""
        digest = hashlib.sha256()
        for stream in self.streams:
            digest.update(" ".join(stream.plain).encode() + b"\n" + stream.slots.astype(np.int8).tobytes())
        return digest.hexdigest()[:12]


def read_side(path: Path, labels: LabelSet, read: Read) -> Side:
    """The texts of a file, a line each, or of a data directory with labels.

    read   `texts.text_reader`, for a file

    Raises InputError if there are no words or, in a data directory, no labels.
    """
    if path.is_dir():
        data = DataDir(path)
        if not data.has_labels:
            raise InputError("no labels to score", "the data directory needs a file punct", path)
        both = [(name, side_of(utterances, labels, path)) for name, utterances in data.streams()]
        side = Side(path, [name for name, _ in both], [words for _, words in both], True)
    else:
        with open_input(path) as file:
            lines = [decode_line(line.replace(b"\r\n", b"\n"), path, i).strip() for i, line in enumerate(file, 1)]
        while lines and not lines[-1]:
            lines.pop()
        width = len(str(len(lines)))
        side = Side(path, [f"{i:0{width}}" for i in range(1, len(lines) + 1)], [read(line) for line in lines], False)
    if not side.words:
        raise InputError("a text without words", "give a text with words to score", path)
    return side


def pair(ref: Side, hyp: Side, match: str = "auto") -> tuple[Side, Side]:
    """Both sides with the same streams.

    match   "lines": stream i belongs to stream i; "text": all streams together are one; "auto": "lines" if both have as
            many streams, else "text"

    Raises InputError if streams cannot be paired as `match` says.
    """
    if match == "text" or (match == "auto" and len(ref.streams) != len(hyp.streams)):
        return _joined(ref), _joined(hyp)
    if len(ref.streams) != len(hyp.streams):
        raise InputError(f"{len(hyp.streams)} texts, but {ref.path} has {len(ref.streams)}",
                         "write one text a line, or give --match text", hyp.path)
    if ref.named and hyp.named and ref.names != hyp.names:
        raise InputError(f"other streams than {ref.path}", "punctuate that directory", hyp.path)
    names = ref.names if ref.named else hyp.names
    return ref._replace(names=names), hyp._replace(names=names)


def _joined(side: Side) -> Side:
    """All streams as one."""
    cased = [stream.cased for stream in side.streams if stream.cased is not None]
    one = Words([word for stream in side.streams for word in stream.plain],
                np.concatenate([stream.slots for stream in side.streams]),
                [word for words in cased for word in words] if len(cased) == len(side.streams) else None)
    return side._replace(names=[WHOLE], streams=[one])


def count_texts(ref: Side, hyp: Side, labels: LabelSet, block: int = BLOCK) -> Counts:
    """The counts of paired sides, in blocks of `block` reference words."""
    done = count_streams(list(zip(ref.streams, hyp.streams)), [label.mark for label in labels], block)
    names = block_names(ref.names, done.blocks)
    return check_slots(Counts(names, done.confusion, len(ref.names), done.aligned, done.words, block), ref.path)
