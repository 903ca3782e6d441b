"""Paired tests of systems that were trained with several seeds: of the systems, not of one training of each.

A test of two outputs (`significance.compare`) resamples recordings. Training a system again moves its score, too, and
that test does not know it: of two systems that differ by their seeds alone it finds too many different.

Run i of system k has the metric m_ki. Seeds draw runs, and the test set draws recordings, which all runs share. So the
runs are the readers, and the recordings the cases, of the analysis of variance of Obuchowski & Rockette (1995), here
with readers that belong to one of the two systems (Hillis 2014). With n_k runs of system k,

    var(mean_1 - mean_2) = s_1² / n_1 + s_2² / n_2 + max(0, c_1 + c_2 - 2 c_12)

    s_k²   sample variance of the metrics of the system's runs: training noise, and what recordings add to it
    c_k    mean covariance of two runs of the system over test sets; of one run, its variance
    c_12   mean covariance of a run of each

The covariances are those of the bootstrap over recordings. The difference, divided by its standard error, has Student's
t distribution with ν degrees of freedom (Satterthwaite 1946; Hillis 2007), for `units` resampled units:

    ν = var² / (Σ_k (s_k² / n_k)² / (n_k - 1) + max(0, c_1 + c_2 - 2 c_12)² / (units - 1))

A bootstrap that also draws runs anew would have three runs speak for all: its variance is (n - 1) / n of the true one,
and its quantiles are those of ν = ∞. A system with one run counts as it is, without training noise.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from punc.scoring.significance import Comparison, Measure, bootstrap_sums

STEPS = 1 << 13  # of the integral of Student's t distribution
MOST_FREEDOM = 1e5  # degrees of freedom; from here on, t is normal to five digits


def compare_runs(these: Sequence[np.ndarray], others: Sequence[np.ndarray], measure: Measure, replicates: int = 2000,
                 seed: int = 1) -> dict[str, Comparison]:
    """Test the mean metrics of two systems on the same units; each run of a system has counts (units, numbers).

    p is two-sided. Without two units, p and the interval are NaN.
    """
    runs = np.stack([*these, *others])  # (runs, units, numbers)
    point = measure(runs.sum(1))
    sums = bootstrap_sums(runs.transpose(1, 0, 2), replicates, seed)  # (replicates, runs, numbers)
    return {name: _compare(point[name], values, len(these), runs.shape[1]) for name, values in measure(sums).items()}


def _compare(metrics: np.ndarray, resampled: np.ndarray, first: int, units: int) -> Comparison:
    """The test of a metric of runs (R,), of which the `first` ones are one system's, and of resamplings (…, R)."""
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
    if variance <= 1e-18:  # the runs are the same, but for rounding
        return Comparison(*means, difference, difference, difference, float(abs(difference) < 1e-9))
    freedom = variance**2 / sum(part**2 / n for part, n in [*trainings, (recordings, units - 1)])
    error = math.sqrt(variance)
    half = t_quantile(0.975, freedom) * error
    return Comparison(*means, difference, difference - half, difference + half, t_test(difference / error, freedom))


def _common(covariances: np.ndarray) -> float:
    """The mean covariance of two runs of a system; of one run, its variance."""
    n = len(covariances)
    return float((covariances.sum() - np.trace(covariances)) / (n * (n - 1)) if n > 1 else covariances[0, 0])


def t_test(t: float, freedom: float) -> float:
    """The probability that Student's t is as far from 0 as `t`, or farther."""
    chances, angles, scale = _student(freedom)
    return float(1 - np.interp(math.atan(abs(t) / scale), angles, chances))


def t_quantile(probability: float, freedom: float) -> float:
    """The value below which Student's t is with a probability of at least ½."""
    chances, angles, scale = _student(freedom)
    return scale * math.tan(np.interp(2 * probability - 1, chances, angles))


@lru_cache(4)
def _student(freedom: float) -> tuple[np.ndarray, np.ndarray, float]:
    """P(|t| < √ν tan θ) at angles θ in [0, π/2], the angles, and √ν.

    The density of t, in θ, is proportional to cos^(ν - 1) θ: it is integrated by the trapezoidal rule, with angles that
    are dense where most of it is.
    """
    freedom = min(freedom, MOST_FREEDOM)
    scale = math.sqrt(freedom)
    angles = np.arctan(np.tan(np.linspace(0, math.pi / 2, STEPS + 1)) * min(1.0, 3 / scale))
    density = np.cos(angles) ** (freedom - 1)
    chances = np.append(0, np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(angles)))
    return chances / chances[-1], angles, scale
