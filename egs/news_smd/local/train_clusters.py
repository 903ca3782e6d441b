#!/usr/bin/env python3
"""usage: local/train_clusters.py DATA-DIR OUT

Divides the words of a data directory into Brown clusters, and writes them in the format of Liang's wcluster:
BITS<TAB>WORD<TAB>COUNT. Words that occur fewer than MIN_COUNT times are left out; the others form CLUSTERS clusters.
Uses the library brown-clustering (the extra `clusters`). Equal input gives equal output.
"""

from collections import Counter
from pathlib import Path

from punc.base.errors import InputError
from punc.base.files import atomic_file
from punc.bin.script import run_script
from punc.data.datadir import DataDir

CLUSTERS = 200
MIN_COUNT = 10
# Added to the count of each possible word pair; small, because there are 50 times as many pairs as words of text.
ALPHA = 0.001


def main(data: Path, out: Path) -> None:
    try:
        from brown_clustering import BigramCorpus, BrownClustering
    except ImportError:
        raise InputError("brown-clustering is not installed", "pip install -c constraints.txt -e '.[clusters]' in the "
                         "repository, or give a file with --clusters") from None
    counts, texts = Counter(), []
    for utterance in DataDir(data).utterances():
        counts.update(utterance.words)
        texts.append(utterance.words)
    clustering = BrownClustering(BigramCorpus(texts, alpha=ALPHA, min_count=MIN_COUNT), CLUSTERS)
    clustering.train()
    codes = {word: code for word, code in clustering.codes().items() if word in counts}
    with atomic_file(out) as file:
        file.writelines(f"{code}\t{word}\t{counts[word]}\n" for word, code in sorted(codes.items()))


if __name__ == "__main__":
    run_script(main, __doc__)
