#!/usr/bin/env python3
"""usage: local/matched.py SENTENCES-DIR OUT-DIR TRAIN HELD-OUT

Writes the sets of experiments 3 and 4, one text per line, made from sentences of messages, ted, europarl and podcasts.
Train, dev and test have different documents, and a sentence that occurs several times is used only once.

    {train,dev,test}_matched  single sentences: TRAIN of them in train, HELD-OUT in each of dev and test; fewer if there
                              are not enough questions. Half of the sentences from each source are questions.
    {train,dev,test}_multi    texts of 2 to 4 sentences and at most MAX_TEXT characters. About half of the sentences are
                              questions. Of the questions, 36 or 37 % are in related texts, whose sentences follow one
                              another in a document. The other questions are joined at random with one another and with
                              statements from any document. There are at most TRAIN texts in train, and at most HELD-OUT
                              in each of dev and test.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from mixture import choose, shuffled, write
from texts import chance, is_question, key, read_documents

from punc.bin.script import run_script

SOURCES = ("messages", "ted", "europarl", "podcasts")
SETS = ("test", "dev", "train")  # a sentence that occurs in several sets is used only in the one that comes first here
PARTS = 10  # dev and test each get one document in this many
MAX_TEXT = 150  # maximum number of characters in a text, as in section 4 of the paper
SENTENCES = (2, 3, 4)  # possible numbers of sentences in a text


def set_of(document: str) -> str:
    part = int(chance("set", document) * PARTS)
    return SETS[part] if part < 2 else "train"


def documents(sentences: Path, source: str, name: str, seen: set[bytes]) -> Iterator[list[str]]:
    """Yield the sentences of each document of `source` that is in the set `name`. An empty string stands for a gap or a
    repeated sentence."""
    for document, texts in read_documents(sentences / f"{source}.txt"):
        if set_of(f"{source} {document}") == name:
            yield [text if text and new(text, seen) else "" for text in texts]


def new(text: str, seen: set[bytes]) -> bool:
    """Return whether the key of a text is not in `seen`. Add the key to `seen`."""
    before = len(seen)
    seen.add(key(text))
    return len(seen) > before


def balanced(sources: list[list[list[str]]], number: int) -> list[str]:
    """Return at most `number` single sentences, with as many statements as questions from each source."""
    pools = [[text for document in documents for text in document if text] for documents in sources]
    questions = choose([(i, text) for i, pool in enumerate(pools) for text in pool if is_question(text)], number // 2)
    chosen = [text for _, text in questions]
    for i, count in Counter(i for i, _ in questions).items():
        chosen += choose([text for text in pools[i] if not is_question(text)], count)
    return shuffled(chosen)


def fits(sentences: Iterable[str]) -> bool:
    """Return whether a text of these sentences has at most MAX_TEXT characters."""
    return len(" ".join(sentences)) <= MAX_TEXT


def related(document: list[str], used: set[str]) -> Iterator[list[str]]:
    """Yield runs of neighbouring sentences around questions of a document, and add these sentences to `used`. A random
    half of the questions is tried, but no run is possible around some of them."""
    free = [bool(text) for text in document]
    for i, text in enumerate(document):
        if not free[i] or not is_question(text) or chance("related", text) < 0.5:
            continue
        begin, end, size = i, i + 1, SENTENCES[int(chance("size", text) * len(SENTENCES))]
        before = chance("before", text) < 0.5
        while end - begin < size:
            if before and begin and free[begin - 1] and fits(document[begin - 1:end]):
                begin -= 1
            elif end < len(document) and free[end] and fits(document[begin:end + 1]):
                end += 1
            else:
                break
            before = False
        if end - begin >= min(SENTENCES):
            free[begin:end] = [False] * (end - begin)
            used.update(document[begin:end])
            yield document[begin:end]


def unrelated(sentences: list[str]) -> Iterator[list[str]]:
    """Join neighbouring items of `sentences` into texts. A sentence that does not fit begins the next text. Texts with
    only one sentence are left out."""
    text: list[str] = []
    for sentence in sentences:
        size = SENTENCES[int(chance("size", text[0]) * len(SENTENCES))] if text else 1
        if text and (len(text) == size or not fits([*text, sentence])):
            if len(text) >= min(SENTENCES):
                yield text
            text = []
        text.append(sentence)
    if len(text) >= min(SENTENCES):
        yield text


def combined(sources: list[list[list[str]]]) -> list[list[str]]:
    """Return texts of several sentences; about half of all sentences are questions."""
    used: set[str] = set()
    texts = [run for documents in sources for document in documents for run in related(document, used)]
    stated = sum(not is_question(text) for text in used)
    pool = [text for documents in sources for document in documents for text in document
            if text and text not in used and len(text) < MAX_TEXT]
    questions = [text for text in pool if is_question(text)]
    missing = len(questions) + len(used) - 2 * stated
    statements = choose([text for text in pool if not is_question(text)], max(missing, 0))
    return texts + list(unrelated(shuffled(questions + statements)))


def main(sentences: Path, out: Path, train: int, held_out: int) -> None:
    seen: set[bytes] = set()
    for name in SETS:
        number = train if name == "train" else held_out
        sources = [list(documents(sentences, source, name, seen)) for source in SOURCES]
        write(out / f"{name}_matched.txt", balanced(sources, number))
        texts = combined(sources)
        print(f"{name}_multi: {len(texts)} texts of {sum(map(len, texts)) / len(texts):.2f} sentences")
        chosen = choose([(" ".join(text),) for text in texts], number)
        write(out / f"{name}_multi.txt", shuffled(text for text, in chosen))


if __name__ == "__main__":
    run_script(main, __doc__)
