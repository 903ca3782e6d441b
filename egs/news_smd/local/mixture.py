#!/usr/bin/env python3
"""usage: local/mixture.py SENTENCES-DIR MESSAGES OUT-DIR NEWS SYNTHETIC CONVERSATION

Writes the sets of experiments 1 and 2, one text per line; train and dev are in random order:

    train_mixture, dev_mixture        three kinds of texts, described below; one in DEV documents is used for dev
    train_in_domain, dev_in_domain    the same texts, and 3 messages for every 1,000 texts, or fewer if messages run out
    test_messages                     half of the texts in MESSAGES: those with ids in conf/sms_test_ids. The messages
                                      of train_in_domain and dev_in_domain are from the other half
    europarl                          sentences of three in four europarl documents, for a language model. Informal
                                      texts are made only from the other europarl documents

The mixture has

- NEWS sentences of news; if NEWS is 0, all sentences.
- SYNTHETIC informal texts, which informal.py makes from ted and europarl. Half of the texts are questions, or fewer if
  too few can be made. Questions are made from real questions and, if these are too few, also from statements. If
  SYNTHETIC is 0, the number of informal texts is calculated so that, if half of them are questions, 18.9 % of the news
  sentences and informal texts are questions, as in the paper.
- CONVERSATION sentences of podcasts, of which 18.9 % are questions. If CONVERSATION is 0, as many sentences are used
  as are available with this percentage of questions.

No text of the mixture occurs twice, and no text is the same as a message.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from informal import Informal
from texts import CONF, chance, is_question, key, read_documents

from punc.base.errors import InputError
from punc.base.files import atomic_file, decode_line, open_input, read_lines
from punc.bin.script import run_script

QUESTIONS = 0.189  # fraction of questions in the mixture (paper, section 3.1.1)
IN_DOMAIN = 0.003  # maximum ratio of messages to other texts in a set (paper, section 3.3.2)
DEV = 25  # dev gets one document in this many
FOR_TEXTS = 4  # one in this many europarl documents is made informal; the others are for the language model
FROM_STATEMENT = 2  # one in this many statements becomes a question


def read_kept_messages(path: Path) -> dict[str, str]:
    """Read the output of messages.py. Return a dictionary from the ids of the messages to their texts."""
    with open_input(path) as file:
        lines = [decode_line(line, path, number).split("\t") for number, line in enumerate(file, 1)]
    return dict(lines)


def halves(messages: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the test messages in the order of conf/sms_test_ids, and the other messages in random order. Raises
    InputError if a test message is missing."""
    ids = [name for _, name in read_lines(CONF / "sms_test_ids")]
    for number, name in enumerate(ids, 1):
        if name not in messages:
            raise InputError(f"message {name} is missing", "get the corpus that README.md names, with all messages",
                             CONF / "sms_test_ids", number)
    others = messages.keys() - set(ids)
    return [messages[name] for name in ids], shuffled(map(messages.__getitem__, others))


def shuffled(texts: Iterable[str]) -> list[str]:
    """Return texts in a pseudo-random order that depends only on the texts."""
    return sorted(texts, key=lambda text: (chance("order", text), text))


def held_out(document: str) -> bool:
    """Return whether a document belongs to dev."""
    return chance("dev", document) * DEV < 1


def news(path: Path, seen: set[bytes]) -> Iterator[tuple[bool, str]]:
    """Yield, for each sentence of a file that is not in `seen`, whether it belongs to dev, and the sentence. Add the
    sentence to `seen`."""
    for document, texts in read_documents(path):
        for text in texts:
            if text and (digest := key(text)) not in seen:
                seen.add(digest)
                yield held_out(document), text


def synthetic(paths: list[Path], seen: set[bytes]) -> Iterator[tuple[bool, bool, str]]:
    """Yield, for each informal text that is not in `seen`, whether it belongs to dev, whether it was made from a
    question, and the text. Add the text to `seen`."""
    informal = Informal()
    for path in paths:
        for document, texts in read_documents(path):
            for text in filter(None, () if is_other(path, document) else texts):
                real = is_question(text)
                made = informal.make(text, real or chance("role", text) * FROM_STATEMENT < 1)
                if made and (digest := key(made)) not in seen:
                    seen.add(digest)
                    yield held_out(document), real, made


