"""Training with CRFsuite (Okazaki 2007), and the weights in its model files."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from punc.base.errors import InputError

logger = logging.getLogger(__name__)

UNSEEN = -30.0  # score of a label that the training text does not have
LOG_INTERVAL = 10  # iterations between messages


def weights_of(path: Path, numbers: int, labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The float32 weights in a model file of CRFsuite: of features (numbers, L), transitions (L, L), bias (L,)."""
    import pycrfsuite
    tagger = pycrfsuite.Tagger()
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
                row = bias if source == "bias" else (transitions if kind == "(1)" else weights)[int(source)]
                row[int(target.rstrip(":"))] = float(weight)
    return weights, transitions, bias


def make_trainer(c1: float, c2: float, iterations: int) -> Any:
    """A trainer of CRFsuite that logs its progress. Raises InputError if python-crfsuite is not installed."""
    try:
        import pycrfsuite
    except ImportError:
        raise InputError("python-crfsuite is not installed; it trains the CRF",
                         "install it: pip install --constraint constraints.txt -e '.[crf]'") from None

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
