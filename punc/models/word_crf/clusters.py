"""Brown clusters (Brown et al. 1992), files in the `paths` format of Liang's program (Liang 2005).

A line is `BITS<TAB>WORD<TAB>COUNT`. The bits are the path from the root of the merge tree to the word's leaf. Words
whose paths have the same prefix form a class; a shorter prefix gives a larger class.
"""

import os

from punc.base.errors import InputError
from punc.base.files import decode_line, open_input


def read_clusters(path: str | os.PathLike) -> dict[str, str]:
    """The bit string of each word. Raises InputError, with file and line, if the file has another format."""
    bits = {}
    with open_input(path) as file:
        for number, raw in enumerate(file, 1):
            fields = decode_line(raw, path, number).split("\t")
            if len(fields) != 3 or not fields[0] or fields[0].strip("01") or not fields[1] or not _is_count(fields[2]):
                raise InputError("not BITS<TAB>WORD<TAB>COUNT", "use the file `paths` that Liang's wcluster writes",
                                 path, number)
            if fields[1] in bits:
                raise InputError(f"'{fields[1]}' is here twice", "remove one of its lines", path, number)
            bits[fields[1]] = fields[0]
    if not bits:
        raise InputError("the file is empty", "make it again, or name another one", path)
    return bits


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit()
