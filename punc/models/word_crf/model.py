"""Word CRF: a linear-chain CRF on features of the words around a slot (Gale & Parthasarathy 2017, section 2.2).

The paper does not give the size of the window, the length of the n-grams or the number of triggers; the defaults are
ours. Do not train the language model `text_model` on the CRF's training text: a language model's posteriors are better
on its own training text than on other text, so the CRF would learn to trust them too much.

CRFsuite (Okazaki 2007; python-crfsuite, the extra `crf`) trains the model with OWL-QN if `c1` is above 0, and with
L-BFGS otherwise. Decoding does not need CRFsuite. Training cuts long streams into chunks, but features still read words
beyond the cuts. Decoding cuts streams into overlapping chunks.

In a store with --token-type word, a word outside the vocabulary is `<unk>` and has no shape or suffix. A store with
--token-type form keeps the shapes and suffixes of such words (`tokens.tokenizers.form`). The vocabulary may contain
rare words (--min-count 1), because this model leaves out rare features.

    punc make-store --token-type form --labels conf/labels.txt data/store_form data/train data/dev
    punc train --model word_crf --train-set train --dev-set dev data/store_form exp/CRF
"""

import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from punc.base.errors import InputError, check_at_least
from punc.base.runs import bounds_of
from punc.layers.crf import LinearChain
from punc.models.base import NonGradientModel, submodel
from punc.models.word_crf import features
from punc.models.word_crf.features import MARGIN, Finder, Template, Text
from punc.tokens.chunks import cut
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet

logger = logging.getLogger(__name__)

BATCH_SLOTS = 1 << 15  # the number of slots whose features are computed at once
TRAINING_CHUNK = 1024  # slots in a training chunk, which is one chain of the CRF
SUFFIXES = 3  # the length of the longest suffixes, in characters
CLUSTER_BITS = 4, 6, 10, 20  # lengths of the cluster prefixes that are features, in bits
MIN_COUNT = 2  # the minimum count of a feature in the training text
TRIGGER_NGRAM = 3  # the number of words in the longest triggers
TRIGGER_BEFORE, TRIGGER_AFTER = 10, 2  # words before and after a slot that are searched for triggers
TRIGGER_COUNT = 10  # the minimum number of occurrences of a mark near a trigger of this mark
CHUNK_SIZE = 512  # slots in a decoding chunk
CONTEXT = 64  # slots that are read on each side of a decoding chunk
BATCH_SIZE = 512  # the number of decoding chunks computed together
UNSEEN = -30.0  # the score of a label that is not in the training text
LOG_INTERVAL = 10  # iterations between messages


