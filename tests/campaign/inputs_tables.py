"""Kinds of inputs: small files that people and other programs write, such as label sets, conf files and word lists."""

import random
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np
from inputs_models import write_arpa
from kind import LABELS, NAMES, Kind, words

from punc.base.options import OptionParser
from punc.bin.prepare import options as prepare_options
from punc.data.labels import LabelSet
from punc.decoding.options import parse_scale
from punc.models.ngram.backoff import read_arpa
from punc.models.word_crf.features import read_clusters
from punc.results.collect import collect_scores, paired_tests, read_cost
from punc.results.page_data import read_page_data, read_published
from punc.scoring.counts import Counts, write_counts
from punc.text.casing import read_casing
from punc.text.prose import Clitics, TextReader, written
from punc.tokens.word_vectors import read_word_vectors
from punc.training.options import TrainingOptions

METRICS = "metric\tvalue\tlow\thigh\nCOMMA.F1\t50.0000\t40.0000\t60.0000\noverall.F1\t70.1000\t60.0000\tnan\n"
LOG = ("epoch 1: loss 0.5, 1,234 words/s, 10.5 s\nepoch 2: loss 0.4, 1,300 words/s, 10.1 s\n"
       "dev loss 0.4, dev F1 50.1, 3.5 s\n")
TESTS = "this\tother\tset\tmetric\tdifference\tlow\thigh\tp\na\tb\ttest\tF1\t1\t0\t2\t0.5\n"
RESULTS = "system\tset\tmetric\tvalue\tlow\thigh\nT-LSTM\ttest\toverall.F1\t70.1000\t60.0000\t80.0000\n"
WRITTEN = {
    "labels.txt": LABELS + "CAP_COMMA W, , ;\n",
    "conf": "--config=base.conf\n# a comment\n--lowercase=true\n--utt-words=20\n--document-prefix=#doc # the rest\n",
    "clitics": "n't\n's\nl'\ncannot can not\n",
    "casing": "Nato NATO\nUs US\niphone iPhone\n",
    "clusters": "0\tthe\t12\n10\tof\t3\n110\tnaïve\t1\n",
    "published.tsv": "system\tset\tmetric\tvalue\tsource\nT-LSTM\ttest\toverall.F1\t70.1\tTilk 2015\n",
    "scale": "O=0.5,COMMA=1.25\n",
}


def kinds() -> Iterator[Kind]:
    for name in WRITTEN:
        yield Kind(name, partial(make, name), READERS[name], (name,))
    yield Kind("word vectors", make_vectors, read_vectors, ("vectors",))
    yield Kind("arpa", make_arpa, read_arpa_file, ("arpa",))
    yield Kind("scores", make_scores, read_scores, tuple(
        f"exp/a/{name}" for name in ("decode_test/score/metrics.tsv", "decode_test/score/counts.tsv", "log/train.log",
                                     "decode_test/score/labels.txt", "decode_test/score/signature")))
    yield Kind("results", make_results, read_results,
               tuple(f"exp/{name}" for name in ("RESULTS.tsv", "results/signatures.tsv", "results/tests.tsv",
                                                "results/costs.tsv", "results/command.txt")))


def make(name: str, folder: Path, rng: random.Random) -> None:
    (folder / name).write_text(WRITTEN[name], encoding="utf-8")
    if name == "conf":
        (folder / "base.conf").write_text("--utt-words=30\n")


def read_labels(folder: Path, rng: random.Random) -> None:
    labels = LabelSet.read(folder / "labels.txt")
    labels.write(folder / "again")
    if LabelSet.read(folder / "again") != labels:
        raise AssertionError("not the label set that was written")
    text = "One, two. (three)? four - five"
    parts = [TextReader(labels).token(token) for token in text.split()]
    list(written([part.words for part in parts if part.words], [part.labels for part in parts if part.words], labels))
    parse_scale(f"{labels.names[0]}=0.5", labels)


def read_conf(folder: Path, rng: random.Random) -> None:
    parser().read_config(folder / "conf")


@cache
def parser() -> OptionParser:
    both = prepare_options()
    both.add_signature(TrainingOptions)
    return both


