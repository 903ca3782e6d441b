#!/usr/bin/env python3
"""Trains word vectors on the words of data directories and writes them in word2vec's text format.

Uses gensim's skip-gram with negative sampling (Mikolov et al. 2013); gensim is in the extra `vectors`. Words are read
as models read them, stream by stream, without sentence ends. With --labels, marks between words are learned like words,
because published vectors were trained on texts with marks. The vectors of marks are not written. Training uses one
thread, so the same words and options give the same file, byte for byte.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import atomic_file
from punc.base.options import OptionParser
from punc.bin.script import run_script
from punc.data.datadir import DataDir
from punc.data.labels import LabelSet

LINE = 1000  # tokens in a line for gensim, which ignores a line's tokens after the first 10,000


def tokens(sets: Sequence[DataDir], marks: Sequence[str], words: int = 0) -> Iterator[list[str]]:
    """Yield each stream's words, each followed by its label if that is in `marks`. `words`: maximum number of words in
    all streams; 0: all."""
    marks, left = frozenset(marks), words or sys.maxsize
    for data in sets:
        for _, utterances in data.streams():
            pairs = ((word, label) for utterance in utterances
                     for word, label in zip(utterance.words, utterance.labels or utterance.words))
            stream = []
            for word, label in islice(pairs, left):
                stream.append(word)
                left -= 1
                if label in marks:
                    stream.append(label)
            yield stream


def train(sets: Sequence[DataDir], out: str, *, labels: str = "", dimensions: int = 50, window: int = 5,
          negative: int = 5, min_count: int = 5, epochs: int = 5, words: int = 0, seed: int = 1) -> None:
    """Train vectors and write them, the most frequent word first.

    labels      label set whose marks are learned too; empty: words only
    dimensions  size of a vector
    window      words on either side that a word predicts
    negative    negative samples for each word
    min_count   occurrences that a word needs to get a vector
    epochs      passes over the words
    words       number of words to read, starting in the first directory; 0: all
    seed        seed of all random numbers

    Raises InputError if gensim is missing or no word occurs often enough.
    """
    try:
        from gensim.models import Word2Vec
    except ImportError:
        raise InputError("gensim is not installed",
                         "pip install -c constraints.txt -e '.[vectors]' in the repository") from None
    marks = LabelSet.read(labels).names[1:] if labels else ()
    model = Word2Vec(vector_size=dimensions, window=window, negative=negative, min_count=min_count, epochs=epochs,
                     seed=seed, sg=1, workers=1)
    with tempfile.TemporaryDirectory(dir=Path(out).parent) as directory:
        # gensim reads files of lines four times as fast as lists.
        text = Path(directory) / "text"
        with open(text, "w", encoding="utf-8") as file:
            for stream in tokens(sets, marks, words):
                for begin in range(0, len(stream), LINE):
                    file.write(" ".join(stream[begin:begin + LINE]) + "\n")
        model.build_vocab(corpus_file=str(text))
        known = [word for word in model.wv.index_to_key if word not in marks]
        if not known:
            raise InputError(f"no word occurs at least {min_count} times",
                             "give more text, or lower --min-count", sets[0].path)
        model.train(corpus_file=str(text), total_words=model.corpus_total_words, epochs=epochs)
    with atomic_file(out) as file:
        file.write(f"{len(known)} {dimensions}\n")
        for word in known:
            file.write(f"{word} {' '.join(f'{value:.6g}' for value in model.wv[word].tolist())}\n")
    print(f"{out}: vectors of {len(known)} words, trained on {model.corpus_total_words} words and marks",
          file=sys.stderr)


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser("train_vectors.py [options] DATA-DIR [DATA-DIR …] OUT", __doc__.split("\n\n")[1],
                          "train_vectors.py --words 2000000 data/train2012 data/vectors_2M.txt")
    parser.add_signature(train)
    parser.add_argument("data", metavar="DATA-DIR", nargs="+", help="data directories with the text")
    parser.add_argument("out", metavar="OUT", help="file to write")
    args = vars(parser.parse(arguments))
    train([DataDir(path) for path in args["data"]], args["out"],
          **{name: args[name] for name in train.__kwdefaults__})


if __name__ == "__main__":
    run_script(main, __doc__)
