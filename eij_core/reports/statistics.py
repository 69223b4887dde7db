"""Comparing methods by their samples: tests, effect sizes, equivalence, ranks.

Numbers in, small records out; scipy computes what it has. Where a comparison cannot be made (too
few values, all equal) the answer is nan, never an exception and never a made-up p-value.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

RESAMPLES = 2000
CONFIDENCE = 0.95
"""That of all intervals."""
SIDES = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)


class Summary(NamedTuple):
    """Location and spread of a sample."""

    mean: float
    sd: float
    median: float
    q1: float
    q3: float


class Interval(NamedTuple):
    """An estimate and its confidence interval."""

    value: float
    low: float
    high: float


class Ranking(NamedTuple):
    """Methods ranked over cells (rank 1 is the best), against a control."""

    ranks: NDArray[np.float64]
    """Mean rank of each method."""
    chi2: float
    p: float
    """Friedman: whether the methods differ at all."""
    z: NDArray[np.float64]
    """Distance of each method to the control, in standard errors."""
    holm: NDArray[np.float64]
    """p of those distances, corrected for their number; nan for the control."""
    critical: float
    """Mean ranks closer than this do not differ significantly (Nemenyi)."""


def summarise(values: ArrayLike) -> Summary:
    """Return mean ± sd, median and quartiles.

    Examples
    --------
    >>> summarise([1, 2, 3, 4]).median
    2.5
    """
    x = _clean(values)
    if not x.size:
        return Summary(*[math.nan] * 5)
    sd = float(x.std(ddof=1)) if x.size > 1 else math.nan
    q1, median, q3 = np.quantile(x, [0.25, 0.5, 0.75])
    return Summary(float(x.mean()), sd, float(median), float(q1), float(q3))


def mann_whitney(x: ArrayLike, y: ArrayLike) -> float:
    """Return the two-sided p of the Mann-Whitney U test, as the paper's tables have it."""
    a, b = _clean(x), _clean(y)
    if not a.size or not b.size or _constant(a, b):
        return math.nan
    return float(stats.mannwhitneyu(a, b, alternative="two-sided").pvalue)


def wilcoxon(x: ArrayLike, y: ArrayLike) -> float:
    """Return the two-sided p of Wilcoxon's signed-rank test; x and y pair by position.

    Pairs with a nan on either side are left out.
    """
    a, b = np.asarray(x, float), np.asarray(y, float)
    kept = np.isfinite(a) & np.isfinite(b)
    difference = a[kept] - b[kept]
    if difference.size < 2 or not difference.any():
        return math.nan
    # "auto" would take the exact distribution with ties too, where it does not hold.
    tied = np.unique(np.abs(difference)).size < difference.size or not difference.all()
    exact = difference.size <= 50 and not tied
    return float(stats.wilcoxon(difference, method="exact" if exact else "asymptotic").pvalue)


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Correct p-values for their number, by Holm's step-down; nan is left out.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, float)
    corrected = np.full(values.shape, np.nan)
    order = np.argsort(values)[: np.isfinite(values).sum()]
    factors = len(order) - np.arange(len(order))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * factors))
    return corrected


def a12(x: ArrayLike, y: ArrayLike, seed: int = 0) -> Interval:
    """Return Vargha and Delaney's A12: how often a value of x exceeds one of y, ties by half.

    The interval is a percentile bootstrap over both samples.
    """
    a, b = _clean(x), _clean(y)
    if not a.size or not b.size:
        return Interval(math.nan, math.nan, math.nan)
    # The signs are computed once; a resample only weights their rows and columns.
    wins = 0.5 * (1.0 + np.sign(a[:, None] - b[None, :]))
    rng = np.random.default_rng(seed)
    rows = rng.multinomial(a.size, np.full(a.size, 1 / a.size), RESAMPLES) / a.size
    columns = rng.multinomial(b.size, np.full(b.size, 1 / b.size), RESAMPLES) / b.size
    drawn = ((rows @ wins) * columns).sum(axis=1)
    low, high = np.quantile(drawn, SIDES)
    return Interval(float(wins.mean()), float(low), float(high))


def magnitude(a: float) -> str:
    """Name the size of an A12, by Vargha and Delaney's thresholds .56, .64 and .71.

    Examples
    --------
    >>> magnitude(0.3)
    'medium'
    """
    distance = abs(a - 0.5)
    names = ((0.21, "large"), (0.14, "medium"), (0.06, "small"))
    # With slack, because .71 − .5 is slightly less than .21 in binary.
    return next((name for limit, name in names if distance >= limit - 1e-9), "negligible")


def hodges_lehmann(x: ArrayLike, y: ArrayLike) -> Interval:
    """Return the shift from y to x: the median of all differences, with Moses' interval."""
    a, b = _clean(x), _clean(y)
    if not a.size or not b.size:
        return Interval(math.nan, math.nan, math.nan)
    differences = np.sort((a[:, None] - b[None, :]).ravel())
    m, n = a.size, b.size
    z = float(stats.norm.ppf(0.5 + CONFIDENCE / 2))
    c = max(1, round(m * n / 2 - z * math.sqrt(m * n * (m + n + 1) / 12)))
    value = float(np.median(differences))
    return Interval(value, float(differences[c - 1]), float(differences[m * n - c]))


def tost(x: ArrayLike, y: ArrayLike, margin: float) -> float:
    """Return the p of equivalence: small if the means of x and y differ by less than `margin`.

    Two one-sided tests after Welch. A missing difference alone does not show equivalence.
    """
    a, b = _clean(x), _clean(y)
    if a.size < 2 or b.size < 2 or not margin > 0:
        return math.nan
    if _constant(a) and _constant(b):
        return 0.0 if abs(a[0] - b[0]) < margin else 1.0
    with warnings.catch_warnings():  # one sample may be constant; the other gives the error
        warnings.simplefilter("ignore", RuntimeWarning)
        low = stats.ttest_ind(a + margin, b, equal_var=False, alternative="greater").pvalue
        high = stats.ttest_ind(a - margin, b, equal_var=False, alternative="less").pvalue
    return float(max(low, high))


def friedman(scores: ArrayLike, control: int = 0, confidence: float = 0.95) -> Ranking:
    """Rank methods over cells: Friedman's test, Holm against a control, the critical difference.

    Parameters
    ----------
    scores : array of shape (cells, methods)
        Higher is better.
    control : int
        The method that the others are compared with.
    """
    table = np.asarray(scores, float)
    cells, methods = table.shape
    ranks = stats.rankdata(-table, axis=1).mean(axis=0)
    error = math.sqrt(methods * (methods + 1) / (6 * cells))
    z = (ranks - ranks[control]) / error
    p = 2 * stats.norm.sf(np.abs(z))
    p[control] = math.nan
    chi2 = overall = math.nan
    if methods > 2 and cells > 1 and np.ptp(ranks) > 0:
        chi2, overall = stats.friedmanchisquare(*table.T)
    q = stats.studentized_range.ppf(confidence, methods, math.inf) / math.sqrt(2)
    return Ranking(ranks, float(chi2), float(overall), z, holm(p), float(q * error))


def _clean(values: ArrayLike) -> NDArray[np.float64]:
    x = np.asarray(values, float).ravel()
    return x[np.isfinite(x)]


def _constant(*samples: NDArray[Any]) -> bool:
    return bool(np.ptp(np.concatenate(samples)) == 0)
