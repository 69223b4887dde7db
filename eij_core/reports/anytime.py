"""Quality along the budget: bands, targets, expected Joules, the paper's fit."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from .statistics import RESAMPLES, SIDES, Interval

Floats = NDArray[np.float64]


class Quartiles(NamedTuple):
    """Median, quartiles and mean along an axis."""

    median: Floats
    q1: Floats
    q3: Floats
    mean: Floats


class Fit(NamedTuple):
    """f(E) = asymptote·(1 − drop·exp(−rate·E/B)), and how far it is from the data."""

    asymptote: float
    drop: float
    rate: float
    residual: float
    """Root mean square of data − fit, in units of fitness."""
    worst: float
    """Largest |data − fit|."""
    r2: float

    def __call__(self, share: ArrayLike) -> Floats:
        """Evaluate at shares of the budget, 0 to 1."""
        x = np.asarray(share, float)
        return np.asarray(self.asymptote * (1 - self.drop * np.exp(-self.rate * x)), float)


def resample(position: ArrayLike, values: Any, points: ArrayLike) -> Any:
    """Carry the last value forward: what held at each of `points`; nan before the first row.

    Examples
    --------
    >>> resample([1, 3], np.array([10.0, 30.0]), [0, 1, 2, 3, 9]).tolist()
    [nan, 10.0, 10.0, 30.0, 30.0]
    """
    values = np.asarray(values, float)
    index = np.searchsorted(np.asarray(position, float), points, side="right") - 1
    carried = values[np.maximum(index, 0)]
    carried[index < 0] = np.nan
    return carried


def quartiles_of(curves: ArrayLike) -> Quartiles:
    """Return median, quartiles and mean of curves (runs × points); nan are left out."""
    table = np.atleast_2d(np.asarray(curves, float))
    if not len(table):
        nothing = np.full(table.shape[1], np.nan)
        return Quartiles(nothing, nothing, nothing, nothing)
    with warnings.catch_warnings():  # a point that no run has reached becomes nan
        warnings.simplefilter("ignore", RuntimeWarning)
        q1, median, q3 = np.nanquantile(table, [0.25, 0.5, 0.75], axis=0)
        return Quartiles(median, q1, q3, np.nanmean(table, axis=0))


def first_hits(position: ArrayLike, curves: ArrayLike, targets: ArrayLike) -> Floats:
    """Return where each curve (runs × points) first reached each target; inf where it did not.

    Examples
    --------
    >>> first_hits([1.0, 2.0, 3.0], [[5.0, 7.0, 9.0]], [6.0, 9.0, 10.0]).tolist()
    [[2.0, 3.0, inf]]
    """
    reached = np.asarray(curves, float)[:, :, None] >= np.asarray(targets, float)
    places = np.asarray(position, float)[reached.argmax(axis=1)]
    return np.where(reached.any(axis=1), places, math.inf)


def ecdf(hits: ArrayLike, points: ArrayLike) -> Floats:
    """Return the share of all (run, target) pairs reached within each budget of `points`."""
    flat = np.sort(np.asarray(hits, float).ravel())
    return np.searchsorted(flat, np.asarray(points, float), side="right") / max(flat.size, 1)


def expected_joules(hits: ArrayLike, spent: ArrayLike) -> Interval:
    """Return the expected Joules to a target: all Joules spent on it, over the successes.

    Parameters
    ----------
    hits : array
        Joules at the first hit, by run; inf where the target was missed.
    spent : array
        Joules of the whole run: what a failure cost.

    Returns
    -------
    Interval
        With a percentile bootstrap over runs; inf where no run succeeds.

    Examples
    --------
    >>> expected_joules([100, 300, np.inf], [500, 500, 500]).value
    450.0
    """
    first, whole = np.asarray(hits, float), np.asarray(spent, float)
    if not first.size:
        return Interval(math.nan, math.nan, math.nan)
    success = np.isfinite(first)
    cost = np.where(success, first, whole)
    drawn = np.random.default_rng(0).integers(0, first.size, (RESAMPLES, first.size))
    with np.errstate(divide="ignore"):
        values = cost[drawn].sum(axis=1) / success[drawn].sum(axis=1)
        value = float(cost.sum() / success.sum())
    # Nearest ranks, because some of the values may be infinite.
    low, high = np.quantile(values, SIDES, method="nearest")
    return Interval(value, float(low), float(high))


def fit(share: ArrayLike, curve: ArrayLike) -> Fit | None:
    """Fit the paper's saturating exponential to an average trajectory; None where it fails.

    Parameters
    ----------
    share : array
        Budget used, 0 to 1.
    curve : array
        Average best fitness there.
    """
    x, y = np.asarray(share, float), np.asarray(curve, float)
    kept = np.isfinite(x) & np.isfinite(y)
    x, y = x[kept], y[kept]
    if x.size < 5 or np.ptp(y) == 0:
        return None
    scale = max(abs(float(y[-1])), 1e-300)
    start = (y[-1] / scale, (y[-1] - y[0]) / scale, 8.0)

    def shape(x: Any, asymptote: float, drop: float, rate: float) -> Any:
        return asymptote - drop * np.exp(-rate * x)

    try:
        (asymptote, drop, rate), _ = optimize.curve_fit(
            shape, x, y / scale, start, bounds=([-np.inf, -np.inf, 1e-6], [np.inf, np.inf, 1e4])
        )
    except (RuntimeError, ValueError, optimize.OptimizeWarning):
        return None
    residuals = y - scale * shape(x, asymptote, drop, rate)
    r2 = 1 - float((residuals**2).sum() / ((y - y.mean()) ** 2).sum())
    return Fit(
        float(asymptote * scale),
        float(drop / asymptote),
        float(rate),
        float(np.sqrt((residuals**2).mean())),
        float(np.abs(residuals).max()),
        r2,
    )
