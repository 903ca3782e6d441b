#!/usr/bin/env python3
"""usage: local/mixture.py SENTENCES-DIR MESSAGES OUT-DIR NEWS SYNTHETIC

The sets of experiments 1 and 2 as texts, one a line:

    train_mixture, dev_mixture        sentences of news, NEWS of them (0: all), and SYNTHETIC texts of informal.py, made
                                      of sentences of ted and europarl (0: as many as make 18.9 % of all texts
                                      questions, the paper's share). Half of these are questions, made of questions
                                      first, then of statements. One document in DEV is dev.
    train_in_domain, dev_in_domain    the same, and messages that are 0.3 % of it
    test_messages                     the messages whose ids are in conf/sms_test_ids, half of all; those of the sets
                                      above are of the other half

No text is there twice, nor one that is a message. Texts are in an order that means nothing.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from informal import Informal
from texts import CONF, chance, is_question, key, read_documents

from punc.base.errors import InputError
from punc.base.files import atomic_file, decode_line, open_input, read_lines

QUESTIONS = 0.189  # of the mixture (paper, section 3.1.1)
IN_DOMAIN = 0.003  # messages beside it (section 3.3.2)
DEV = 25  # one document in so many
FROM_STATEMENT = 2  # one statement in so many is to be a question


def read_messages(path: Path) -> dict[str, str]:
    """The texts of the messages by their ids, as messages.py writes them."""
    with open_input(path) as file:
        lines = [decode_line(line, path, number).split("\t") for number, line in enumerate(file, 1)]
    return dict(lines)


def halves(messages: dict[str, str]) -> tuple[list[str], list[str]]:
    """The test messages in the corpus' order, and the others in an order that means nothing."""
    ids = [name for _, name in read_lines(CONF / "sms_test_ids")]
    for number, name in enumerate(ids, 1):
        if name not in messages:
            raise InputError(f"message {name} is not there", "get the corpus that README.md names, with all messages",
                             CONF / "sms_test_ids", number)
    others = messages.keys() - set(ids)
    return [messages[name] for name in ids], in_any_order(map(messages.__getitem__, others))


def in_any_order(texts) -> list[str]:
    return sorted(texts, key=lambda text: (chance("order", text), text))


def held_out(document: str) -> bool:
    return chance("dev", document) * DEV < 1


def news(path: Path, seen: set[bytes]) -> Iterator[tuple[bool, str]]:
    """The sentences of news, each once, and whether they are dev."""
    for document, texts in read_documents(path):
        for text in texts:
            if text and (digest := key(text)) not in seen:
                seen.add(digest)
                yield held_out(document), text


def synthetic(paths: list[Path], seen: set[bytes]) -> Iterator[tuple[bool, bool, str]]:
    """Informal texts, each once: whether they are dev, whether they are made of a question, the text."""
    informal = Informal()
    for path in paths:
        for document, texts in read_documents(path):
            for text in filter(None, texts):
                real = is_question(text)
                made = informal.make(text, real or chance("role", text) * FROM_STATEMENT < 1)
                if made and (digest := key(made)) not in seen:
                    seen.add(digest)
                    yield held_out(document), real, made


def some(items: list, number: int) -> list:
    """So many of some texts, those whose turn is first; they end a tuple or are the item."""
    return sorted(items, key=lambda item: (chance("some", item[-1]), item[-1]))[:number]


def choose(sentences: Path, number_news: int, number: int, seen: set[bytes]) -> list[tuple[bool, str]]:
    """The mixture: whether a text is dev, and the text."""
    found = list(news(sentences / "news.txt", seen))
    chosen = some(found, number_news) if number_news else found
    questions = sum(is_question(text) for _, text in chosen)
    if not number:
        number = round((QUESTIONS * len(chosen) - questions) / (0.5 - QUESTIONS))
    made = list(synthetic([sentences / "ted.txt", sentences / "europarl.txt"], seen))
    real = [item for item in made if item[1]]
    others = [item for item in made if not item[1] and is_question(item[2])]
    asked = some(real, number // 2)
    asked += some(others, number // 2 - len(asked))
    stated = some([item for item in made if not is_question(item[2])], number - number // 2)
    print(f"mixture: {len(chosen)} of {len(found)} news sentences; of {number} synthetic texts {len(asked)} questions, "
          f"{sum(item[1] for item in asked)} of them made of questions, and {len(stated)} statements")
    return chosen + [(dev, text) for dev, _, text in asked + stated]


def write(path: Path, texts: list[str]) -> None:
    with atomic_file(path) as file:
        file.writelines(text + "\n" for text in texts)


def main(sentences: Path, messages: Path, out: Path, number_news: int, number_synthetic: int) -> None:
    test, others = halves(read_messages(messages))
    seen = set(map(key, test + others))
    chosen = choose(sentences, number_news, number_synthetic, seen)
    write(out / "test_messages.txt", test)
    for name, dev in (("train", False), ("dev", True)):
        texts = [text for held, text in chosen if held == dev]
        share = round(len(texts) * IN_DOMAIN)
        added, others = others[:share], others[share:]
        write(out / f"{name}_mixture.txt", in_any_order(texts))
        write(out / f"{name}_in_domain.txt", in_any_order(texts + added))


if __name__ == "__main__":
    if len(sys.argv) != 6 or not all(number.isdecimal() for number in sys.argv[4:]):
        sys.exit(__doc__)
    try:
        main(*map(Path, sys.argv[1:4]), *map(int, sys.argv[4:]))
    except InputError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
