"""Converts names of languages, such as `eng`, `en-US` or `English`, to codes. languages.txt lists the names."""

from functools import cache
from pathlib import Path

from punc.base.files import read_lines


@cache
def _codes() -> dict[str, str]:
    lines = [line.split() for _, line in read_lines(Path(__file__).with_suffix(".txt"))]
    return {name: names[0] for names in lines for name in names}


def language_code(name: str) -> str:
    """Return the two-letter code of a language; empty if the name is unknown."""
    first = name.strip().strip("<|>").lower().replace("_", "-")
    return _codes().get(first, _codes().get(first.partition("-")[0], ""))