class Model(NonGradientModel):
    """A linear-chain CRF on words.

    window            number of words on each side of a slot; their n-grams are features
    ngram             length of the longest n-grams; 0: no n-grams
    clusters          file of Brown clusters, BITS<TAB>WORD<TAB>COUNT; empty: no clusters
    text_model        directory of an ngram model with the same vocabulary; its posteriors are features; empty: none
    triggers          maximum number of trigger n-grams of each mark; 0: no triggers
    c1                factor of the L1 norm of the weights in the loss
    c2                factor of the squared L2 norm of the weights in the loss
    iterations        maximum number of training iterations
    """

    def __init__(self, vocab: int, labels: int, window: int = 3, ngram: int = 3, clusters: str = "",
                 text_model: str | dict[str, Any] = "", triggers: int = 1000, c1: float = 0.5, c2: float = 0.01,
                 iterations: int = 100):
        super().__init__()
        check_at_least(1, window=window, iterations=iterations)
        check_at_least(0, ngram=ngram, triggers=triggers, c1=c1, c2=c2)
        if window > MARGIN:
            raise InputError(f"window={window} is out of range", f"give {MARGIN} or less")
        if ngram > 2 * window or vocab ** max(ngram, TRIGGER_NGRAM if triggers else 1) >= 1 << 63:
            raise InputError(f"ngram={ngram}, in a window of {2 * window} words and with a vocabulary of {vocab}",
                             "choose shorter n-grams")
        self.window, self.ngram, self.clusters, self.triggers = window, ngram, clusters, triggers
        self.c1, self.c2, self.iterations = c1, c2, iterations
        self.vocab, self.n_labels = vocab, labels
        if text_model:
            lm: Any = submodel("text_model", text_model, "ngram")
            if lm.n_labels != labels:
                raise InputError("the language model has other labels", "train it on the same labels", str(text_model))
            self.submodels = {"text_model": lm}
        self.tables = ["shape", *(f"suffix{n}" for n in range(1, SUFFIXES + 1))]
        if clusters:
            self.tables += [f"cluster{bits}" for bits in CLUSTER_BITS]
        self.templates = features.templates(window, ngram, self.tables, labels if text_model else 0,
                                            TRIGGER_NGRAM if triggers else 0)

    def fit(self, store: Store, train_sets: list[str], dev_set: str, seed: int = 1) -> None:
        trainer = make_trainer(self.c1, self.c2, self.iterations)
        sets = [store.set(name) for name in train_sets]
        texts = [self._text(data) for data in sets]
        self.arrays = {f"words.{name}": table for name, table in self._word_tables(store.vocabulary.tokens).items()}
        for n, keys in enumerate(self._triggers(sets), 1):
            self.arrays[f"triggers.{n}"] = keys
        finder = self._finder()
        tables = [self._frequent(finder, template, texts) for template in self.templates]
        logger.info("%d features of %d templates", sum(map(len, tables)), len(tables))
        for data, text in zip(sets, texts):
            self._append(trainer, finder, tables, text, np.maximum(np.asarray(data.labels), 0))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "crf"
            trainer.train(str(path))
            trainer.clear()
            weights, transitions, bias = weights_of(path, sum(map(len, tables)), self.n_labels)
        ends = np.cumsum([len(keys) for keys in tables])
        for template, keys, own in zip(self.templates, tables, np.split(weights, ends[:-1])):
            used = own.any(axis=1)
            self.arrays |= {f"{template}.keys": keys[used], f"{template}.weights": own[used]}
        self.arrays |= {"transitions": transitions, "bias": bias}
        self.prepare()
        logger.info("%d features have a weight", sum(map(len, self.keys)))

    def prepare(self) -> None:
        self.keys = [self.arrays[f"{template}.keys"] for template in self.templates]
        self.weights = [self.arrays[f"{template}.weights"] for template in self.templates]
        shapes = [weight.shape for weight in self.weights]
        words = {self.arrays[f"words.{name}"].shape for name in self.tables}
        if shapes != [(len(keys), self.n_labels) for keys in self.keys] or words - {(self.vocab,)}:
            raise ValueError("arrays of different sizes")
        if self.arrays["transitions"].shape != (self.n_labels,) * 2 or self.arrays["bias"].shape != (self.n_labels,):
            raise ValueError("not the labels of this model")
        self.finder = self._finder()
        integers = [*self.keys, *self.finder.triggers, *self.finder.tables.values()]
        numbers = [*self.weights, self.arrays["transitions"], self.arrays["bias"]]
        if any(array.ndim != 1 or array.dtype.kind != "i" for array in integers):
            raise ValueError("not keys")
        if any(array.dtype.kind != "f" for array in numbers):
            raise ValueError("not weights")

    def log_posteriors_of(self, data: StoreSet) -> np.ndarray:
        text = self._text(data)
        scores = np.empty((len(data.ids), self.n_labels), np.float32)
        for start in range(0, len(scores), BATCH_SLOTS):
            stop = min(start + BATCH_SLOTS, len(scores))
            found = self.finder.keys(self.templates, text, start, stop)
            scores[start:stop] = self.arrays["bias"] + features.scores(found, self.keys, self.weights, stop - start,
                                                                       self.n_labels)
        return log_marginals(scores, self.arrays["transitions"], text.offsets)

    def _text(self, data: StoreSet) -> Text:
        lm = self.submodels.get("text_model")
        return Text(data.ids, np.asarray(data.offsets), lm.log_posteriors_of(data) if lm else None)

    def _finder(self) -> Finder:
        triggers = [self.arrays[f"triggers.{n}"] for n in range(1, TRIGGER_NGRAM + 1)] if self.triggers else []
        return Finder(self.vocab, {name: self.arrays[f"words.{name}"] for name in self.tables}, triggers,
                      TRIGGER_BEFORE, TRIGGER_AFTER)

    def _word_tables(self, words: list[str]) -> dict[str, np.ndarray]:
        tables = {"shape": features.shape_table(words)}
        tables |= {f"suffix{n}": features.suffix_table(words, n) for n in range(1, SUFFIXES + 1)}
        if self.clusters:
            clusters = features.read_clusters(self.clusters)
            known = sum(word in clusters for word in words)
            if not known:
                raise InputError("the file has no word of the vocabulary",
                                 "give clusters of this language", self.clusters)
            logger.info("%s: clusters of %d of %d words", self.clusters, known, len(words))
            tables |= {f"cluster{bits}": features.cluster_table(words, clusters, bits) for bits in CLUSTER_BITS}
        return tables

    def _triggers(self, sets: list[StoreSet]) -> list[np.ndarray]:
        if not self.triggers:
            return []
        sizes = bounds_of(len(data.ids) for data in sets)
        offsets = np.concatenate([[0], *(data.offsets[1:] + size for data, size in zip(sets, sizes.tolist()))])
        ids, labels = (np.concatenate(columns) for columns in zip(*((data.ids, data.labels) for data in sets)))
        return features.select(ids, labels, offsets, self.vocab, self.n_labels, self.triggers, TRIGGER_BEFORE,
                      TRIGGER_AFTER, TRIGGER_COUNT, TRIGGER_NGRAM)

    def _frequent(self, finder: Finder, template: Template, texts: list[Text]) -> np.ndarray:
        if template.kind == "trigger":
            return self.arrays[f"triggers.{template.size}"]
        found = [next(finder.keys([template], text, 0, len(text.ids)))[1] for text in texts]
        keys, counts = np.unique(np.concatenate(found), return_counts=True)
        return keys[counts >= MIN_COUNT]

    def _append(self, trainer: Any, finder: Finder, tables: list[np.ndarray], text: Text, labels: np.ndarray) -> None:
        for edges in batches(text.offsets):
            start, stop = int(edges[0]), int(edges[-1])
            found = finder.keys(self.templates, text, start, stop)
            numbers, slot_ends = features.attributes(found, tables, stop - start)
            names = list(map(str, numbers.tolist()))
            ends = [0, *slot_ends.tolist()]
            marks = list(map(str, labels[start:stop].tolist()))
            for begin, end in zip((edges[:-1] - start).tolist(), (edges[1:] - start).tolist()):
                items = [["bias", *names[ends[slot]:ends[slot + 1]]] for slot in range(begin, end)]
                trainer.append(items, marks[begin:end])


