"""usage: prepare_text.py FILE … >OUT

Writes punctuated text for the first stage as spoken words with their marks, by the rules of spoken.py. `#doc` lines are
kept and `#speaker` lines dropped. In mteval XML every <doc> is a document and every <seg> is text.
"""

import re
import sys
from collections.abc import Iterator

from spoken import CURRENCIES, TITLES, spoken, words_of

from punc.base.files import open_input
from punc.bin.script import run_script
from punc.text.formats.mteval import documents_and_segments

ENDING = re.compile(r"[^\w%&$€£]*$")
CURRENCY = re.compile(f"[{''.join(CURRENCIES)}]")
MARKS = frozenset(",.;:?!")


class Memo(dict):
    """The spoken words and marks of each written token, remembered because tokens recur."""

    def __missing__(self, token: str) -> str:
        core, ending = parts(token)
        text = " ".join(words_of(core)[0]) + ending
        if len(self) < 1 << 20:
            self[token] = text
        return text


def parts(token: str) -> tuple[str, str]:
    """A token without the marks after it, and those of these marks that can be a label."""
    ending = ENDING.search(token)[0]
    core = token[:len(token) - len(ending)]
    kept = "".join(mark for mark in ending if mark in MARKS)
    if core.strip("(\"'").lower() in TITLES:
        kept = kept.replace(".", "")
    return core + ("-" if ending.startswith("-") and not kept else ""), kept


def speak(line: str, memo: Memo) -> str:
    """A line of text in spoken words with their marks."""
    tokens = line.split()
    if not CURRENCY.search(line):
        return " ".join(map(memo.__getitem__, tokens))
    cores, endings = zip(*map(parts, tokens))
    return " ".join(" ".join(words) + ending for words, ending in zip(spoken(cores), endings))


def spoken_lines(path: str) -> Iterator[str]:
    """The lines of a file in spoken words. Bytes that are not UTF-8 are dropped."""
    memo = Memo()
    with open_input(path) as file:
        for line in file:
            text = line.decode("utf-8", "ignore")
            if text.startswith("#doc"):
                yield text.rstrip("\n")
            elif text.lstrip().startswith("<"):
                for name, segment in documents_and_segments(text):
                    yield f"#doc {name}" if name else speak(segment, memo)
            elif not text.startswith("#speaker"):
                yield speak(text, memo)


def main(*files: str) -> None:
    for file in files:
        sys.stdout.writelines(line + "\n" for line in spoken_lines(file))


if __name__ == "__main__":
    run_script(main, __doc__)
