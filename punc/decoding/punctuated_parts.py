"""The parts of a punctuated data directory, each made by one job, and the directory that is joined from them.

A part has the tables of its share, in the order of the streams. The joined directory is the one that a single job
writes, byte for byte.
"""

import os
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import check_outputs, decode_line, open_input
from punc.base.jobs import Part, concatenate
from punc.data.datadir import DataDir
from punc.data.kaldi_io import archive_path, parse_location
from punc.data.labels import LabelSet
from punc.data.tables import fields, read_table
from punc.decoding.options import OutputOptions
from punc.decoding.punctuate import punctuated_dir


def join_punctuated(parts: Sequence[Part], out: Path, directory: Path, data: DataDir, output: OutputOptions) -> None:
    """Join the parts of all jobs, in order, to what `punctuate` writes with the same arguments.

    Raises InputError if a part does not have the words of its share; `out` is then as it was.
    """
    label_set = LabelSet.read(directory / "labels.txt")
    check_outputs([str(out)], [str(data.path)])
    _check_words(parts, data)
    full = [part for part in parts if part.result["utterances"]]
    paths = [part.path for part in full]
    with punctuated_dir(out, data, label_set, output) as (tmp, counts):
        counts.update(sum((Counter(part.result["counts"]) for part in parts), Counter()))
        for name in full[0].files() if full else ():
            if not name.endswith(".scp"):
                concatenate([path / name for path in paths], tmp / name)
        # As punc punctuate and write_utterances write the paths of archives.
        _join_index(paths, tmp, "post", os.path.abspath(out / "post.ark"))
        _join_index(paths, tmp, "pauses", str(out / "pauses.ark"))


def _check_words(parts: Sequence[Part], data: DataDir) -> None:
    """Raise InputError unless the parts together have the words of `data` in its order, with a label for each."""
    utterances = DataDir(data.path, ignore=("punct", "pauses.scp")).utterances()
    for part in parts:
        path, again, expected = part.path, part.again, part.result["utterances"]
        count = 0
        tables = [read_table(path / name, sort=False) for name in ("text", "punct") if expected]
        for text, punct in zip_longest(*tables):
            utterance, count = next(utterances, None), count + 1
            if utterance is None or text is None or (text.key, fields(text.value)) != (utterance.id, utterance.words):
                raise InputError(f"not the words of {data.path / 'text'}", again, path / "text", count)
            if punct is None or punct.key != text.key or len(fields(punct.value)) != len(utterance.words):
                raise InputError(f"not a label for each word of '{text.key}'", again, path / "punct", count)
        if count != expected:
            raise InputError(f"{count} utterances, not {expected}", again, path / "text")
    if utterance := next(utterances, None):
        raise InputError(f"'{utterance.id}' is in no part", "run all jobs again: the data has changed",
                         data.path / "text")


def _join_index(parts: Sequence[Path], tmp: Path, name: str, archive: str) -> None:
    """Join the indices NAME.scp of the parts into one of `archive`, in which their archives follow one another."""
    if not parts or not (parts[0] / f"{name}.scp").is_file():
        return
    begin, archive = 0, archive_path(archive)
    with open(tmp / f"{name}.scp", "wb") as out:
        for part in parts:
            index = part / f"{name}.scp"
            with open_input(index) as file:
                for number, line in enumerate(file, 1):
                    key, _, place = decode_line(line, index, number).partition(" ")
                    out.write(f"{key} {archive}:{begin + parse_location(place, index, number)[1]}\n".encode())
            begin += (part / f"{name}.ark").stat().st_size
