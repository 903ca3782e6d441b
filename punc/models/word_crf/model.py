"""Word CRF: a linear-chain CRF on features of the words around a slot (Gale & Parthasarathy 2017, section 2.2).

The baseline of that paper (after Ueffing et al. 2013): word shape, suffixes, word n-grams, Brown clusters, the
posteriors of a language model, and n-gram triggers. punc.models.word_crf.features says what each feature is, punc.models.word_crf.triggers how
triggers are chosen. The paper does not give windows, lengths and numbers; the defaults are ours. A language model's
own training text should not be the CRF's: its posteriors there would be too good to be true.

CRFsuite (Okazaki 2007; python-crfsuite, the extra `crf`) trains, by L-BFGS, with L1 by OWL-QN. What it learned is kept
as plain arrays: the features that have a weight, and the weights. Posteriors are the chain's marginals
(punc.models.word_crf.chain), so punctuating does without CRFsuite. Long streams are trained in pieces of `PIECE` slots, whose
features see past the cut, and decoded in pieces that overlap.

A model reads ids: a word outside of the vocabulary is `<unk>`, and has no shape and no suffix, neither in training
nor later. So make the store with all words (--min-count 1); rare words are left out here, by `min_count`.

    punc train --model word_crf --train-set train --dev-set dev data/store_all exp/CRF
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from punc.base.errors import InputError
from punc.models.base import NonGradientModel, submodel
from punc.models.word_crf import features
from punc.models.word_crf import triggers as triggering
from punc.models.word_crf.chain import log_marginals
from punc.models.word_crf.clusters import read_clusters
from punc.models.word_crf.features import Finder, Template, Text
from punc.tokens.store import Store, StoreSet

CHUNK = 1 << 15  # slots whose features are found at once
PIECE = 1024  # slots of a stream that are one chain in training
UNSEEN = -30.0  # score of a label that no slot of the training text had
LONGEST_TRIGGER = 3
SHOWN = 10  # iterations from one line of the log to the next


class Model(NonGradientModel):
    """A linear-chain CRF on words.

    window            words on each side of a slot whose n-grams are features
    ngram             words of the longest n-grams; 0: no n-grams
    shape             the shapes of the words before and after a slot are features
    suffixes          characters of the longest suffixes of these words; 0: none
    clusters          file of Brown clusters, BITS<TAB>WORD<TAB>COUNT; empty: none
    cluster_bits      bits of the clusters' prefixes, with commas between
    text_model        directory of an ngram model whose posteriors are features, of the same vocabulary; empty: none
    triggers          trigger n-grams of each mark; 0: none
    trigger_before    words up to a slot where triggers are looked for
    trigger_after     words behind a slot where triggers are looked for
    trigger_count     marks that a trigger goes with, at least
    min_count         occurrences in the training text of a feature, at least
    c1                factor of the weights' absolute values in the loss
    c2                factor of the weights' squares in the loss
    iterations        of training, at most
    """

    def __init__(self, vocab: int, labels: int, window: int = 3, ngram: int = 3, shape: bool = True, suffixes: int = 3,
                 clusters: str = "", cluster_bits: str = "4,6,10,20", text_model: str | dict[str, Any] = "",
                 triggers: int = 1000, trigger_before: int = 10, trigger_after: int = 2, trigger_count: int = 10,
                 min_count: int = 2, c1: float = 0.5, c2: float = 0.01, iterations: int = 100):
        super().__init__()
        for option, value, least in (("window", window, 1), ("ngram", ngram, 0), ("suffixes", suffixes, 0),
                                     ("triggers", triggers, 0), ("trigger-before", trigger_before, 1),
                                     ("trigger-after", trigger_after, 0), ("trigger-count", trigger_count, 1),
                                     ("min-count", min_count, 1), ("c1", c1, 0), ("c2", c2, 0),
                                     ("iterations", iterations, 1)):
            if not value >= least:  # NaN too
                raise InputError(f"--{option}={value}", f"it is at least {least}")
        if ngram > 2 * window or vocab ** max(ngram, LONGEST_TRIGGER if triggers else 1) >= 1 << 63:
            raise InputError(f"--ngram={ngram}, in a window of {2 * window} words and with a vocabulary of {vocab}",
                             "choose shorter n-grams")
        self.window, self.ngram, self.shape, self.suffixes, self.clusters = window, ngram, shape, suffixes, clusters
        self.cluster_bits = _bits(cluster_bits)
        self.number, self.before, self.after, self.least = triggers, trigger_before, trigger_after, trigger_count
        self.min_count, self.c1, self.c2, self.iterations = min_count, c1, c2, iterations
        self.words, self.n_labels = vocab, labels
        if text_model:
            lm: Any = submodel("text_model", text_model, "ngram")
            if lm.n_labels != labels:
                raise InputError("the language model has other labels", "train it on a store with the same labels",
                                 str(text_model))
            self.submodels = {"text_model": lm}
        tables = ["shape"] * shape + [f"suffix{n}" for n in range(1, suffixes + 1)]
        tables += [f"cluster{bits}" for bits in self.cluster_bits] if clusters else []
        self.tables = tables
        self.templates = features.templates(window, ngram, tables, labels if text_model else 0,
                                            LONGEST_TRIGGER if triggers else 0)

    def fit(self, store: Store, train_sets: list[str], dev_set: str, seed: int = 1) -> None:
        crfsuite = _crfsuite()
        sets = [store.set(name) for name in train_sets]
        texts = [self._text(data) for data in sets]
        self.arrays = {f"words.{name}": table for name, table in self._word_tables(store.vocabulary.tokens).items()}
        for n, keys in enumerate(self._triggers(sets), 1):
            self.arrays[f"triggers.{n}"] = keys
        finder = self._finder()
        tables = [self._frequent(finder, template, texts) for template in self.templates]
        print(f"{sum(map(len, tables))} features of {len(tables)} templates", file=sys.stderr, flush=True)
        trainer = _trainer(crfsuite, self.c1, self.c2, self.iterations)
        for data, text in zip(sets, texts):
            self._append(trainer, finder, tables, text, np.maximum(data.labels, 0))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "crf"
            trainer.train(str(path))
            trainer.clear()
            weights, transitions, bias = weights_of(crfsuite, path, sum(map(len, tables)), self.n_labels)
        for template, keys, part_ in zip(self.templates, tables,
                                         np.split(weights, np.cumsum([len(keys) for keys in tables])[:-1])):
            used = part_.any(axis=1)
            self.arrays |= {f"{template}.keys": keys[used], f"{template}.weights": part_[used]}
        self.arrays |= {"transitions": transitions, "bias": bias}
        self.prepare()
        print(f"{sum(map(len, self.keys))} features have a weight", file=sys.stderr)

    def prepare(self) -> None:
        self.keys = [self.arrays[f"{template}.keys"] for template in self.templates]
        self.weights = [self.arrays[f"{template}.weights"] for template in self.templates]
        shapes = [weight.shape for weight in self.weights]
        words = {self.arrays[f"words.{name}"].shape for name in self.tables}
        if shapes != [(len(keys), self.n_labels) for keys in self.keys] or words - {(self.words,)}:
            raise ValueError("arrays of different sizes")
        if self.arrays["transitions"].shape != (self.n_labels,) * 2 or self.arrays["bias"].shape != (self.n_labels,):
            raise ValueError("not the labels of this model")
        self.finder = self._finder()

    def log_posteriors_of(self, data: StoreSet) -> np.ndarray:
        text, scores = self._text(data), np.empty((len(data.ids), self.n_labels), np.float32)
        for start in range(0, len(scores), CHUNK):
            stop = min(start + CHUNK, len(scores))
            found = self.finder.keys(self.templates, text, start, stop)
            scores[start:stop] = self.arrays["bias"] + features.scores(found, self.keys, self.weights, stop - start,
                                                                       self.n_labels)
        return log_marginals(scores, self.arrays["transitions"], text.offsets)

    def _text(self, data: StoreSet) -> Text:
        lm = self.submodels.get("text_model")
        return Text(data.ids, np.asarray(data.offsets), lm.log_posteriors_of(data) if lm else None)

    def _finder(self) -> Finder:
        triggers = [self.arrays[f"triggers.{n}"] for n in range(1, LONGEST_TRIGGER + 1)] if self.number else []
        return Finder(self.words, {name: self.arrays[f"words.{name}"] for name in self.tables}, triggers, self.before,
                      self.after)

    def _word_tables(self, words: list[str]) -> dict[str, np.ndarray]:
        tables = {"shape": features.shape_table(words)} if self.shape else {}
        tables |= {f"suffix{n}": features.suffix_table(words, n) for n in range(1, self.suffixes + 1)}
        if self.clusters:
            clusters = read_clusters(self.clusters)
            known = sum(word in clusters for word in words)
            if not known:
                raise InputError("none of the vocabulary's words is here", "name a file of this language and case",
                                 self.clusters)
            print(f"{self.clusters}: clusters of {known} of {len(words)} words", file=sys.stderr)
            tables |= {f"cluster{bits}": features.cluster_table(words, clusters, bits) for bits in self.cluster_bits}
        return tables

    def _triggers(self, sets: list[StoreSet]) -> list[np.ndarray]:
        if not self.number:
            return []
        sizes = np.cumsum([0, *(len(data.ids) for data in sets)])
        offsets = np.concatenate([[0], *(data.offsets[1:] + size for data, size in zip(sets, sizes.tolist()))])
        ids, labels = (np.concatenate(columns) for columns in zip(*((data.ids, data.labels) for data in sets)))
        return triggering.select(ids, labels, offsets, self.words, self.n_labels, self.number, self.before, self.after,
                                 self.least, LONGEST_TRIGGER)

    def _frequent(self, finder: Finder, template: Template, texts: list[Text]) -> np.ndarray:
        """The sorted keys of a template that become features."""
        if template.kind == "trigger":
            return self.arrays[f"triggers.{template.size}"]
        found = [next(finder.keys([template], text, 0, len(text.ids)))[1] for text in texts]
        return features.common_keys(np.concatenate(found), self.min_count)

    def _append(self, trainer: Any, finder: Finder, tables: list[np.ndarray], text: Text, labels: np.ndarray) -> None:
        """Hand the slots of a text to CRFsuite, by chunks of whole pieces; it holds all of them in memory."""
        for edges in chunks(text.offsets):
            start, stop = int(edges[0]), int(edges[-1])
            found = finder.keys(self.templates, text, start, stop)
            numbers, ends = features.attributes(found, tables, stop - start)
            names, ends = list(map(str, numbers.tolist())), [0, *ends.tolist()]
            marks = list(map(str, labels[start:stop].tolist()))
            for begin, end in zip((edges[:-1] - start).tolist(), (edges[1:] - start).tolist()):
                items = [["bias", *names[ends[slot]:ends[slot + 1]]] for slot in range(begin, end)]
                trainer.append(items, marks[begin:end])


def chunks(offsets: np.ndarray) -> Iterator[np.ndarray]:
    """The edges of the pieces of all streams, by groups of about CHUNK slots; each begins where the last one ended."""
    lengths = np.diff(offsets)
    count = -(-lengths // PIECE)
    number = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    edges = np.append(np.repeat(offsets[:-1], count) + number * PIECE, offsets[-1])
    first = 0
    while first < len(edges) - 1:
        last = max(int(np.searchsorted(edges, edges[first] + CHUNK, side="right")) - 1, first + 1)
        yield edges[first:last + 1]
        first = last


def weights_of(crfsuite: Any, path: Path, numbers: int, labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The weights in a model file of CRFsuite, float32: of numbered features (numbers, L), transitions, bias (L,)."""
    tagger = crfsuite.Tagger()
    tagger.open(str(path))
    seen = [int(label) for label in tagger.labels()]
    text = path.with_suffix(".txt")
    tagger.dump(str(text))
    tagger.close()
    weights, transitions = np.zeros((numbers, labels), np.float32), np.zeros((labels, labels), np.float32)
    bias = np.full(labels, UNSEEN, np.float32)
    bias[seen] = 0
    with open(text, encoding="ascii") as file:
        for line in file:
            if " --> " in line:
                kind, source, _, target, weight = line.split()
                place = bias if source == "bias" else (transitions if kind == "(1)" else weights)[int(source)]
                place[int(target.rstrip(":"))] = float(weight)
    return weights, transitions, bias


def _trainer(crfsuite: Any, c1: float, c2: float, iterations: int) -> Any:
    """A trainer of CRFsuite that logs to standard error."""
    class Trainer(crfsuite.Trainer):
        def message(self, message: str) -> None:
            if self.logparser.feed(message) == "iteration":
                now = self.logparser.last_iteration
                if now["num"] % SHOWN == 1:
                    print(f"iteration {now['num']}: loss {now['loss']:.1f}, {now['active_features']} weights, "
                          f"{now['time']:.1f} s", file=sys.stderr, flush=True)

    trainer = Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": c1, "c2": c2, "max_iterations": iterations, "feature.possible_transitions": True})
    return trainer


def _crfsuite() -> Any:
    try:
        import pycrfsuite
    except ImportError:
        raise InputError("python-crfsuite is not there, which trains the CRF",
                         "install it: pip install --constraint constraints.txt -e '.[crf]'") from None
    return pycrfsuite


def _bits(text: str) -> list[int]:
    try:
        bits = [int(number) for number in text.split(",")]
        if min(bits) < 1 or len(set(bits)) < len(bits):
            raise ValueError
        return bits
    except ValueError:
        raise InputError(f"--cluster-bits={text}",
                         "write different whole numbers above 0 with commas between") from None
