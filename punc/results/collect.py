"""Reads scores and training logs from the systems' directories for result pages, and tests pairs of systems."""

import os
import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError, StrPath
from punc.base.files import read_lines, unchanged
from punc.results.page_data import Cost, PairedTest, rank, runs_of
from punc.scoring.counts import read_counts
from punc.scoring.metrics import compute_flat, is_summary, rows_of
from punc.scoring.report import METRICS, METRICS_HEADER, read_tsv, signature_parts
from punc.scoring.significance import Interval, all_flat, check_pair, compare, compare_runs

SECONDS = r"(\d{1,18}(?:\.\d*)?) s$"
# Messages of `punc train`: after an epoch, after fitting a model without gradient descent, and at the end.
EPOCH = re.compile(r"epoch (\d{1,9}): rate (\S+), loss (\S+), dev loss (\S+), dev F1 (\S+), "
                   rf"(\d[\d,]{{0,24}}) (?:words|tokens)/s, {SECONDS}", re.ASCII | re.MULTILINE)
FIT = re.compile(rf"dev loss \S+, dev F1 \S+, {SECONDS}", re.ASCII | re.MULTILINE)
KEPT = re.compile(r"kept epoch (\d{1,9}): ", re.ASCII)


class Score(NamedTuple):
    """A score directory: EXP-DIR/`system`/decode_`set`/score."""

    system: str
    set: str
    path: Path
    metrics: dict[str, Interval]
    signature: str


def collect_scores(exp: StrPath, systems: Sequence[str] = (), sets: Sequence[str] = ()) -> list[Score]:
    """Return all scores EXP-DIR/SYSTEM/decode_SET/score, sorted by set and then by system. The given sets and systems
    come first, in the given order; the others follow in C-locale order.

    decode_SET may also contain score_NAME, which is another score of the same output. Its overall P, R and F1 become
    the metrics NAME.P, NAME.R and NAME.F1. Raises InputError if there is no score.
    """
    scores = []
    for path in Path(exp).glob(f"*/decode_*/score/{METRICS}"):
        with unchanged(path):
            metrics = _read_metrics(path)
            signed = next((line for _, line in read_lines(path.with_name("signature"))), "")
        for other in sorted(path.parents[1].glob(f"score_*/{METRICS}")):
            name = other.parent.name.removeprefix("score_")
            metrics |= {row.replace("overall", name): value for row, value in _read_metrics(other).items()
                        if row.startswith("overall.")}
        scores.append(Score(path.parts[-4], path.parts[-3].removeprefix("decode_"), path.parent, metrics, signed))
    if not scores:
        raise InputError("the directory has no scores", "punc score writes them to SYSTEM/decode_SET/score", exp)
    return sorted(scores, key=lambda score: (rank(score.set, sets), rank(score.system, systems)))


def _read_metrics(path: Path) -> dict[str, Interval]:
    return {name: Interval(*value) for name, *value in read_tsv(path, METRICS_HEADER, Interval._fields)}


def paired_tests(scores: Sequence[Score], pairs: Iterable[tuple[str, str]],
                 tested: Sequence[str] = (), shown: Sequence[str] = ()) -> list[PairedTest]:
    """Test pairs of systems on every set on which both were scored. If a system has several seeds, their mean is
    tested, and the test accounts for the variance between training runs (`compare_runs`).

    tested   the metrics to test, such as `overall.F1`; empty: the metrics of the columns `shown`; if both are empty,
             all metrics that can be tested

    Raises InputError for scores that cannot be compared (`check_pair`), and for a metric that cannot be tested.
    """
    of_set: dict[str, dict[str, Score]] = {}
    for score in scores:
        of_set.setdefault(score.set, {})[score.system] = score
    wanted = [name for column in shown for name in rows_of(column)]
    tests = []
    for pair in pairs:
        runs = [[[found[name] for name in runs_of(system, found)] for system in pair] for found in of_set.values()]
        tests += [test for these, others in runs if these and others
                  for test in _tests(pair, these, others, tested, wanted)]
    return tests


