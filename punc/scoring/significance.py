"""Computes bootstrap intervals of metrics, and tests of two systems, from the counts of each unit (a recording or a
block of words).

`compare` tests two outputs. It does not account for the variance between training runs, so it reports too many
significant differences between systems that differ only in their seeds. `compare_runs` tests systems that were trained
with several seeds. It treats both the runs and the recordings as random samples; all runs are scored on the same
recordings. This is the analysis of variance of Obuchowski & Rockette (1995), where runs are called readers and
recordings are called cases; the readers are nested in the two systems (Hillis 2014). System k has n_k runs; mean_k is
the mean of the metric over these runs:

    var(mean_1 - mean_2) = s_1² / n_1 + s_2² / n_2 + max(0, c_1 + c_2 - 2 c_12)

    s_k²   sample variance of the metric over the system's runs: training noise and its interaction with recordings
    c_k    mean covariance, over resampled recordings, of two runs of system k; if it has only one run, the run's
           variance
    c_12   mean covariance of a run of system 1 and a run of system 2

The bootstrap over recordings estimates the covariances. If the systems are equally good, the ratio of mean_1 - mean_2
to its standard error follows Student's t distribution with ν degrees of freedom (Satterthwaite 1946; Hillis 2007):

    ν = var² / (Σ_k (s_k² / n_k)² / (n_k - 1) + max(0, c_1 + c_2 - 2 c_12)² / (units - 1))

`units` is how many units are resampled. For a system with one run, the terms with s_k² are left out, so its training
noise is ignored.
"""

import math
import zlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from punc.base.errors import InputError
from punc.scoring.counts import Counts

Measure = Callable[[np.ndarray], dict[str, np.ndarray]]  # `compute_flat` or `compute_metrics` for a label set

REPLICATES, SEED = 2000, 1  # the values for all published tables
WEIGHTS_AT_ONCE = 1 << 22  # the maximum number of weights in memory (32 MiB of float64), whatever the number of units


class Interval(NamedTuple):
    """A metric and its 95 % confidence interval, in percent. With fewer than two units, the bounds are NaN."""

    value: float
    low: float
    high: float


class Comparison(NamedTuple):
    """A metric of two systems, the difference `this` − `other` with its 95 % interval, and the p value of the
    difference."""

    this: float
    other: float
    difference: float
    low: float
    high: float
    p: float


def intervals(counts: np.ndarray, measure: Measure, replicates: int = REPLICATES,
              seed: int = SEED) -> dict[str, Interval]:
    """Return metrics of counts (units, …) with 95 % intervals from the percentile bootstrap over units (Efron 1979)."""
    point = measure(counts.sum(0))
    if len(counts) < 2:
        return {name: Interval(float(value), np.nan, np.nan) for name, value in point.items()}
    sampled = measure(bootstrap_sums(counts, replicates, seed))
    return {name: Interval(float(value), *_bounds(sampled[name])) for name, value in point.items()}


def compare(this: np.ndarray, other: np.ndarray, measure: Measure,
            replicates: int = REPLICATES) -> dict[str, Comparison]:
    """Compare two systems in paired tests, given counts (units, …) of each system. Both must have the same units.

    The two-sided p comes from approximate randomisation (Noreen 1989; Riezler & Maxwell 2005). If the systems were
    equal, their outputs for any unit could be exchanged. Each replicate exchanges the outputs for each unit with
    probability ½. p is the share of replicates whose difference is at least as large as the observed one; the observed
    outputs count as one more replicate. The interval comes from the paired bootstrap (Koehn 2004), which resamples the
    same units for both systems.
    """
    one, two = measure(this.sum(0)), measure(other.sum(0))
    both = np.concatenate([this, other], axis=1)  # so that the same units are resampled for both systems
    sums = bootstrap_sums(both, replicates)
    sampled = [measure(part) for part in np.split(sums, 2, axis=1)]
    rng = _generator("exchange", SEED)
    moved = _products(lambda rows: rng.integers(0, 2, (rows, len(this)), np.int8), other - this, replicates)
    shuffled = [measure(this.sum(0) + moved), measure(other.sum(0) - moved)]
    result = {}
    for name in one:
        difference = one[name] - two[name]
        # The test is "not smaller", not "at least as large", so that an undefined value counts against a difference.
        larger = ~(np.abs(shuffled[0][name] - shuffled[1][name]) < abs(difference) - 1e-9)
        p = (larger.sum() + 1) / (replicates + 1) if np.isfinite(difference) else np.nan
        low, high = _bounds(sampled[0][name] - sampled[1][name]) if len(this) > 1 else (np.nan, np.nan)
        result[name] = Comparison(*map(float, (one[name], two[name], difference, low, high, p)))
    return result


