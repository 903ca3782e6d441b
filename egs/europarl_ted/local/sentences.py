#!/usr/bin/env python3
"""usage: local/sentences.py LABELS-FILE DATA-DIR OUT-DIR

Copies DATA-DIR to OUT-DIR and makes each sentence a separate stream, for models that are given the sentence boundaries.
A sentence ends at a mark that ends sentences, or at the end of a stream of DATA-DIR.
"""

from collections.abc import Iterator
from pathlib import Path

from punc.bin.script import run_script
from punc.data.datadir import DataDir, Utterance, write_data_dir
from punc.data.labels import LabelSet


def sentences(data: DataDir, labels: LabelSet) -> Iterator[Utterance]:
    ends = labels.sentence_ends
    number = 0
    for _, utterances in data.streams():
        words, names = [], []
        for utterance in utterances:
            for word, name in zip(utterance.words, utterance.labels):
                words.append(word)
                names.append(name)
                if name in ends:
                    number += 1
                    yield Utterance(f"{number:08}", f"{number:08}", words, names)
                    words, names = [], []
        if words:
            number += 1
            yield Utterance(f"{number:08}", f"{number:08}", words, names)


def main(labels: Path, data: Path, out: Path) -> None:
    write_data_dir(out, sentences(DataDir(data), LabelSet.read(labels)))


if __name__ == "__main__":
    run_script(main, __doc__)
