#!/usr/bin/env python3
"""usage: local/messages.py CORPUS-DIR WORDS OUT

Writes the short messages that could have been dictated: OUT gets a line `id<TAB>text` for each, in the order of the
corpus. texts.py cleans the characters. Then these rules are applied in order:

- Emoticons after a space or a mark, and some after a letter, are dropped: :) ;-) (: =D :p ^^ <3 xD. So marks before an
  emoticon at the end of a message count as marks at the end.
- The marks at the end become one: QUESTION if one of them is `?`, otherwise PERIOD (`!`, `..`, `!!!`).
- A message is left out if it has no mark at the end; if it has `..` or the end of another sentence inside; if it has
  characters that nobody says (# < > * / …), as in the corpus's <#> and <DECIMAL>; if its beginning is cut off
  (see sentences.py); or if it has a one-digit number, which often stands for a word (`2` for `to`).
- A message is left out if it has a word that is not standard. A standard word occurs at least MIN_COUNT times in news,
  europarl and ted, or is in conf/spoken_words.txt; and it is not in conf/written_words.txt. Numbers, and times such as
  7:30 and 7pm, are standard.
- Messages with fewer than two words, and repeated texts, are left out.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sentences import CUT_OFF, read_messages
from texts import CONF, SentenceReader, clean, key, words_of

from punc.base.files import atomic_file, open_input, read_lines
from punc.bin.script import run_script

MIN_COUNT = 20
MIN_WORDS = 2
EYES, MOUTH = "[:;=8xX]", r"[)(\]\[DPpOo0|\\/3*sS]+"
FACE = rf"{EYES}'?-?{MOUTH}|[(\[]-?[:;=]|<3+|\^_*\^|>_*<|-_+-"
EMOTICON = re.compile(rf"(?:(?<=[\s.?!,])|(?<=^))(?:{FACE})(?=[\s.?!,]|$)"
                      r"|(?<=\w)[:;=]-?[)(DPp]+(?=\s|$)")
END = re.compile(r"\s*[.?!][\s.?!]*$")
INSIDE = re.compile(r"[.?!;](?=\s|$)|[.?!]{2,}|[?!;]|(?<=[^\W\d])\.(?=[^\W\d]{2,})|:(?!\d)")
UNSAID = re.compile(r"[^\w\s.,:'&%$£€-]|_|\s-+\s|--")
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*(?:am|pm|th|st|nd|rd|s|%)?|[$£€]\d+(?:[.,]\d+)*")
ONE_DIGIT = re.compile(r"\d")


def standard_words(words: Path) -> frozenset[str]:
    standard = set()
    with open_input(words) as file:
        for line in file:
            word, count = line.decode().split()
            if int(count) >= MIN_COUNT and (len(word) > 1 or word in "ai") and not word[0].isdigit():
                standard.add(word)
    standard.update(word for _, word in read_lines(CONF / "spoken_words.txt"))
    return frozenset(standard.difference(word for _, word in read_lines(CONF / "written_words.txt")))


class MessageFilter:
    """Turns messages into texts by the rules of this module.

    standard  the standard words
    counts    how many messages are kept, and how many are left out for each reason
    """

    def __init__(self, standard: frozenset[str]):
        self.standard, self.reader, self.counts, self._seen = standard, SentenceReader(), Counter(), set()

    def text(self, message: str) -> str:
        """Return the text of a message, or "" if it is left out."""
        text, reason = self._judge(message)
        self.counts[reason or "kept"] += 1
        return "" if reason else text

    def _judge(self, message: str) -> tuple[str, str]:
        """Return the text of a message, and the reason why the message is left out; the reason is "" if it is kept."""
        message = EMOTICON.sub(" ", clean(message)).strip()
        end = END.search(message)
        if not end:
            return "", "no mark at the end" if message else "empty"
        body = message[:end.start()]
        if ".." in body:
            return "", "periods inside"
        if INSIDE.search(body):
            return "", "more than one sentence"
        if UNSAID.search(body):
            return "", "characters that are not said"
        text = self.reader.read([*body.split(), "?" if "?" in end[0] else "."])
        return text, self._words_reason(text)

    def _words_reason(self, text: str) -> str:
        """Return what is wrong with the words of a text that is left out, or "" if it is kept."""
        words = words_of(text)
        if len(words) < MIN_WORDS:
            return "fewer than two words"
        if words[0] in CUT_OFF:
            return "beginning cut off"
        if any(map(ONE_DIGIT.fullmatch, words)):
            return "number of one digit"
        if not all(word in self.standard or NUMBER.fullmatch(word) for word in words):
            return "words that are not standard"
        digest = key(text)
        if digest in self._seen:
            return "repeated text"
        self._seen.add(digest)
        return ""


def kept(corpus: Path, found: MessageFilter) -> Iterator[tuple[str, str]]:
    for name, message in read_messages(corpus):
        if text := found.text(message):
            yield name, text


def main(corpus: Path, words: Path, out: Path) -> None:
    found = MessageFilter(standard_words(words))
    with atomic_file(out) as file:
        file.writelines(f"{name}\t{text}\n" for name, text in kept(corpus, found))
    for reason, count in found.counts.most_common():
        print(f"messages {'' if reason == 'kept' else 'left out: '}{reason}: {count}")


if __name__ == "__main__":
    run_script(main, __doc__)
