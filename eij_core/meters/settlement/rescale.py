"""Rescaling a window: whole µJ divided exactly, rows and ledger brought to their settled Joules."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...engine.histogram import CENTRES, bin_of
from ...engine.rows import Ledger

Floats = NDArray[np.float64]

SAME_BIN = 0.0075
"""A smaller change of scale moves no application at the centre of its bin to another bin."""


class Base(NamedTuple):
    """What had been spent when a window opened."""

    joules: float
    operator_joules: Floats
    histogram: NDArray[np.int64]

    @classmethod
    def of(cls, ledger: Ledger) -> Base:
        """Copy what a rescaling needs from a ledger."""
        return cls(float(ledger.joules[0]), ledger.operator_joules.copy(), ledger.histogram.copy())


def apportion(total: int, parts: Floats) -> NDArray[np.int64]:
    """Divide whole µJ in proportion to parts, exactly (largest remainders, ties to the first).

    Examples
    --------
    >>> apportion(10, np.array([1.0, 1.0, 1.0])).tolist()
    [4, 3, 3]
    """
    parts = np.maximum(parts, 0.0)
    scale = parts.sum()
    if scale <= 0.0:
        parts, scale = np.ones(parts.size), float(parts.size)
    exact = parts / scale * total
    whole = np.floor(exact).astype(np.int64)
    missing = int(total - whole.sum())
    order = np.argsort(whole - exact, kind="stable")
    # Rounding can make the parts exceed the total, by very little of a very large one.
    whole[order[:missing] if missing >= 0 else order[missing:]] += np.sign(missing)
    return whole


def rescale_rows(rows: NDArray[Any], base: Base, factors: Floats) -> NDArray[Any]:
    """Return a window's rows at their settled Joules.

    Parameters
    ----------
    rows : array of `engine.rows.row_dtype`
        The rows written since the window opened.
    base : Base
        The ledger when the window opened.
    factors : array
        Settled over provisional Joules, per operator; the last is the start's.

    Returns
    -------
    array
        A copy with `joules`, `operator_joules` and `spent` settled. `spent` never falls, within the
        window and from the one before. `beliefs` stay as the selector held them.
    """
    rows = rows.copy()
    moved = rows["operator_joules"] - base.operator_joules
    start = rows["spent"] - base.joules - moved.sum(axis=1)
    rows["joules"] *= factors[rows["operator"]]  # the start's operator is -1, its factor the last
    rows["operator_joules"] = base.operator_joules + moved * factors[:-1]
    spent = base.joules + moved @ factors[:-1] + start * factors[-1]
    rows["spent"] = np.maximum.accumulate(np.maximum(spent, base.joules))
    return rows


def rescale_ledger(ledger: Ledger, base: Base, factors: Floats, by_joules: bool = True) -> None:
    """Bring a ledger, in place, to the settled Joules of the window that opened at `base`.

    The next grid point of `ledger.mark` keeps its distance, if the axis is Joules.
    """
    before = float(ledger.joules[0])
    moved = ledger.operator_joules - base.operator_joules
    start = before - base.joules - moved.sum()
    ledger.operator_joules[:] = base.operator_joules + moved * factors[:-1]
    spent = base.joules + float(moved @ factors[:-1]) + start * float(factors[-1])
    ledger.joules[0] = max(spent, base.joules)
    if by_joules:
        ledger.mark[0] += ledger.joules[0] - before
    for o, factor in enumerate(factors[:-1]):
        if abs(factor - 1.0) > SAME_BIN:
            _shift(ledger.histogram[o], base.histogram[o], float(factor))


def _shift(counts: NDArray[np.int64], base: NDArray[np.int64], factor: float) -> None:
    """Move the applications of a window to the bins of their settled Joules."""
    new = counts - base
    places = np.flatnonzero(new)
    target = [bin_of(joules) for joules in (CENTRES[places] * factor).tolist()]
    moved = new[places]
    counts[:] = base
    np.add.at(counts, target, moved)