def is_other(path: Path, document: str) -> bool:
    """Return whether a document is used only for the language model."""
    return path.stem == "europarl" and chance("for texts", document) * FOR_TEXTS >= 1


def other(path: Path, seen: set[bytes]) -> Iterator[str]:
    """Yield the sentences of the documents for the language model. Sentences in `seen` are left out."""
    for document, texts in read_documents(path):
        if is_other(path, document):
            yield from (text for text in texts if text and key(text) not in seen)


def conversation(path: Path, number: int, seen: set[bytes]) -> list[tuple[bool, str]]:
    """Choose at most `number` sentences of podcasts (0: as many as possible), of which the fraction QUESTIONS are
    questions. Return for each of them whether it is in dev, and the sentence."""
    found = list(news(path, seen))
    questions = [item for item in found if is_question(item[1])]
    statements = [item for item in found if not is_question(item[1])]
    size = min(len(questions) / QUESTIONS, len(statements) / (1 - QUESTIONS), number or len(found))
    asked, stated = round(QUESTIONS * size), round((1 - QUESTIONS) * size)
    print(f"mixture: {asked} of {len(questions)} questions and {stated} of {len(statements)} statements of podcasts")
    return choose(questions, asked) + choose(statements, stated)


def choose(items: list, number: int) -> list:
    """Choose at most `number` items: texts, or tuples that end in a text. The choice depends only on the texts."""
    return sorted(items, key=lambda item: (chance("some", item[-1]), item[-1]))[:number]


def mixture(sentences: Path, number_news: int, number: int, seen: set[bytes]) -> list[tuple[bool, str]]:
    """Return for each news sentence and informal text of the mixture whether it is in dev, and the text."""
    found = list(news(sentences / "news.txt", seen))
    chosen = choose(found, number_news) if number_news else found
    questions = sum(is_question(text) for _, text in chosen)
    if not number:
        number = round((QUESTIONS * len(chosen) - questions) / (0.5 - QUESTIONS))
    made = list(synthetic([sentences / "ted.txt", sentences / "europarl.txt"], seen))
    real = [item for item in made if item[1]]
    others = [item for item in made if not item[1] and is_question(item[2])]
    asked = choose(real, number // 2)
    asked += choose(others, number // 2 - len(asked))
    stated = choose([item for item in made if not is_question(item[2])], number - number // 2)
    print(f"mixture: {len(chosen)} of {len(found)} news sentences; of {number} synthetic texts {len(asked)} questions, "
          f"{sum(item[1] for item in asked)} of them made of questions, and {len(stated)} statements")
    return chosen + [(dev, text) for dev, _, text in asked + stated]


def write(path: Path, texts: Iterable[str]) -> None:
    with atomic_file(path) as file:
        file.writelines(text + "\n" for text in texts)


def main(sentences: Path, messages: Path, out: Path, number_news: int, number_synthetic: int,
         number_conversation: int) -> None:
    test, others = halves(read_kept_messages(messages))
    seen = set(map(key, test + others))
    chosen = mixture(sentences, number_news, number_synthetic, seen)
    chosen += conversation(sentences / "podcasts.txt", number_conversation, seen)
    write(out / "europarl.txt", other(sentences / "europarl.txt", seen))
    to_dev = len(others) // DEV
    write(out / "test_messages.txt", test)
    for name, dev in (("train", False), ("dev", True)):
        texts = [text for held, text in chosen if held == dev]
        share = min(round(len(texts) * IN_DOMAIN), len(others) - to_dev * (not dev))
        added, others = others[:share], others[share:]
        write(out / f"{name}_mixture.txt", shuffled(texts))
        write(out / f"{name}_in_domain.txt", shuffled(texts + added))


if __name__ == "__main__":
    run_script(main, __doc__)
