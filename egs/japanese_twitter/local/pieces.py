#!/usr/bin/env python3
"""usage: local/pieces.py train DATA-DIR PIECES SIZE [SEED]
       local/pieces.py join PIECES DATA-DIR OUT-DIR
       local/pieces.py part DATA-DIR PIECES-DIR OUT-DIR

Pieces of several characters as tokens, which are the words of a data directory of their own, so that every model and
store of words reads them: a unigram model of `sentencepiece` (Kudo 2018, "Subword Regularization", section 3.2).

    train   the file PIECES, a model of at most SIZE pieces, of a data directory whose words are characters
    join    the data directory DATA-DIR with pieces for words: the slot of a piece is after its last character. Marks
            inside a piece are lost, and counted
    part    the labels of PIECES-DIR, which has the same texts in pieces, for the characters of DATA-DIR: inside a
            piece there is no mark

Latin words and numbers, and characters that are written with several code points, are pieces of their own.
"""

import io
import random
import sys
from collections.abc import Iterator
from itertools import accumulate, chain, islice
from pathlib import Path

import sentencepiece

from punc.base.errors import InputError
from punc.base.files import atomic_file, open_input
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.text.characters import CLASSES, class_of

# Private characters in place of Latin words, of numbers, and of what has several code points.
LATIN, NUMBER, CLUSTER = "\ue000\ue001\ue002"
STANDS_FOR = {CLASSES[0]: LATIN, CLASSES[1]: NUMBER}
MOST = 1_000_000  # texts that a model is trained on
BATCH = 10_000  # utterances that are cut at once


def as_text(words: list[str]) -> str:
    """One character for each word."""
    return "".join([word if len(word) == 1 and not class_of(word) else STANDS_FOR.get(class_of(word), CLUSTER)
                    for word in words])


def train(data: DataDir, out: Path, size: int, seed: int) -> None:
    """Train the pieces of at most MOST texts, drawn at random. Raises InputError for a size that is too small."""
    kept, rng = [], random.Random(seed)
    for n, utterance in enumerate(data.utterances()):
        if n < MOST:
            kept.append(as_text(utterance.words))
        elif (place := rng.randrange(n + 1)) < MOST:  # every text has the same chance
            kept[place] = as_text(utterance.words)
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(kept), model_writer=model, model_type="unigram", vocab_size=size,
            hard_vocab_limit=False, normalization_rule_name="identity", add_dummy_prefix=False,
            remove_extra_whitespaces=False, user_defined_symbols=[LATIN, NUMBER, CLUSTER], character_coverage=0.9995,
            num_threads=1, minloglevel=2)
    except RuntimeError as error:
        raise InputError(f"no {size} pieces: {error}", "give more pieces, or more text", data.path / "text") from None
    with atomic_file(out, "wb") as file:
        file.write(model.getvalue())


def read(path: Path) -> sentencepiece.SentencePieceProcessor:
    """The pieces of a file. Raises InputError for one that has none."""
    with open_input(path) as file:
        try:
            return sentencepiece.SentencePieceProcessor(model_proto=file.read())
        except RuntimeError:
            raise InputError("not a file of pieces", "train them again: local/pieces.py train", path) from None


def cut(utterances: Iterator[Utterance], pieces: sentencepiece.SentencePieceProcessor) -> Iterator[tuple]:
    """Each utterance with where its pieces end, in words."""
    while batch := list(islice(utterances, BATCH)):
        found = pieces.encode([as_text(utterance.words) for utterance in batch], out_type=str, num_threads=1)
        for utterance, some in zip(batch, found):
            ends = list(accumulate(map(len, some)))
            if ends[-1:] != [len(utterance.words)]:
                raise InputError(f"the pieces of '{utterance.id}' are not its words", "train the pieces again")
            yield utterance, ends


def join(pieces: Path, data: DataDir, out: Path) -> None:
    """Write a data directory of pieces; says how many marks are lost."""
    model, marks, lost = read(pieces), 0, 0

    def joined() -> Iterator[Utterance]:
        nonlocal marks, lost
        for utterance, ends in cut(data.utterances(), model):
            starts = [0, *ends[:-1]]
            labels = None
            if utterance.labels is not None:
                labels = [utterance.labels[end - 1] for end in ends]
                before, after = (sum(label != "N" for label in some) for some in (utterance.labels, labels))
                marks, lost = marks + before, lost + before - after
            words = ["".join(utterance.words[a:b]) for a, b in zip(starts, ends)]
            yield utterance._replace(words=words, labels=labels, pauses=None)

    write_data_dir(out, joined())
    print(f"{out}: {lost} of {marks} marks are inside a piece, and lost")


def part(data: DataDir, pieces: DataDir, out: Path) -> None:
    """Write the data directory with the labels of its pieces. Raises InputError where the texts are not the same."""
    if not pieces.has_labels:
        raise InputError("no labels", "punctuate it first: punc punctuate", pieces.path / "punct")

    def parted() -> Iterator[Utterance]:
        for one, other in zip(data.utterances(), chain(pieces.utterances(), [None])):
            if other is None or one.id != other.id or "".join(one.words) != "".join(other.words):
                raise InputError(f"'{one.id}' is not the same text in both", "name the directory it was made of",
                                 pieces.path)
            ends = dict(zip(accumulate(map(len, other.words)), other.labels))
            yield one._replace(labels=[ends.get(end, "N") for end in accumulate(map(len, one.words))], pauses=None)

    write_data_dir(out, parted())


def main(arguments: list[str]) -> None:
    match arguments:
        case "train", data, out, size, *seed if len(seed) < 2 and all(n.isdecimal() for n in (size, *seed)):
            train(DataDir(data), Path(out), int(size), int(seed[0]) if seed else 1)
        case "join", pieces, data, out:
            join(Path(pieces), DataDir(data), Path(out))
        case "part", data, pieces, out:
            part(DataDir(data), DataDir(pieces), Path(out))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InputError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