def _tests(pair: tuple[str, str], these: Sequence[Score], others: Sequence[Score], tested: Sequence[str],
           shown: Sequence[str]) -> list[PairedTest]:
    runs = [*these, *others]
    counts, labels = zip(*(read_counts(run.path) for run in runs))
    for run, other in zip(runs[1:], counts[1:]):
        check_pair(counts[0], other, os.fspath(run.path), not _is_aligned(runs[0], run))
    flat, measure, first = all_flat(counts), partial(compute_flat, labels=labels[0]), len(these)
    result = compare(flat[0], flat[1], measure) if len(runs) == 2 else compare_runs(flat[:first], flat[first:], measure)
    found = {name: c for name, c in result.items() if is_summary(name) and name != f"{labels[0].names[0]}.F1"}
    for name in tested:
        if name not in found:
            raise InputError(f"no metric '{name}' was tested", f"choose from {' '.join(found)}")
    return [PairedTest(*pair, runs[0].set, name, *map(_rounded, (c.difference, c.low, c.high, c.p)))
            for name, c in found.items() if (name in tested if tested else name in shown or not shown)]


def _is_aligned(*scores: Score) -> bool:
    """Return whether all scores have the same reference, and the words of at least one output differ from the
    reference. The outputs may then have different slots, but all these scores have the same resampling units."""
    signed = [signature_parts(score.signature) for score in scores]
    return len({parts.get("reference") for parts in signed}) == 1 and any(
        parts.get("words", "").startswith("aligned") for parts in signed)


class Epoch(NamedTuple):
    """An epoch of training."""

    number: int  # from 1
    rate: float  # the learning rate
    loss: float  # mean loss on the training set
    dev_loss: float
    dev_f1: float  # in percent; NaN if undefined
    tokens: float  # the number of tokens trained on
    seconds: float  # the duration of the epoch
    kept: bool = False  # whether the final model is the model after this epoch


def read_training(system: Path) -> list[Epoch]:
    """Return the epochs of a model's last training run, or an empty list if the model has no log or is not trained in
    epochs.

    An epoch that was repeated after a stop counts once. If the log does not state which epoch was kept, the epoch with
    the lowest dev loss counts as kept.
    """
    epochs: dict[int, Epoch] = {}
    kept = 0
    for text in _logs(system):
        for match in EPOCH.finditer(text):
            try:
                rate, loss, dev_loss, dev_f1 = map(float, match.groups()[1:5])
            except ValueError:
                continue
            number, seconds = int(match[1]), float(match[7])
            epochs = {before: epoch for before, epoch in epochs.items() if before < number}
            epochs[number] = Epoch(number, rate, loss, dev_loss, dev_f1, float(match[6].replace(",", "")) * seconds,
                                   seconds)
            kept = 0
        kept = int((KEPT.findall(text) or [kept])[-1])
    if epochs and kept not in epochs:
        kept = min(epochs.values(), key=lambda epoch: epoch.dev_loss).number
    return [epoch._replace(kept=epoch.number == kept) for epoch in epochs.values()]


def read_cost(system: Path) -> Cost | None:
    """Return the cost of training a model. Returns None unless the model's logs contain its epochs from
    the first on or, if there are no epochs, the time of a fit without gradient descent."""
    epochs = read_training(system)
    if epochs and epochs[0].number == 1:
        seconds = sum(epoch.seconds for epoch in epochs)
        tokens = sum(epoch.tokens for epoch in epochs)
        return Cost(system.name, float(len(epochs)), _rounded(seconds), _rounded(tokens / max(seconds, 1e-9)))
    fits = [match[1] for text in _logs(system) for match in FIT.finditer(text)]
    return Cost(system.name, np.nan, _rounded(float(fits[-1])), np.nan) if fits and not epochs else None


def _logs(system: Path) -> list[str]:
    """Return the logs of `punc train` in order: train.1.log, … (if the run was stopped and continued) and train.log."""
    directory = system / "log"
    parts = [(int(path.suffixes[0][1:]), path) for path in directory.glob("train.*.log")
             if path.suffixes[0][1:].isdecimal() and path.name.count(".") == 2]
    last = directory / "train.log"
    paths = [path for _, path in sorted(parts)] + ([last] if last.is_file() else [])
    return [path.read_text(encoding="utf-8", errors="replace") for path in paths]


def _rounded(value: float) -> float:
    """Round a number as `write_tsv` does, so that a page stays the same when its data is written and read again."""
    return float(f"{value:.4f}")
