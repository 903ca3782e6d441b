"""Turns of a conversation: where the speaker changes, as a flag in each slot next to its pause.

    turns    lines `UTTERANCE 0 0 1 0 …`, a flag for each word: 1 if another speaker says the next word of the stream

A stream is the utterances of one recording or document, and their ends tell a model nothing. So a change of speaker is
not an end of an utterance, but a property of a slot, as its label and its pause are: a turn may end inside an
utterance, and utterances may be cut anywhere. `utt2spk` cannot say it: without `segments` its speakers are the streams.
With `segments` it can, and `punc turns` makes the table of it. Kaldi's tools leave a table alone that they do not know.

A directory without `turns` knows of no change. The last word of a stream has 0.
"""

import os
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from punc.base.errors import InputError
from punc.base.files import atomic_dir
from punc.data.tables import Row, fields, sort_table

TURNS = "turns"  # the table
FLAGS = ("0", "1")


def parse_turns(row: Row, path: str | os.PathLike) -> np.ndarray:
    """The flags of a row of the table, bool (words,). Raises InputError for a flag that is neither 0 nor 1."""
    flags = fields(row.value)
    if wrong := next((flag for flag in flags if flag not in FLAGS), None):
        raise InputError(f"'{wrong}' is no flag of a turn", "write 1 after the last word of a turn, else 0", path,
                         row.line)
    return np.array(flags, "U1") == "1"


def turns_line(id: str, turns: np.ndarray) -> bytes:
    """The row of an utterance, as a line."""
    return " ".join((id, *np.where(turns, *reversed(FLAGS)).tolist())).encode() + b"\n"


def ends_of_turns(speakers: Sequence[Any]) -> np.ndarray:
    """Whether another speaker says the next word, bool (words,), from the speaker of each word of a stream.

    speakers   None: not known; such words count as those of the speaker before
    """
    known = np.array([i for i, speaker in enumerate(speakers) if speaker is not None], np.int64)
    ends = np.zeros(len(speakers), bool)
    ends[[after - 1 for before, after in pairwise(known.tolist()) if speakers[before] != speakers[after]]] = True
    return ends


def write_turns(directory: str | os.PathLike, turns: Iterable[tuple[str, np.ndarray]]) -> None:
    """Write the table of a data directory, whole or not at all, from the flags of utterances in any order."""
    with atomic_dir(directory, TURNS) as tmp:
        with open(tmp / TURNS, "wb") as file:
            file.writelines(turns_line(id, flags) for id, flags in turns)
        sort_table(tmp / TURNS)
