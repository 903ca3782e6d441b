#!/usr/bin/env python3
"""usage: local/sentences.py CORPUS-DIR OUT-DIR

Writes the sentences of the corpora, OUT-DIR/{news,europarl,ted,podcasts,messages}.txt: one per line (texts.py describes
the format), with a `#doc` line before each document and an empty line where something was left out. Also writes
OUT-DIR/words.txt, the words of news, europarl and ted with their counts.

- news: Reuters-21578 without ticker symbols such as <BA>; a company name in <…> is kept.
- europarl and podcasts: a line that names the speaker becomes an empty line.
- ted: the talks of train2012 and dev2012 from the cased XML, without text in parentheses such as (Laughter); and
  train_extra, more talks in LREC format. In train_extra, talks are not separated, so every 1,000 sentences form a
  document, and each clitic is joined to the word before it (`do n't` becomes `don't`).
- messages: each message is a document. Every `.`, `?` or `!` before a space ends a sentence, whatever follows. Some
  messages in the corpus lack everything up to the first apostrophe (`m walking` for I'm walking), so sentences that
  begin with a word of CUT_OFF are left out.
"""

import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from texts import SentenceReader, clean, read_text, words_of

from punc.base.errors import InputError
from punc.base.files import atomic_file
from punc.bin.script import run_script
from punc.text.formats.mteval import documents_and_segments

TICKER = re.compile(r"<[A-Z.]{1,8}>")
BRACKETS = re.compile(r"\([^()]*\)")
MESSAGE_END = re.compile(r"(?<=[.?!])\s+")
CLITICS = frozenset(("n't", "'s", "'re", "'ve", "'ll", "'d", "'m"))
TALK = 1000  # sentences in a document of train_extra, in which talks are not separated
DOCUMENT = "#doc "
# What is left of a word such as I'm if its beginning is missing.
CUT_OFF = frozenset(("m", "s", "t", "re", "ve", "ll", "d"))


def news(corpus: Path, reader: SentenceReader) -> Iterator[str]:
    for line in read_text(corpus / "news_smd/reuters21578.txt"):
        yield from [line] if line.startswith(DOCUMENT) else reader.sentences(TICKER.sub(" ", line))


def europarl(corpus: Path, reader: SentenceReader) -> Iterator[str]:
    yield from speeches(corpus / "europarl/europarl.en.txt", reader)


def podcasts(corpus: Path, reader: SentenceReader) -> Iterator[str]:
    for name in ("changelog", "bitcoin"):
        yield from speeches(corpus / f"podcasts/{name}.txt", reader)


def speeches(path: Path, reader: SentenceReader) -> Iterator[str]:
    """Yield the sentences of a file, its #doc lines, and "" for each #speaker line."""
    for line in read_text(path):
        if line.startswith("#speaker"):
            yield ""
        else:
            yield from [line] if line.startswith(DOCUMENT) else reader.sentences(line)


def ted(corpus: Path, reader: SentenceReader) -> Iterator[str]:
    for part in ("train2012", "dev2012"):
        for line in read_text(corpus / f"iwslt_ted/TED.{part}.cased.xml"):
            for name, segment in documents_and_segments(line):
                yield from [DOCUMENT + name] if name else reader.sentences(BRACKETS.sub(" ", segment))
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
    """Yield the id and the text of each message. The second message with the id 123 gets the id 123.2."""
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
    for source in (news, europarl, ted, podcasts, messages):
        reader, start = SentenceReader(), time.time()
        with atomic_file(out / f"{source.__name__}.txt") as file:
            for line in source(corpus, reader):
                file.write(line + "\n")
                if source in (news, europarl, ted) and not line.startswith(DOCUMENT):
                    vocabulary.update(words_of(line))
        listed = ", ".join(f"{count} {what}" for what, count in sorted(reader.counts.items()))
        print(f"{source.__name__}: {listed} ({time.time() - start:.0f} s)")
    with atomic_file(out / "words.txt") as file:
        file.writelines(f"{word} {count}\n" for word, count in sorted(vocabulary.items()) if word)


if __name__ == "__main__":
    run_script(main, __doc__)
