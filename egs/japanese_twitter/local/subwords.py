#!/usr/bin/env python3
"""usage: local/subwords.py train DATA-DIR SUBWORDS SIZE [SEED]
       local/subwords.py tokenize SUBWORDS DATA-DIR OUT-DIR
       local/subwords.py detokenize DATA-DIR SUBWORD-DIR OUT-DIR

Makes subwords of one or more characters with a unigram model of `sentencepiece` (Kudo 2018, "Subword Regularization",
section 3.2). Subwords become the words of a data directory, so that all models and stores for words can use them.

    train        trains SUBWORDS, a model of at most SIZE subwords, on DATA-DIR, whose words are characters
    tokenize     writes DATA-DIR to OUT-DIR with subwords as words, without pauses. The slot of a subword is after its
                 last character. Marks inside a subword are lost; their number is printed
    detokenize   copies DATA-DIR, whose words are characters, to OUT-DIR with the labels of SUBWORD-DIR, which contains
                 the same texts in subwords. A mark is written only after the last character of a subword

Latin words, numbers, and characters of several code points are always separate subwords.
"""

import io
import random
import sys
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, islice
from pathlib import Path

import sentencepiece

from punc.base.errors import InputError
from punc.base.files import atomic_file, open_input
from punc.bin.script import run_script
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.text.characters import CLASSES, class_of

# Private-use characters. They stand for a Latin word, a number, and a character of several code points.
LATIN, NUMBER, CLUSTER = "\ue000\ue001\ue002"
STANDS_FOR = {CLASSES[0]: LATIN, CLASSES[1]: NUMBER}
MAX_TEXTS = 200_000  # a model is trained on at most this many texts
BATCH = 10_000  # number of utterances that are tokenized at once


def as_text(words: list[str]) -> str:
    """Return a text with exactly one character for each word."""
    return "".join([word if len(word) == 1 and not class_of(word) else STANDS_FOR.get(class_of(word), CLUSTER)
                    for word in words])


def train(data: DataDir, out: Path, size: int, seed: int) -> None:
    """Train a subword model on at most MAX_TEXTS texts, drawn at random. Raises InputError if `size` is too small."""
    kept, rng = [], random.Random(seed)
    for n, utterance in enumerate(data.utterances()):
        if n < MAX_TEXTS:
            kept.append(as_text(utterance.words))
        elif (index := rng.randrange(n + 1)) < MAX_TEXTS:  # reservoir sampling: each text has the same chance
            kept[index] = as_text(utterance.words)
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(kept), model_writer=model, model_type="unigram", vocab_size=size,
            hard_vocab_limit=False, normalization_rule_name="identity", add_dummy_prefix=False,
            remove_extra_whitespaces=False, user_defined_symbols=[LATIN, NUMBER, CLUSTER], character_coverage=0.9995,
            num_threads=1, minloglevel=2)
    except RuntimeError as error:
        raise InputError(f"cannot learn {size} subwords: {error}", "give a larger size, or more text",
                         data.path / "text") from None
    with atomic_file(out, "wb") as file:
        file.write(model.getvalue())


def read(path: Path) -> sentencepiece.SentencePieceProcessor:
    """Read a subword model. Raises InputError if the file is not a subword model."""
    with open_input(path) as file:
        try:
            return sentencepiece.SentencePieceProcessor(model_proto=file.read())
        except RuntimeError:
            raise InputError("not a subword model", "train it again: local/subwords.py train", path) from None


def tokenized(utterances: Iterator[Utterance],
              model: sentencepiece.SentencePieceProcessor) -> Iterator[tuple[Utterance, list[int]]]:
    """Yield each utterance, and for each of its subwords the number of words (characters) up to the subword's end.

    Raises InputError if the subwords do not add up to the words.
    """
    while batch := list(islice(utterances, BATCH)):
        found = model.encode([as_text(utterance.words) for utterance in batch], out_type=str, num_threads=1)
        for utterance, subwords in zip(batch, found):
            ends = list(accumulate(map(len, subwords)))
            if ends[-1:] != [len(utterance.words)]:
                raise InputError(f"the subwords of '{utterance.id}' do not add up to its words",
                                 "train the subwords again")
            yield utterance, ends


def tokenize(subwords: Path, data: DataDir, out: Path) -> None:
    """Write a data directory of subwords. Print how many marks were lost."""
    model, marks, lost = read(subwords), 0, 0

    def utterances() -> Iterator[Utterance]:
        nonlocal marks, lost
        for utterance, ends in tokenized(data.utterances(), model):
            starts = [0, *ends[:-1]]
            labels = None
            if utterance.labels is not None:
                labels = [utterance.labels[end - 1] for end in ends]
                before, after = (sum(label != "N" for label in some) for some in (utterance.labels, labels))
                marks, lost = marks + before, lost + before - after
            words = ["".join(utterance.words[a:b]) for a, b in zip(starts, ends)]
            yield utterance._replace(words=words, labels=labels, pauses=None)

    write_data_dir(out, utterances())
    print(f"{out}: {lost} of {marks} marks are inside a subword and lost")


def detokenize(data: DataDir, subwords: DataDir, out: Path) -> None:
    """Copy `data` to `out` with the labels of `subwords`. Raises InputError if `subwords` has no labels or contains
    different texts."""
    if not subwords.has_labels:
        raise InputError("no labels", "punctuate it first: punc punctuate", subwords.path / "punct")

    def utterances() -> Iterator[Utterance]:
        for one, other in zip(data.utterances(), chain(subwords.utterances(), [None])):
            if other is None or one.id != other.id or "".join(one.words) != "".join(other.words):
                raise InputError(f"'{one.id}' is not the same text in both", "give the directory that it was made from",
                                 subwords.path)
            ends = dict(zip(accumulate(map(len, other.words)), other.labels))
            yield one._replace(labels=[ends.get(end, "N") for end in accumulate(map(len, one.words))], pauses=None)

    write_data_dir(out, utterances())


def main(arguments: Sequence[str]) -> None:
    match arguments:
        case "train", data, out, size, *seed if len(seed) < 2 and all(n.isdecimal() for n in (size, *seed)):
            train(DataDir(data), Path(out), int(size), int(seed[0]) if seed else 1)
        case "tokenize", subwords, data, out:
            tokenize(Path(subwords), DataDir(data), Path(out))
        case "detokenize", data, subwords, out:
            detokenize(DataDir(data), DataDir(subwords), Path(out))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    run_script(main, __doc__)
