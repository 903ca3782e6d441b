#!/usr/bin/env python3
"""usage: local/sentences.py CORPUS-DIR OUT-DIR

The texts of the corpora by sentences, OUT-DIR/{news,europarl,ted,messages}.txt: one a line (texts.py says how it
is written), `#doc` lines before each document, an empty line where something was left out; and OUT-DIR/words.txt, the
words of news, europarl and ted with how often they occur.

- news: Reuters-21578; ticker symbols as <BA> are left out, a company in <…> is not.
- europarl: without speakers.
- ted: the talks of train2012 and dev2012 from the cased XML, without what is in parentheses, as (Laughter); and
  train_extra, more talks in LREC format, without their beginnings: each 1,000 sentences are a document, and clitics are
  joined (do n't).
- messages: each is a document; each `.`, `?` or `!` with a blank behind it ends a sentence there, whatever follows. In
  some the corpus lacks the beginning, up to an apostrophe (`m walking`): their first sentence is left out.
"""

import html
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from texts import SentenceReader, clean, read_text, words_of

from punc.base.errors import InputError
from punc.base.files import atomic_file

TICKER = re.compile(r"<[A-Z.]{1,8}>")
BRACKETS = re.compile(r"\([^()]*\)")
SEGMENT = re.compile(r'<doc docid="([^"]*)"|<seg\b[^>]*>(.*?)</seg>')
MESSAGE_END = re.compile(r"(?<=[.?!])\s+")
CLITICS = frozenset(("n't", "'s", "'re", "'ve", "'ll", "'d", "'m"))
TALK = 1000  # sentences of a document where talks cannot be told apart
DOCUMENT = "#doc "
CUT_OFF = frozenset(("m", "s", "t", "re", "ve", "ll", "d"))  # what a message begins with that lacks its beginning


def news(corpus: Path, reader: SentenceReader) -> Iterator[str]:
    for line in read_text(corpus / "news_smd/reuters21578.txt"):
        yield from [line] if line.startswith(DOCUMENT) else reader.sentences(TICKER.sub(" ", line))


def europarl(corpus: Path, reader: SentenceReader) -> Iterator[str]:
    for line in read_text(corpus / "europarl/europarl.en.txt"):
        if line.startswith("#speaker"):
            yield ""
        else:
            yield from [line] if line.startswith(DOCUMENT) else reader.sentences(line)


def ted(corpus: Path, reader: SentenceReader) -> Iterator[str]:
    for part in ("train2012", "dev2012"):
        for line in read_text(corpus / f"iwslt_ted/TED.{part}.cased.xml"):
            for name, segment in SEGMENT.findall(line):
                yield from [DOCUMENT + name] if name else reader.sentences(BRACKETS.sub(" ", html.unescape(segment)))
    number, marks = 0, {"COMMA": ",", "PERIOD": ".", "QUESTION": "?"}
    words = []
    for line in read_text(corpus / "iwslt_ted/train_extra"):
        word, _, label = line.rpartition("\t")
        if word in CLITICS and words and words[-1][-1] not in ",.?":
            words[-1] += word + marks.get(label, "")
        elif word:
            words.append(clean(word) + marks.get(label, ""))
        if label in ("PERIOD", "QUESTION"):
            if number % TALK == 0:
                yield f"{DOCUMENT}extra{number // TALK:04d}"
            number += 1
            yield reader.read(" ".join(words).split())
            words = []


def messages(corpus: Path, reader: SentenceReader) -> Iterator[str]:
    for name, text in read_messages(corpus):
        yield DOCUMENT + name
        for part in MESSAGE_END.split(clean(text, reader.counts)):
            text = reader.read(part.split())
            yield "" if words_of(text)[:1] and words_of(text)[0] in CUT_OFF else text


def read_messages(corpus: Path) -> Iterator[tuple[str, str]]:
    """Id and text of each message. Ids come again in the corpus: the second of 123 is 123.2."""
    path, seen = corpus / "news_smd/nus_sms_en.tsv", Counter()
    for number, line in enumerate(read_text(path), 1):
        fields = line.split("\t", 5)
        if len(fields) != 6:
            raise InputError(f"{len(fields)} columns", "id, country, age, native, method, text", path, number)
        if number > 1:
            seen[fields[0]] += 1
            yield fields[0] if seen[fields[0]] == 1 else f"{fields[0]}.{seen[fields[0]]}", fields[5]


def main(corpus: Path, out: Path) -> None:
    vocabulary = Counter()
    for source in (news, europarl, ted, messages):
        reader, start = SentenceReader(), time.time()
        with atomic_file(out / f"{source.__name__}.txt") as file:
            for line in source(corpus, reader):
                file.write(line + "\n")
                if source is not messages and not line.startswith(DOCUMENT):
                    vocabulary.update(words_of(line))
        listed = ", ".join(f"{count} {what}" for what, count in sorted(reader.counts.items()))
        print(f"{source.__name__}: {listed} ({time.time() - start:.0f} s)")
    with atomic_file(out / "words.txt") as file:
        file.writelines(f"{word} {count}\n" for word, count in sorted(vocabulary.items()) if word)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except InputError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
