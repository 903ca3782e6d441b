#!/usr/bin/env python3
"""usage: local/sentences.py LABELS-FILE DATA-DIR OUT-DIR

The data directory with each sentence as a stream of its own: text whose sentence boundaries are given. A sentence ends
where a mark is that ends one, and with its stream.
"""

import sys
from collections.abc import Iterator

from punc.base.errors import InputError
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


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    try:
        write_data_dir(sys.argv[3], sentences(DataDir(sys.argv[2]), LabelSet.read(sys.argv[1])))
    except InputError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
