#!/usr/bin/env python3
"""Word vectors of the words of data directories, by word2vec, in its text format.

Skip-gram with negative sampling (Mikolov et al. 2013), by gensim, the extra `vectors` of setup.py. The words are read
as the models read them, stream by stream, without sentence ends. One thread learns: with the same words and options
the file is the same, byte for byte.
"""

import sys
from collections.abc import Iterator, Sequence

from punc.datadir import DataDir
from punc.errors import InputError
from punc.files import atomic_file
from punc.options import OptionParser

RUN = 1000  # words that gensim gets at once; it would cut more than 10,000 off


class Texts:
    """The words of data directories in runs, as often as they are asked for; at most `most` words, 0 for all."""

    def __init__(self, sets: Sequence[DataDir], most: int = 0):
        self.sets, self.most = sets, most

    def __iter__(self) -> Iterator[list[str]]:
        left = self.most or float("inf")
        for data in self.sets:
            for _, utterances in data.streams():
                words = [word for utterance in utterances for word in utterance.words]
                for begin in range(0, min(len(words), left), RUN):
                    yield words[begin:begin + min(RUN, left - begin)]
                left -= min(len(words), left)


def train(sets: Sequence[DataDir], out: str, *, dimensions: int = 50, window: int = 5, negative: int = 5,
          min_count: int = 5, epochs: int = 5, words: int = 0, seed: int = 1) -> None:
    """Learn vectors and write them, the most frequent word first.

    dimensions  numbers of a vector
    window      words on either side that a word predicts
    negative    words drawn for each that was there
    min_count   occurrences of a word that gets a vector
    epochs      times that the words are read
    words       only so many words from the beginning of the first directory on; 0: all
    seed        of all random numbers

    Raises InputError where gensim is missing, and where no word occurs often enough.
    """
    try:
        from gensim.models import Word2Vec
    except ImportError:
        raise InputError("gensim is not installed",
                         "pip install -c constraints.txt -e '.[vectors]' in the repository") from None
    texts = Texts(sets, words)
    model = Word2Vec(vector_size=dimensions, window=window, negative=negative, min_count=min_count, epochs=epochs,
                     seed=seed, sg=1, workers=1)
    model.build_vocab(texts)
    if not len(model.wv):
        raise InputError(f"no word occurs {min_count} times", "give more text, or lower --min-count", sets[0].path)
    model.train(texts, total_examples=model.corpus_count, epochs=epochs)
    with atomic_file(out) as file:
        file.write(f"{len(model.wv)} {dimensions}\n")
        for word in model.wv.index_to_key:
            file.write(f"{word} {' '.join(f'{value:.6g}' for value in model.wv[word].tolist())}\n")
    print(f"{out}: vectors of {len(model.wv)} words, of {model.corpus_total_words} in the text", file=sys.stderr)


def main(arguments: Sequence[str]) -> None:
    parser = OptionParser("python local/train_vectors.py [options] DATA-DIR [DATA-DIR …] OUT", __doc__.split("\n\n")[1],
                          "python local/train_vectors.py --words 2000000 data/train2012 data/vectors_2M.txt")
    parser.add_signature(train)
    parser.add_argument("data", metavar="DATA-DIR", nargs="+", help="data directories with the text")
    parser.add_argument("out", metavar="OUT", help="file to write")
    args = vars(parser.parse(arguments))
    train([DataDir(path) for path in args["data"]], args["out"],
          **{name: args[name] for name in train.__kwdefaults__})


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InputError as error:
        sys.exit(f"{sys.argv[0]}: {error}")