def compare_runs(these: Sequence[np.ndarray], others: Sequence[np.ndarray], measure: Measure,
                 replicates: int = REPLICATES) -> dict[str, Comparison]:
    """Test whether the mean metrics of two systems differ, given the counts (units, numbers) of each run. All runs must
    have the same units."""
    runs = np.stack([*these, *others])  # (runs, units, numbers)
    point = measure(runs.sum(1))
    sums = bootstrap_sums(runs.transpose(1, 0, 2), replicates)  # (replicates, runs, numbers)
    return {name: _test(point[name], values, len(these), runs.shape[1]) for name, values in measure(sums).items()}


def _test(metrics: np.ndarray, resampled: np.ndarray, first: int, units: int) -> Comparison:
    from scipy.special import stdtr, stdtrit

    means = float(metrics[:first].mean()), float(metrics[first:].mean())
    difference = means[0] - means[1]
    defined = resampled[np.isfinite(resampled).all(1)]
    if not math.isfinite(difference) or units < 2 or len(defined) < 2:
        return Comparison(*means, difference, math.nan, math.nan, math.nan)
    covariances = np.cov(defined, rowvar=False)
    trainings = [(float(part.var(ddof=1)) / len(part), len(part) - 1)
                 for part in (metrics[:first], metrics[first:]) if len(part) > 1]
    recordings = max(0.0, _common(covariances[:first, :first]) + _common(covariances[first:, first:])
                     - 2 * float(covariances[:first, first:].mean()))
    variance = recordings + sum(part for part, _ in trainings)
    if variance <= 1e-18:  # the runs are equal up to rounding
        return Comparison(*means, difference, difference, difference, float(abs(difference) < 1e-9))
    freedom = variance**2 / sum(part**2 / n for part, n in [*trainings, (recordings, units - 1)])
    error = math.sqrt(variance)
    half = float(stdtrit(freedom, 0.975)) * error
    p = 2 * float(stdtr(freedom, -abs(difference) / error))
    return Comparison(*means, difference, difference - half, difference + half, p)


def _common(covariances: np.ndarray) -> float:
    """Return the mean covariance of two runs of a system; if there is only one run, the variance of the run."""
    n = len(covariances)
    return float((covariances.sum() - np.trace(covariances)) / (n * (n - 1)) if n > 1 else covariances[0, 0])


def bootstrap_sums(counts: np.ndarray, replicates: int, seed: int = SEED) -> np.ndarray:
    """Sum counts (units, …) over resampled units. Return the sums, which are integers, as float64 (replicates, …)."""
    units = len(counts)
    rng = _generator("bootstrap", seed)

    def weights(rows: int) -> np.ndarray:
        drawn = rng.integers(0, units, (rows, units)) + np.arange(rows)[:, None] * units
        return np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units)

    return _products(weights, counts, replicates)


def all_flat(counts: Sequence[Counts]) -> list[np.ndarray]:
    """Return `Counts.flat` of each score, with word errors only if all scores have them."""
    words = all(one.words is not None for one in counts)
    return [(one if words else one._replace(words=None)).flat for one in counts]


def check_pair(this: Counts, other: Counts, where: str, same_words: bool = True) -> None:
    """Raise InputError, naming `where`, if the two scores differ in their units or in the number of labels. With
    `same_words`, also raise it if the two scores count a reference label differently in any unit."""
    if this.units != other.units:
        unit = next((a for a, b in zip(this.units, other.units) if a != b), "the last one")
        raise InputError(f"the units differ from those of the score it is compared with, from {unit} on",
                         "score both systems on the same data with the same options", where)
    if this.confusion.shape != other.confusion.shape or (
            same_words and (this.confusion.sum(2) != other.confusion.sum(2)).any()):
        raise InputError("the reference labels differ from those of the score it is compared with",
                         "score both systems on the same words with the same options", where)


def _products(weights: Callable[[int], np.ndarray], counts: np.ndarray, replicates: int) -> np.ndarray:
    flat = counts.reshape(len(counts), -1).astype(np.float64)
    step = max(1, WEIGHTS_AT_ONCE // len(counts))
    portions = [min(step, replicates - start) for start in range(0, replicates, step)]
    parts = [weights(rows).astype(np.float64) @ flat for rows in portions]
    return np.concatenate(parts).reshape(replicates, *counts.shape[1:])


def _generator(purpose: str, seed: int) -> np.random.Generator:
    """Return the random generator for one purpose. Draws for different purposes are independent."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


def _bounds(sampled: np.ndarray) -> tuple[float, float]:
    defined = sampled[np.isfinite(sampled)]
    low, high = np.quantile(defined, (0.025, 0.975)).tolist() if len(defined) else (np.nan, np.nan)
    return low, high
