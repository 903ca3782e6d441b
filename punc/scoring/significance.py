"""Bootstrap intervals of metrics, and paired tests of two systems, both from counts per unit.

Both resample units. A metric is a function of the sum of the units' counts, so a resampling is a matrix of weights,
(replicates, units), whose product with the counts, (units, numbers), has all sums.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.scoring.counts import Counts

Measure = Callable[[np.ndarray], dict[str, np.ndarray]]  # `metrics.compute_flat` or `compute_metrics` with a label set

WEIGHTS_AT_ONCE = 1 << 22  # 32 MiB of float64; memory does not grow with the number of units


class Interval(NamedTuple):
    """A metric and its 95 % confidence interval, in percent; the bounds are NaN if there are fewer than two units."""

    value: float
    low: float
    high: float


class Comparison(NamedTuple):
    """A metric of two systems, the difference `this` − `other` with its 95 % interval, and p of no difference."""

    this: float
    other: float
    difference: float
    low: float
    high: float
    p: float


def intervals(counts: np.ndarray, measure: Measure, replicates: int = 2000, seed: int = 1) -> dict[str, Interval]:
    """Metrics of counts (units, …) with 95 % intervals: percentile bootstrap over units (Efron 1979)."""
    point = measure(counts.sum(0))
    if len(counts) < 2:
        return {name: Interval(float(value), np.nan, np.nan) for name, value in point.items()}
    sampled = measure(bootstrap_sums(counts, replicates, seed))
    return {name: Interval(float(value), *_bounds(sampled[name])) for name, value in point.items()}


def compare(this: np.ndarray, other: np.ndarray, measure: Measure, replicates: int = 2000,
            seed: int = 1) -> dict[str, Comparison]:
    """A paired test of two systems on the same units; each has counts (units, …).

    p is two-sided, by approximate randomisation (Noreen 1989; Riezler & Maxwell 2005). If the systems were alike, any
    unit's outputs could be exchanged; p is how often exchanging each unit's with probability ½ gives at least the
    observed difference. It is never below 1 / (replicates + 1). The interval is by the paired bootstrap (Koehn 2004),
    which resamples the same units for both systems.
    """
    one, two = measure(this.sum(0)), measure(other.sum(0))
    both = np.concatenate([this, other], axis=1)  # one resampling for both
    sums = bootstrap_sums(both, replicates, seed)
    sampled = [measure(part) for part in np.split(sums, 2, axis=1)]
    moved = _exchanged_sums(other - this, replicates, seed)
    shuffled = [measure(this.sum(0) + moved), measure(other.sum(0) - moved)]
    result = {}
    for name in one:
        difference = one[name] - two[name]
        # "Not smaller" instead of "at least as large": an undefined value counts against a difference.
        larger = ~(np.abs(shuffled[0][name] - shuffled[1][name]) < abs(difference) - 1e-9)
        p = (larger.sum() + 1) / (replicates + 1) if np.isfinite(difference) else np.nan
        low, high = _bounds(sampled[0][name] - sampled[1][name]) if len(this) > 1 else (np.nan, np.nan)
        result[name] = Comparison(*map(float, (one[name], two[name], difference, low, high, p)))
    return result


def bootstrap_sums(counts: np.ndarray, replicates: int, seed: int) -> np.ndarray:
    """Sums of counts (units, …) over resampled units, (replicates, …), whole numbers as float64."""
    units = len(counts)
    rng = _generator("bootstrap", seed)

    def weights(rows: int) -> np.ndarray:
        drawn = rng.integers(0, units, (rows, units)) + np.arange(rows)[:, None] * units
        return np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units)

    return _products(weights, counts, replicates)


def both_flat(this: Counts, other: Counts) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of both, as `compare` takes them."""
    one, two = all_flat([this, other])
    return one, two


def all_flat(counts: Sequence[Counts]) -> list[np.ndarray]:
    """The numbers of scores: word errors only if all have them."""
    words = all(one.words is not None for one in counts)
    return [(one if words else one._replace(words=None)).flat for one in counts]


def check_pair(this: Counts, other: Counts, where: str, same_words: bool = True) -> None:
    """Raise InputError about `where` unless both count the same: the same units and, with the same words, slots.

    same_words   whether both have the same words, so that the reference labels of their slots are the same
    """
    if this.units != other.units:
        unit = next((a for a, b in zip(this.units, other.units) if a != b), "the last one")
        raise InputError(f"other units than the score it is compared with, from {unit} on",
                         "score both systems on the same data with the same options", where)
    if this.confusion.shape != other.confusion.shape or (
            same_words and (this.confusion.sum(2) != other.confusion.sum(2)).any()):
        raise InputError("other reference labels than in the score it is compared with",
                         "score both systems on the same words with the same options", where)


def _exchanged_sums(difference: np.ndarray, replicates: int, seed: int) -> np.ndarray:
    """Sums of the difference over a random half of the units, (replicates, …)."""
    rng = _generator("exchange", seed)
    return _products(lambda rows: rng.integers(0, 2, (rows, len(difference)), np.int8), difference, replicates)


def _products(weights: Callable[[int], np.ndarray], counts: np.ndarray, replicates: int) -> np.ndarray:
    """weights(rows) @ counts for `replicates` rows in total, some rows at a time."""
    flat = counts.reshape(len(counts), -1).astype(np.float64)
    parts = [weights(rows).astype(np.float64) @ flat for rows in _portions(replicates, len(counts))]
    return np.concatenate(parts).reshape(replicates, *counts.shape[1:])


def _portions(replicates: int, units: int) -> Iterator[int]:
    step = max(1, WEIGHTS_AT_ONCE // units)
    for start in range(0, replicates, step):
        yield min(step, replicates - start)


def _generator(purpose: str, seed: int) -> np.random.Generator:
    """A separate random generator for each purpose, so that their draws are independent."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


def _bounds(sampled: np.ndarray) -> tuple[float, float]:
    """The bounds of the middle 95 % of the replicates in which the metric is defined."""
    defined = sampled[np.isfinite(sampled)]
    low, high = np.quantile(defined, (0.025, 0.975)).tolist() if len(defined) else (np.nan, np.nan)
    return low, high
