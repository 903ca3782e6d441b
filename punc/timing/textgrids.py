"""Reads timed words from TextGrids of MFA and Praat, in the long and the short form, with the library `textgrid`.

The library cannot read the short form if a tier of points comes before the words.
"""

import functools
import os
import re
from collections.abc import Callable
from pathlib import Path

import textgrid

from punc.base.errors import InputError
from punc.base.files import decode_line, open_input
from punc.data.datadir import LATEST
from punc.timing.ctm import TimedWord, Timing
from punc.timing.file_index import index_files

TEXTGRID_SILENCE = frozenset(("", "sil", "sp", "SIL", "SP", "<eps>"))
NUMBER = r"([-+]?(?:\d[\d_]*(?:\.[\d_]*)?(?:e[-+]?\d+)?|\.\d[\d_]*(?:e[-+]?\d+)?|nan|inf(?:inity)?))"
INTERVAL = re.compile(rf'^[ \t]*(?:xmin = )?{NUMBER}\s*\n[ \t]*(?:xmax = )?{NUMBER}\s*\n[ \t]*(?:text = )?"',
                      re.M | re.I)


def find_textgrids(path: str | os.PathLike[str]) -> list[Path]:
    """The TextGrids of a directory and of those below it (MFA makes one for each speaker), or the one file `path`."""
    path = Path(path)
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [file for file in files if file.suffix.lower() == ".textgrid"]


def index_textgrids(path: str | os.PathLike[str], tier: str = "words") -> dict[str, Callable[..., Timing]]:
    """Every TextGrid by its id, the file's name without its ending, with a function that reads its timing.

    Raises InputError if there is no TextGrid, or two have the same name. The function raises InputError as
    `read_textgrid` does.
    """
    files = find_textgrids(path)
    if not files:
        raise InputError("no *.TextGrid here", "name a TextGrid, or a directory with some", path)
    return index_files(files, "TextGrids", functools.partial(read_textgrid, tier=tier), Path(path))


def read_textgrid(path: str | os.PathLike[str], tier: str = "words", channel: str | None = None) -> Timing:
    """Read the words of a TextGrid; the id is the file's name without its ending.

    If no tier is called `tier`, all tiers called `speaker - tier` are read, as MFA writes several speakers; `channel`
    may choose one of them. Raises InputError for bytes that are neither UTF-8 nor UTF-16, NUL, a file that is cut short
    or broken, a missing tier, an interval that ends before it begins, overlaps within a tier, and several words in one
    interval.
    """
    grid = textgrid.TextGrid()
    encoding, intervals = _check_textgrid(path)
    try:
        grid.read(os.fspath(path), encoding=encoding)
    except Exception as error:  # the library raises a dozen kinds of errors for a broken file, most of them by accident
        raise InputError(f"a broken TextGrid, or cut short ({type(error).__name__})",
                         "make it again, or save it in Praat's long form", path) from None
    tiers = [one for one in grid.tiers if isinstance(one, textgrid.IntervalTier) and isinstance(one.name, str)]
    if len(tiers) == len(grid.tiers) and (read := sum(map(len, tiers))) < intervals:
        raise InputError(f"{intervals} intervals, but the sizes of the tiers say {read}", "make it again, or fix the "
                         "sizes", path)
    chosen = [one for one in tiers if one.name == tier] or [one for one in tiers if one.name.endswith(f" - {tier}")]
    if channel:
        chosen = [one for one in chosen if one.name == f"{channel} - {tier}"] or chosen
    if not chosen:
        raise InputError(f"no tier '{tier}'", f"name one with --tier: {', '.join(one.name for one in tiers)}", path)
    if not 0 <= grid.maxTime < LATEST:
        raise InputError(f"the end {grid.maxTime:g} is no time of a recording", "fix the xmax of the file", path)
    words = []
    for one in chosen:
        speaker = one.name.removesuffix(tier).removesuffix(" - ") or "1"
        for interval in one:
            word = interval.mark.strip()
            if len(word.split()) > 1:
                raise InputError(f"'{word[:30]}' is more than one word", "name the tier of the words with --tier", path)
            if word not in TEXTGRID_SILENCE:
                words.append(TimedWord(Path(path).stem, speaker, interval.minTime,
                                       interval.maxTime - interval.minTime, word))
    return Timing(sorted(words, key=lambda word: word.begin), grid.maxTime, path)


def _check_textgrid(path: str | os.PathLike[str]) -> tuple[str, int]:
    """The encoding of a TextGrid, and how many intervals with a length it has.

    Raises InputError for bad bytes, and for bad times that the library accepts.
    """
    with open_input(path) as file:
        raw = file.read()
    if not raw.strip():
        raise InputError("the file is empty", "make it again", path)
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    if encoding == "utf-16":
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            raise InputError("not UTF-16, though it begins so", "save it as UTF-8", path) from None
    else:
        text = "\n".join(decode_line(line.rstrip(b"\r\n"), path, n) for n, line in enumerate(raw.split(b"\n"), 1))
    count = 0
    for interval in INTERVAL.finditer(text):
        begin, end = float(interval[1]), float(interval[2])
        # The library leaves out what has no length.
        if not 0 <= begin <= end < LATEST or (end == begin and text[interval.end():interval.end() + 1] != '"'):
            raise InputError(f"an interval from {begin:g} to {end:g} s", "fix it: begin ≥ 0, end ≥ begin, and a word "
                             "has a length", path, text.count("\n", 0, interval.start(1)) + 1)
        count += end > begin
    return encoding, count
