"""Reads timed words from the JSON of Gentle, a forced aligner for English (github.com/lowerquality/gentle).

    {"transcript": …, "words": [{"word": "So", "case": "success", "start": 0.3, "end": 0.52, …}, …]}

Source: Gentle's `gentle/transcription.py` and `align.py`. A word of the case `success` has a time, `start` and `end` in
seconds. One of the case `not-found-in-audio` has none, and is left out here, so it has no time. One of the case
`not-found-in-transcript`, a disfluency, has a time and is not in the text. `alignedWord` is not read: it is `<unk>` for
a word that Gentle does not know.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from punc.base.errors import InputError
from punc.base.files import open_input
from punc.data.datadir import LATEST
from punc.timing.ctm import TimedWord, Timing
from punc.timing.file_index import index_files


def find_gentle(path: str | os.PathLike[str]) -> list[Path]:
    """The `*.json` of a directory, or the one file `path`."""
    path = Path(path)
    return [file for file in (sorted(path.iterdir()) if path.is_dir() else [path]) if file.suffix.lower() == ".json"]


def index_gentle(path: str | os.PathLike[str]) -> dict[str, Callable[..., Timing]]:
    """Every JSON file by its id, the file's name without its ending, with a function that reads its timing.

    Raises InputError if there is no such file, or two have the same name. The function raises InputError as
    `read_gentle` does.
    """
    files = find_gentle(path)
    if not files:
        raise InputError("no *.json here", "name a JSON file of Gentle, or a directory with some", path)
    return index_files(files, "files", read_gentle, Path(path))


def read_gentle(path: str | os.PathLike[str], channel: str | None = None) -> Timing:
    """The words of a file that have a time, in time order; the id is the file's name without its ending.

    channel   is not used: Gentle reads one channel

    Raises InputError for a file that is not JSON of Gentle, or cut short, and for wrong times.
    """
    with open_input(path) as file:
        raw = file.read()
    try:
        words = json.loads(raw)["words"]
        found = [_timed(word, path) for word in words if "start" in word or word.get("case") == "success"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError("not JSON of Gentle, or cut short: no object with a list of words",
                         "align the recording again", path) from None
    return Timing(sorted(found, key=lambda word: word.begin), None, path)


def _timed(word: dict[str, Any], path: str | os.PathLike[str]) -> TimedWord:
    text, begin, end = word["word"], word.get("start"), word.get("end")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("a word without a text")
    if not isinstance(begin, int | float) or not isinstance(end, int | float) or not 0 <= begin <= end < LATEST:
        raise InputError(f"'{text[:30]}' is from {begin} to {end} s", "fix it: 0 ≤ start ≤ end, in seconds", path)
    text = text.encode(errors="replace").decode()  # half a surrogate pair, which JSON allows, is in no text
    return TimedWord(Path(path).stem, "1", float(begin), float(end) - float(begin), text.strip())
