"""usage: prepare_text.py FILE … >OUT

Punctuated text for the first stage as spoken words with their marks, by the rule of spoken.py. Lines of `#doc` stay,
those of `#speaker` go; of mteval XML, every <doc> is a document and every <seg> is text.
"""

import html
import re
import sys
from collections.abc import Iterator

from spoken import CURRENCIES, TITLES, spoken, words_of

from punc.base.errors import InputError
from punc.base.files import open_input

ENDING = re.compile(r"[^\w%&$€£]*$")
CURRENCY = re.compile(f"[{''.join(CURRENCIES)}]")
XML = re.compile(r'<doc\b[^>]*docid="([^"]*)"[^>]*>|<seg\b[^>]*>(.*?)</seg>')
MARKS = frozenset(",.;:?!")


class Memo(dict):
    """A written token to its spoken words with its marks; tokens come back."""

    def __missing__(self, token: str) -> str:
        core, ending = parts(token)
        text = " ".join(words_of(core)[0]) + ending
        if len(self) < 1 << 20:
            self[token] = text
        return text


def parts(token: str) -> tuple[str, str]:
    """A token without the marks behind it, and those of them that can be a label."""
    ending = ENDING.search(token)[0]
    core = token[:len(token) - len(ending)]
    kept = "".join(mark for mark in ending if mark in MARKS)
    if core.strip("(\"'").lower() in TITLES:
        kept = kept.replace(".", "")
    return core + ("-" if ending.startswith("-") and not kept else ""), kept


def speak(line: str, memo: Memo) -> str:
    """A line of text in spoken words, its marks behind them."""
    tokens = line.split()
    if not CURRENCY.search(line):
        return " ".join(map(memo.__getitem__, tokens))
    cores, endings = zip(*map(parts, tokens))
    return " ".join(" ".join(words) + ending for words, ending in zip(spoken(cores), endings))


def spoken_lines(path: str) -> Iterator[str]:
    """The lines of a file in spoken words; bytes that are not UTF-8 vanish."""
    memo = Memo()
    with open_input(path) as file:
        for line in file:
            text = line.decode("utf-8", "ignore")
            if text.startswith("#doc"):
                yield text.rstrip("\n")
            elif text.lstrip().startswith("<"):
                for name, segment in XML.findall(text):
                    yield f"#doc {name}" if name else speak(html.unescape(segment), memo)
            elif not text.startswith("#speaker"):
                yield speak(text, memo)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        for file in sys.argv[1:]:
            sys.stdout.writelines(line + "\n" for line in spoken_lines(file))
    except InputError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
