"""The loss and F1 of a model on a labelled set of a store."""

import numpy as np

from punc.base.errors import InputError
from punc.decoding.decode import log_posteriors
from punc.models.base import Model
from punc.scoring.counts import confusion
from punc.scoring.metrics import compute_metrics
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet


def evaluate(model: Model, data: StoreSet) -> tuple[float, float]:
    """The mean loss of a slot in nats, and overall F1 in percent if each slot gets its most probable label.

    data   a set with labels
    """
    assert data.labels is not None, "the set is labelled"
    log_probs = log_posteriors(model, data)
    slots = np.flatnonzero(data.labels >= 0)
    labels = data.labels[slots].astype(np.int64)
    loss = -float(log_probs[slots, labels].mean(dtype=np.float64))
    counts = confusion(labels, log_probs[slots].argmax(axis=1), np.zeros(len(slots), np.int64), 1, len(model.labels))
    return loss, float(compute_metrics(counts, model.labels)["overall.F1"][0])


def labelled(store: Store, name: str) -> StoreSet:
    """A set of a store. Raises InputError if it is missing or has no labels."""
    data = store.set(name)
    if data.labels is None:
        raise InputError(f"set '{name}' has no labels", "make the store of a data directory with punct", store.path)
    return data
