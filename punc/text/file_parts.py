"""Reads text files in parts, and counts what is found in them, with examples.

The key of a count is `WHAT` or `WHAT<TAB>EXAMPLE`, so that counts of several processes can be added. If there are more
than MOST examples, the rarest are counted together, so that memory does not grow with the text.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

from punc.base.errors import InputError, StrPath
from punc.base.files import open_input

MOST_LONE = 2  # bytes that are removed from a short text if they are not UTF-8; from a longer one, one in 10,000
PART = 1 << 21  # bytes; large enough that passing parts to processes is cheap, and small enough for memory
CUT_CHARACTER = re.compile("[\udcc2-\udcf4][\udc80-\udcbf]+[?]|[\udc80-\udcff]")


class FilePart(NamedTuple):
    """A part of an input file, from byte `offset` on. `line_start`: whether the part begins a line. `first`: whether it
    begins the file."""

    path: str
    offset: int
    data: bytes
    line_start: bool
    first: bool


def file_parts(paths: Iterable[StrPath], delimiter: bytes, size: int = PART) -> Iterator[FilePart]:
    """Yield the files in parts of about `size` bytes. A part ends after a delimiter (see `last_end`), or at the end of
    the file. Raises InputError for an empty file."""
    for path in paths:
        with open_input(path) as file:
            rest, offset, line_start, first = b"", 0, True, True
            while data := file.read(size):
                data = rest + data
                end = last_end(data, delimiter)
                rest = data[end:]
                if end:
                    yield FilePart(os.fspath(path), offset, data[:end], line_start, first)
                    offset += end
                    line_start = data[end - 1:end] == b"\n"
                    first = False
            if first and not rest:
                raise InputError("the file is empty", "get it again", path)
            if rest:
                yield FilePart(os.fspath(path), offset, rest, line_start, first)


def last_end(data: bytes, delimiter: bytes) -> int:
    """Return the index after the last `delimiter`, ignoring case; 0 if there is none. If the delimiter is a line end
    and `data` contains none, return the index after the last space."""
    if delimiter == b"\n":
        return data.rfind(b"\n") + 1 or data.rfind(b" ") + 1
    at = data.lower().rfind(delimiter)
    return 0 if at < 0 else at + len(delimiter)


def count_lines(file: IO[bytes], end: int) -> int:
    """Count the lines of a file that end before byte `end`."""
    lines = 0
    while end > 0 and (data := file.read(min(end, 1 << 20))):
        lines += data.count(b"\n")
        end -= len(data)
    return lines


def decode(data: bytes, repairs: Counter[str]) -> str:
    """Decode a text. Line ends become LF, and a few bytes that are not UTF-8 are removed. Raises InputError for NUL
    bytes, and if so many bytes are not UTF-8 that the text is probably in another encoding."""
    if (at := data.find(b"\0")) >= 0:
        raise InputError("a NUL byte", "convert the text to UTF-8: iconv -f UTF-16 -t UTF-8",
                         line=data.count(b"\n", 0, at) + 1)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "surrogateescape")
        lone = sum(len(found[0]) == 1 for found in CUT_CHARACTER.finditer(text))
        if lone > max(MOST_LONE, len(data) // 10_000):
            raise InputError(f"{lone:,} bytes are not UTF-8",
                             "convert the text to UTF-8: iconv -f WINDOWS-1252 -t UTF-8",
                             line=data.count(b"\n", 0, error.start) + 1) from None
        text, count = CUT_CHARACTER.subn("", text)
        repairs["bytes or cut characters that are not UTF-8, removed"] += count
    if "\r" in text:
        repairs["carriage returns, taken as line ends"] += text.count("\r")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.removeprefix("\ufeff")


MOST = 20_000  # the maximum number of examples that are counted separately
WIDTH = 40  # the maximum number of characters of an example
SHOWN = 10


def note(counts: Counter[str], what: str, example: str, times: int = 1) -> None:
    if len(example) > WIDTH:
        example = example[:WIDTH - 1] + "…"
    counts[f"{what}\t{' '.join(example.split())}"] += times


def bound(counts: Counter[str]) -> None:
    """Count the rarest examples together if there are more than MOST examples."""
    examples = [key for key in counts if "\t" in key] if len(counts) > MOST else []
    if len(examples) <= MOST:
        return
    examples.sort(key=lambda key: (-counts[key], key))
    for key in examples[MOST // 2:]:
        what, _, example = key.partition("\t")
        if example:
            counts[f"{what}\t"] += counts.pop(key)


def found(counts: Counter[str]) -> Iterator[tuple[str, int, str]]:
    """Yield, in alphabetical order, what was found, how often, and a line with its most frequent examples."""
    examples: dict[str, list[tuple[int, str]]] = {}
    for key, times in counts.items():
        what, tab, example = key.partition("\t")
        if tab:
            examples.setdefault(what, []).append((-times, example))
    for what, some in sorted(examples.items()):
        shown = [f"{example} {-times:,}" for times, example in sorted(one for one in some if one[1])[:SHOWN]]
        total = -sum(times for times, _ in some)
        if len(some) > len(shown):
            shown.append("…")
        yield what, total, ", ".join(shown)