def batches(offsets: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the bounds of training chunks, in batches of up to BATCH_SLOTS slots. Adjacent batches share a bound."""
    chunks = cut(offsets, None, TRAINING_CHUNK, 0)
    edges = np.append(offsets[chunks.stream] + chunks.begin, offsets[-1])
    first = 0
    while first < len(edges) - 1:
        last = max(int(np.searchsorted(edges, edges[first] + BATCH_SLOTS, side="right")) - 1, first + 1)
        yield edges[first:last + 1]
        first = last


def log_marginals(scores: np.ndarray, transitions: np.ndarray, offsets: np.ndarray, chunk_size: int = CHUNK_SIZE,
                  context: int = CONTEXT) -> np.ndarray:
    """Return the log of the marginal probability of each label in each slot, float32 (N, L).

    scores        (N, L) the score of each label in each slot
    transitions   (L, L) the score of a label (column) after another label (row)

    Labels hardly influence distant labels, so chunks need only a few slots of context on each side. Chunks of similar
    length are computed together, so that Python loops over slots once per batch, not once per chunk.
    """
    result = np.empty(scores.shape, np.float32)
    chain = LinearChain(scores.shape[1])
    chain.transitions.data = torch.from_numpy(transitions)
    chunks = cut(offsets, None, chunk_size, context)
    first, last, begin, end = (offsets[chunks.stream] + column for column in chunks[1:])
    order = np.argsort(last - first, kind="stable")
    for start in range(0, len(order), BATCH_SIZE):
        group = order[start:start + BATCH_SIZE]
        lengths = (last - first)[group]
        steps = np.arange(lengths[-1])
        slots = np.minimum(first[group, None] + steps, last[group, None] - 1)  # (B, T)
        log_probs = chain.log_marginals(torch.from_numpy(scores[slots]), torch.from_numpy(lengths)).numpy()
        own = (slots >= begin[group, None]) & (slots < end[group, None]) & (steps < lengths[:, None])
        result[slots[own]] = log_probs[own]
    return result


def weights_of(path: Path, numbers: int, labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read a CRFsuite model with `numbers` features. Returns the weights of the features (numbers, L), the transitions
    (L, L) and the bias (L,), all float32."""
    import pycrfsuite
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    seen = [int(label) for label in tagger.labels()]
    text = path.with_suffix(".txt")
    tagger.dump(str(text))
    tagger.close()
    weights = np.zeros((numbers, labels), np.float32)
    transitions = np.zeros((labels, labels), np.float32)
    bias = np.full(labels, UNSEEN, np.float32)
    bias[seen] = 0
    with open(text, encoding="ascii") as file:
        for line in file:
            if " --> " in line:
                kind, source, _, target, weight = line.split()
                row = bias if source == "bias" else (transitions if kind == "(1)" else weights)[int(source)]
                row[int(target.rstrip(":"))] = float(weight)
    return weights, transitions, bias


def make_trainer(c1: float, c2: float, iterations: int) -> Any:
    import pycrfsuite

    class Trainer(pycrfsuite.Trainer):
        def message(self, message: str) -> None:
            if self.logparser.feed(message) == "iteration":
                now = self.logparser.last_iteration
                if now["num"] % LOG_INTERVAL == 1:
                    logger.info("iteration %d: loss %.1f, %d weights, %.1f s", now["num"], now["loss"],
                                now["active_features"], now["time"])

    trainer = Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": c1, "c2": c2, "max_iterations": iterations, "feature.possible_transitions": True})
    return trainer
