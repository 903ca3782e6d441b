"""The parts of a punctuated data directory, each made by one job, and the directory that is joined from them.

A part has the tables of its share, in the order of the streams, and share.json, which says whose part it is. The joined
directory is the one that a single job writes, byte for byte.
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import decode_line, open_input, read_blocks
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet
from punc.data.tables import Row, fields, read_table
from punc.decoding.options import DecodingOptions
from punc.decoding.punctuated_text import OutputOptions, check_out, punctuated_dir
from punc.decoding.shares import concatenate

FILE = "share.json"


@dataclass(frozen=True)
class Part:
    """What a part is.

    job         the job that made it, from 1
    jobs        number of jobs
    utterances  number of utterances in the share
    counts      how often each label was chosen, by name
    run         what must be the same in all parts: see `describe_run`
    """

    job: int
    jobs: int
    utterances: int
    counts: dict[str, int]
    run: dict[str, dict]

    def write(self, directory: Path) -> None:
        (directory / FILE).write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, directory: Path) -> "Part":
        """Raises InputError if the directory is not a part."""
        with open_input(directory / FILE) as file:
            try:
                return cls(**json.loads(file.read()))
            except (ValueError, TypeError):
                raise InputError("not a share", "run the job again", directory / FILE) from None


def describe_run(directory: Path, data: DataDir, decoding: DecodingOptions, output: OutputOptions) -> dict[str, dict]:
    """The model and its checksum, the data, and the options of a run."""
    digest = hashlib.sha256()
    for block in read_blocks(directory / "final.pt"):
        digest.update(block)
    paths = {"model": os.path.abspath(directory), "checksum": digest.hexdigest()[:12],
             "data": os.path.abspath(data.path)}
    written = {name: os.path.abspath(value) if value and isinstance(value, str) else value
               for name, value in asdict(output).items()}
    return {"paths": paths, "decoding": asdict(decoding), "output": written}


def remove_part(directory: Path) -> None:
    """Remove a part, if there is one. Raises InputError if the directory has something else."""
    files = list(directory.iterdir()) if directory.is_dir() else []
    if files and not (directory / FILE).is_file():
        raise InputError("the directory is not a part", "name a new directory for each job", directory)
    for file in sorted(files, key=lambda file: file.name == FILE):  # a part to the last, if this is killed
        file.unlink()
    if directory.is_dir():
        directory.rmdir()


def join_punctuated(parts: Sequence[Path], out: Path) -> None:
    """Join the parts of all jobs, in order, to the data directory `out`; removes the parts.

    `out` is replaced as a whole, or left as it was. Raises InputError if a part is missing, is of another run, or does
    not have the words of its share.
    """
    read = _read_parts(parts)
    run = read[0].run
    data, output = DataDir(run["paths"]["data"]), OutputOptions(**run["output"])
    label_set = LabelSet.read(Path(run["paths"]["model"]) / "labels.txt")
    check_out(out, data)
    if out.resolve() in {path.resolve() for path in parts}:
        raise InputError("OUT-DIR is a PART-DIR", "name another OUT-DIR", out)
    _check_words(parts, read, data)
    full = [path for path, part in zip(parts, read) if part.utterances]
    with punctuated_dir(out, data, label_set, output) as (tmp, counts):
        counts.update(_total(read))
        for name in sorted(file.name for file in full[0].iterdir()) if full else ():
            if not name.endswith(".scp") and name != FILE:
                concatenate([path / name for path in full], tmp / name)
        # As punc punctuate and write_tables write the paths of archives.
        _join_index(full, tmp, "post", os.path.abspath(out / "post.ark"))
        _join_index(full, tmp, "pauses", str(out / "pauses.ark"))
    for path in parts:
        remove_part(path)


def _total(parts: Sequence[Part]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(part.counts)
    return counts


def _read_parts(paths: Sequence[Path]) -> list[Part]:
    """The parts. Raises InputError unless they are those of all jobs of one run, in order."""
    parts: list[Part] = []
    for number, path in enumerate(paths, 1):
        if not (path / FILE).is_file():
            raise InputError("no such part", f"run punc punctuate with --job={number} again", path)
        part = Part.read(path)
        if (part.job, part.jobs) != (number, len(paths)):
            raise InputError(f"the part of --job={part.job} --jobs={part.jobs}, not of {number} of {len(paths)} jobs",
                             "name the parts of all jobs, in order", path)
        for name, values in part.run.items():
            for key, value in values.items():
                other = parts[0].run.get(name, {}).get(key) if parts else value
                if value != other:
                    raise InputError(f"{key} is {value}, but {other} in {paths[0]}",
                                     "run all jobs again, with one model and the same options", path / FILE)
        parts.append(part)
    return parts


def _check_words(paths: Sequence[Path], parts: Sequence[Part], data: DataDir) -> None:
    """Raise InputError unless the parts together have the words of `data` in its order, with a label for each."""
    utterances = DataDir(data.path, ignore=("punct", "pauses.scp")).utterances()
    for path, part in zip(paths, parts):
        again = f"run punc punctuate with --job={part.job} again"
        count = 0
        for text, punct in zip_longest(_rows(path / "text"), _rows(path / "punct")) if part.utterances else ():
            utterance, count = next(utterances, None), count + 1
            if utterance is None or text is None or (text.key, fields(text.value)) != (utterance.id, utterance.words):
                raise InputError(f"not the words of {data.path / 'text'}", again, path / "text", count)
            if punct is None or punct.key != text.key or len(fields(punct.value)) != len(utterance.words):
                raise InputError(f"not a label for each word of '{text.key}'", again, path / "punct", count)
        if count != part.utterances:
            raise InputError(f"{count} utterances, not {part.utterances}", again, path / "text")
    if utterance := next(utterances, None):
        raise InputError(f"'{utterance.id}' is in no part", "run all jobs again: the data has changed",
                         data.path / "text")


def _rows(path: Path) -> Iterator[Row]:
    return read_table(path, sort=False)


def _join_index(parts: Sequence[Path], tmp: Path, name: str, archive: str) -> None:
    """Join the indices NAME.scp of the parts into one of `archive`, in which their archives follow one another."""
    if not parts or not (parts[0] / f"{name}.scp").is_file():
        return
    begin = 0
    with open(tmp / f"{name}.scp", "wb") as out:
        for part in parts:
            index = part / f"{name}.scp"
            with open_input(index) as file:
                for number, line in enumerate(file, 1):
                    key, _, place = decode_line(line, index, number).partition(" ")
                    out.write(f"{key} {archive}:{begin + int(place.rpartition(':')[2])}\n".encode())
            begin += (part / f"{name}.ark").stat().st_size
