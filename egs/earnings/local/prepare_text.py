"""usage: prepare_text.py FILE … >OUT

Converts punctuated text for the first stage to spoken words with their marks, by the rules of utils/calls/spoken.py.
`#doc` lines are kept, and `#speaker` lines are dropped.
"""

import sys
from collections.abc import Iterator

from spoken import SpokenText

from punc.base.files import open_input
from punc.bin.script import run_script


def spoken_lines(path: str) -> Iterator[str]:
    """Yield the lines of a file, except `#speaker` lines, in spoken form. Drop bytes that are not UTF-8."""
    text_of = SpokenText()
    with open_input(path) as file:
        for line in file:
            text = line.decode("utf-8", "ignore")
            if text.startswith("#doc"):
                yield text.rstrip("\n")
            elif not text.startswith("#speaker"):
                yield text_of.line(text)


def main(*files: str) -> None:
    for file in files:
        sys.stdout.writelines(line + "\n" for line in spoken_lines(file))


if __name__ == "__main__":
    run_script(main, __doc__)