def read_clitics(folder: Path, rng: random.Random) -> None:
    clitics, reader = Clitics(folder / "clitics"), None
    reader = TextReader(LabelSet.read(labels_of(folder)), clitics=clitics)
    for token in ("don't", "l'eau", "cannot", "n't", "İ's", "(it's)"):
        clitics.split(token)
        reader.token(token)


def labels_of(folder: Path) -> Path:
    path = folder.parent / "labels.txt"
    path.write_text(LABELS)
    return path


def nothing(_: object) -> None:
    """Discard the result of a reader, because its file has no words to count."""


READERS = {
    "labels.txt": read_labels, "conf": read_conf, "clitics": read_clitics,
    "casing": lambda folder, rng: nothing(read_casing(folder / "casing")),
    "clusters": lambda folder, rng: nothing(read_clusters(folder / "clusters")),
    "published.tsv": lambda folder, rng: nothing(read_published(folder / "published.tsv")),
    "scale": lambda folder, rng: nothing(parse_scale((folder / "scale").read_text("utf-8", "replace"),
                                                     LabelSet.read(labels_of(folder)))),
}


def make_vectors(folder: Path, rng: random.Random) -> None:
    lines = [" ".join([text, *(f"{rng.gauss(0, 1):.3f}" for _ in range(4))]) + "\n"
             for text in dict.fromkeys(words(rng, 9))]
    (folder / "vectors").write_text(rng.choice(("", f"{len(lines)} 4\n")) + "".join(lines), encoding="utf-8")


def read_vectors(folder: Path, rng: random.Random) -> None:
    table = read_word_vectors(folder / "vectors", ["<unk>", "</s>", "a", "the", "é", "it's", "qzabcq"], 4)
    if table.shape != (7, 4) or not np.isfinite(table).all():
        raise AssertionError("not a vector for each word")


TOKENS = ["<UNK>", "</s>", "a", "the", *("qz" + letter * 3 + "q" for letter in "abcdefgh"),
          *(f"<{name}>" for name in NAMES), "<s>"]


def make_arpa(folder: Path, rng: random.Random) -> None:
    write_arpa(folder / "arpa", TOKENS)


def read_arpa_file(folder: Path, rng: random.Random) -> None:
    model = read_arpa(folder / "arpa", TOKENS, 3)
    contexts = model.contexts(np.array([[-1, 3], [4, 5]]))
    model.log_probs(contexts, np.array([2, 6]))
    model.check()


def make_scores(folder: Path, rng: random.Random) -> None:
    labels = LabelSet.read(labels_of(folder))
    counts = Counts([f"u{i}" for i in range(4)], np.ones((4, len(labels), len(labels)), np.int64))
    for system in "ab":
        score = folder / "exp" / system / "decode_test/score"
        score.mkdir(parents=True)
        (score / "metrics.tsv").write_text(METRICS)
        (score / "signature").write_text("labels:O+COMMA|words:same\n")
        labels.write(score / "labels.txt")
        write_counts(score / "counts.tsv", counts, labels)
        (folder / "exp" / system / "log").mkdir()
        (folder / "exp" / system / "log/train.log").write_text(LOG)


def read_scores(folder: Path, rng: random.Random) -> None:
    with np.errstate(all="ignore"):
        scores = collect_scores(folder / "exp")
        if not rng.randrange(8):
            paired_tests(scores, [("a", "b")])
        for system in ("a", "b"):
            read_cost(folder / "exp" / system)


def make_results(folder: Path, rng: random.Random) -> None:
    results = folder / "exp/results"
    results.mkdir(parents=True)
    (folder / "exp/RESULTS.tsv").write_text(RESULTS)
    (results / "signatures.tsv").write_text("system\tset\tsignature\nT-LSTM\ttest\tlabels:O+COMMA\n")
    (results / "tests.tsv").write_text(TESTS)
    (results / "costs.tsv").write_text("system\tepochs\tseconds\ttokens_per_second\nT-LSTM\t2.0\t10.5\t100.0\n")
    (results / "command.txt").write_text("run.sh --nj 2\n")


def read_results(folder: Path, rng: random.Random) -> None:
    data = read_page_data(folder / "exp")
    data.sets, data.systems, data.empty_labels()
