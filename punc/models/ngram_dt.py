"""4-gram+DT-p: a decision tree on pauses and a language model's posteriors (Tilk & Alumäe 2015, section 3).

scikit-learn grows a tree for each combination of depth and leaf size. The tree with the lowest loss on the development
set is saved as arrays, together with the language model.

A language model's posteriors are better on its training text than on other text, so a tree trained on the same text
would trust them too much. Therefore, train the language model and the tree on different texts. If there is only one
text, use the option `folds`. Each training stream then belongs to one fold, and the posteriors for a fold come from a
language model that is estimated like `lm_model`, but without the streams of the fold.

    punc train --model ngram_dt --lm-model exp/4-gram --train-set train --dev-set dev data/store_word exp/4-gram+DT-p
"""

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from punc.base.errors import InputError
from punc.base.runs import bounds_of
from punc.models.base import NonGradientModel, build, submodel
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet

logger = logging.getLogger(__name__)

UNKNOWN = -1.0  # stands for an unknown pause; one threshold separates this value from all known pauses
DEPTHS = 3, 4, 5, 6, 8, 10, 12  # the values tried for the maximum depth of the tree
LEAF_SIZES = 5, 10, 20, 50, 100, 200  # the values tried for the minimum number of slots in a leaf
SMOOTHING = 0.5  # added to the count of each label in a leaf, so that no posterior is 0


class Model(NonGradientModel):
    """A decision tree on the pause and the posteriors of an n-gram model.

    lm_model     directory of a model `ngram` with the vocabulary of the store
    folds        number of folds of the training streams; for each fold, a language model is trained on the training
                 sets of `lm_model`, without that fold; the store must contain these sets; 0: use `lm_model` itself,
                 which must have been trained on other text
    """

    def __init__(self, vocab: int, labels: int, lm_model: str | dict[str, Any] = "", folds: int = 0):
        super().__init__()
        if folds < 0 or folds == 1:
            raise InputError(f"folds={folds}", "give 2 or more, or 0")
        self.lm: Any = submodel("lm_model", lm_model, "ngram")
        self.submodels, self.n_labels = {"lm_model": self.lm}, labels
        self._folds, self._lm_sets = folds, list[str]()
        if folds and isinstance(lm_model, str):
            if self.lm.arpa:
                raise InputError("folds cannot be used with a language model from ARPA files",
                                 "train one on the store's sets")
            self._lm_sets = self.lm.conf["train_set"].split(",")

    def fit(self, store: Store, train_sets: list[str], dev_set: str, seed: int = 1) -> None:
        from sklearn.tree import DecisionTreeClassifier
        if self.lm.n_labels != self.n_labels:
            raise InputError("the language model has other labels", "train it on a store with the same labels")
        data = self._examples_by_fold(store, train_sets, dev_set) if self._folds else \
            [self._examples(store.set(name), self.lm) for name in train_sets]
        features, labels = (np.concatenate(column) for column in zip(*data))
        dev_features, dev_labels = self._examples(store.set(dev_set), self.lm)
        best, chosen = np.inf, (0, 0)
        for depth in DEPTHS:
            for leaf_size in LEAF_SIZES:
                tree = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=leaf_size, random_state=seed)
                arrays = arrays_of(tree.fit(features, labels), self.n_labels)
                log_probs = np.log(smoothed(arrays)[leaves(arrays, dev_features), dev_labels])
                if -log_probs.mean() < best:
                    best, self.arrays, chosen = -log_probs.mean(), arrays, (depth, leaf_size)
        logger.info("depth %d, leaves of %d slots or more: dev loss %.5f", *chosen, best)

    def prepare(self) -> None:
        counts = self.arrays["counts"]
        nodes = [self.arrays[name] for name in ("left", "right", "feature", "threshold")]
        shapes = {array.shape for array in nodes}
        kinds = [array.dtype.kind for array in nodes]
        if shapes != {(len(counts),)} or counts.shape[1:] != (self.n_labels,) or kinds != ["i", "i", "i", "f"]:
            raise ValueError("arrays of different sizes, or of other types")
        left, right, feature, _ = nodes
        inner = np.flatnonzero(left >= 0)
        children = np.concatenate([left[inner], right[inner]])
        # Each node must come before its children, so that there are no cycles.
        if not len(left) or (children <= np.concatenate([inner, inner])).any() or (children >= len(left)).any():
            raise ValueError("not a tree")
        if (feature[inner] < 0).any() or (feature[inner] > self.lm.n_labels).any():
            raise ValueError("features that do not exist")
        if not np.isfinite(self.arrays["counts"]).all() or (self.arrays["counts"] < 0).any():
            raise ValueError("not counts")

    def log_posteriors_of(self, data: StoreSet) -> np.ndarray:
        found = leaves(self.arrays, features(data, self.lm))
        return np.log(smoothed(self.arrays))[found].astype(np.float32)

    def thresholds(self) -> np.ndarray:
        """Return the tree's pause thresholds in ascending order, (n, 2): the threshold in seconds, and the number of
        training slots that it divides."""
        on_pause = (self.arrays["left"] >= 0) & (self.arrays["feature"] == 0)
        pauses = self.arrays["threshold"][on_pause]
        slots = self.arrays["counts"][on_pause].sum(axis=1)
        order = np.argsort(pauses)
        return np.column_stack([pauses[order], slots[order]])

    def _examples_by_fold(self, store: Store, train_sets: list[str],
                          dev_set: str) -> list[tuple[np.ndarray, np.ndarray]]:
        found = []
        for fold in range(self._folds):
            logger.info("fold %d of %d", fold + 1, self._folds)
            lm: Any = build(self.lm.spec)
            lm.fit(Folds(store, train_sets, self._folds, fold, inside=False), self._lm_sets, dev_set)
            own = Folds(store, train_sets, self._folds, fold, inside=True)
            found += [self._examples(own.set(name), lm) for name in train_sets]
        return found

    def _examples(self, data: StoreSet, lm: NonGradientModel) -> tuple[np.ndarray, np.ndarray]:
        slots = np.flatnonzero(np.asarray(data.labels) >= 0)
        return features(data, lm)[slots], np.asarray(data.labels)[slots].astype(np.int64)


