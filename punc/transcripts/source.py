"""The characters of a file."""

import codecs
import os
import re
from typing import NamedTuple

from punc.base.errors import InputError
from punc.base.files import open_input

RAW = re.compile("[\udc80-\udcff]")
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


class Source(NamedTuple):
    """The text of a file, with the line ends that it has. Bytes that are not UTF-8 are half surrogates."""

    path: str
    text: str
    encoding: str

    def line(self, at: int) -> int:
        """The number of the line that a character is in."""
        return self.text.count("\n", 0, at) + 1

    def error(self, what: str, remedy: str, at: int = 0) -> InputError:
        """An error at a character of the file."""
        return InputError(what, remedy, self.path, self.line(at))

    def not_utf8(self, at: int) -> InputError:
        """An error for a byte that is not UTF-8."""
        windows = re.search("[\udc80-\udc9f]", self.text)  # in ISO 8859, these bytes are control characters
        name = "WINDOWS-1252" if windows else "ISO-8859-1"
        return self.error("not UTF-8", f"convert it: iconv -f {name} -t UTF-8, if it is in that encoding", at)


def read_source(path: str | os.PathLike[str]) -> Source:
    """The text of a file. Raises InputError if it cannot be read, and as `source_of`."""
    with open_input(path) as file:
        return source_of(file.read(), path)


def source_of(raw: bytes, path: str | os.PathLike[str]) -> Source:
    """Bytes in UTF-8 or, after a byte-order mark, UTF-16, as text. Raises InputError for NUL and broken UTF-16."""
    encoding = next((name for bom, name in BOMS if raw.startswith(bom)), "utf-8")
    try:
        text = raw.decode(encoding, "strict" if encoding == "utf-16" else "surrogateescape")
    except UnicodeDecodeError as error:
        raise InputError("not UTF-16, though it begins so", "save it as UTF-8", path,
                         raw.count(b"\n", 0, error.start) + 1) from None
    if raw.startswith(codecs.BOM_UTF16_BE):
        encoding = "utf-16-be"
    source = Source(os.fspath(path), text, encoding)
    if (at := text.find("\0")) >= 0:
        raise source.error("a NUL byte", "remove it: the file is not text, or is broken", at)
    if not text.strip():
        raise InputError("the file is empty", "let the recogniser write it again", path)
    return source


def require_utf8(source: Source) -> Source:
    """The source. Raises InputError if it has bytes that are not UTF-8."""
    if found := RAW.search(source.text):
        raise source.not_utf8(found.start())
    return source


def encoded(text: str, encoding: str) -> bytes:
    """A text as bytes in the encoding of a source."""
    if encoding == "utf-16-be":
        return codecs.BOM_UTF16_BE + text.encode("utf-16-be")
    return text.encode(encoding, "surrogateescape" if encoding != "utf-16" else "strict")