class Folds:
    """A store in which the sets `divided` contain only the streams of one fold or, if `inside` is false, of all other
    folds."""

    def __init__(self, store: Store, divided: Sequence[str], folds: int, fold: int, inside: bool):
        self._store, self._divided, self._folds, self._fold, self._inside = store, divided, folds, fold, inside
        self.vocabulary, self.labels = store.vocabulary, store.labels

    def set(self, name: str) -> StoreSet:
        """Return the set `name`. Raises InputError if it is one of `divided` and has fewer streams than folds."""
        data = self._store.set(name)
        if name not in self._divided:
            return data
        if len(data.offsets) <= self._folds:
            raise InputError(f"'{name}' has {len(data.offsets) - 1} streams for {self._folds} folds",
                             "give fewer folds")
        own = [(at, stream) for at, stream in enumerate(data.streams)
               if (at % self._folds == self._fold) == self._inside]
        parts = [slice(*data.offsets[at:at + 2]) for at, _ in own]
        ids, labels, pauses, turns = (None if array is None else np.concatenate([array[part] for part in parts])
                                      for array in (data.ids, data.labels, data.pauses, data.turns))
        assert ids is not None
        bounds = bounds_of([part.stop - part.start for part in parts])
        return StoreSet(ids, labels, pauses, [stream for _, stream in own], bounds, turns)


def features(data: StoreSet, lm: NonGradientModel) -> np.ndarray:
    """Return the pause in each slot and the label posteriors from a language model, float32 (N, 1 + L)."""
    pauses = np.full(len(data.ids), np.nan) if data.pauses is None else np.asarray(data.pauses)
    posteriors = np.exp(lm.log_posteriors_of(data))
    return np.column_stack([np.nan_to_num(pauses, nan=UNKNOWN), posteriors]).astype(np.float32)


def arrays_of(classifier: Any, labels: int) -> dict[str, np.ndarray]:
    """Convert a scikit-learn tree to arrays over its M nodes: left and right child (−1 in a leaf), feature, threshold,
    (M,) each; counts (M, L)."""
    tree = classifier.tree_
    counts = np.zeros((tree.node_count, labels))
    # For each node and label, `value` is the share of slots or, in old versions of scikit-learn, the number of slots.
    shares = tree.value[:, 0] / tree.value[:, 0].sum(axis=1, keepdims=True)
    counts[:, classifier.classes_] = shares * tree.n_node_samples[:, None]
    return {"left": tree.children_left.astype(np.int64), "right": tree.children_right.astype(np.int64),
            "feature": tree.feature.astype(np.int64), "threshold": tree.threshold.astype(np.float64), "counts": counts}


def leaves(arrays: dict[str, np.ndarray], features: np.ndarray) -> np.ndarray:
    """Return the leaf (N,) that each row of features (N, F) reaches."""
    nodes = np.zeros(len(features), np.int64)
    active = np.arange(len(features)) if arrays["left"][0] >= 0 else np.empty(0, np.int64)
    while len(active):
        here = nodes[active]
        low = features[active, arrays["feature"][here]] <= arrays["threshold"][here]
        nodes[active] = np.where(low, arrays["left"][here], arrays["right"][here])
        active = active[arrays["left"][nodes[active]] >= 0]
    return nodes


def smoothed(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Return the smoothed probability of each label in each node, (M, L)."""
    counts = arrays["counts"] + SMOOTHING
    return counts / counts.sum(axis=1, keepdims=True)
