"""The records that the loop writes: what was spent, and the rows.

Records are NamedTuples of numbers and arrays, so that compiled code takes them as they are.
A scalar that changes is an array of length one.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..protocols import Belief
from .arrays import Number, Numbers, Whole, Wholes, empty
from .histogram import BINS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


class Streams(NamedTuple):
    """The random streams of one trial; another selector does not change the moves."""

    moves: Words
    picks: Words
    noise: Words


class Limits(NamedTuple):
    """When to stop and where to record; inf means no limit."""

    joules: float
    evaluations: float
    step: float
    """Distance of grid points along the recorded axis; 0: a geometric grid, there is no end."""
    by_joules: bool
    """Whether the axis is Joules (else evaluations)."""
    every: int
    """Record each `every`-th decision; 0: record on the grid."""
    ask: float = math.inf
    """Joules spent at which prices are asked for, before the next decision."""
    target: float = math.inf
    """The fitness at which the run stops."""


class Ledger(NamedTuple):
    """All that was spent, in running totals."""

    joules: Number
    evaluations: Whole
    decisions: Whole
    mark: Number
    """The next grid point at which a row is written."""
    latest: Numbers
    """Operator, gain and Joules of the latest decision, which may lie between two points."""
    applications: Wholes
    operator_joules: Numbers
    operator_evaluations: Wholes
    operator_gain: Numbers
    histogram: Wholes
    """Applications by operator and Joules, see `histogram`."""


def new_ledger(operators: int) -> Ledger:
    """Return an empty ledger for that many operators."""
    histogram = np.zeros((operators, BINS), np.int64)
    return empty(Ledger, operators, latest=np.zeros(3), histogram=histogram)


class Trace(NamedTuple):
    """Room for rows, filled by the loop, column by column."""

    size: int
    decision: Ints
    operator: Ints
    gain: Floats
    joules: Floats
    spent: Floats
    evaluations: Ints
    best: Floats
    applications: NDArray[np.int64]
    operator_joules: Floats
    beliefs: Floats
    sign: float = 1.0
    """Fitness as a person reads it is this times the searched one: −1 where it is minimised."""

    def rows(self, count: int) -> NDArray[Any]:
        """Copy the first `count` rows into one structured array of `row_dtype`."""
        out = np.empty(count, row_dtype(self.applications.shape[1]))
        for name in out.dtype.names or ():
            out[name] = getattr(self, name)[:count]
        if self.sign < 0.0:
            out["best"] *= self.sign
        return out


def row_dtype(operators: int) -> np.dtype[Any]:
    """Return the one documented type of a recorded row.

    Returns
    -------
    dtype
        `decision` (1-based; 0 is the start), `operator` applied (-1 at the start), its `gain` and
        `joules`, the running totals `spent` (J) and `evaluations`, `best` fitness so far, and per
        operator the running totals `applications` and `operator_joules`, and `beliefs` with the
        five fields of `Belief`.

    Examples
    --------
    >>> row_dtype(2)["beliefs"].shape
    (2, 5)
    """
    return np.dtype(
        [
            ("decision", np.int64),
            ("operator", np.int64),
            ("gain", np.float64),
            ("joules", np.float64),
            ("spent", np.float64),
            ("evaluations", np.int64),
            ("best", np.float64),
            ("applications", np.int64, (operators,)),
            ("operator_joules", np.float64, (operators,)),
            ("beliefs", np.float64, (operators, len(Belief._fields))),
        ]
    )


def new_trace(size: int, operators: int, sign: float = 1.0) -> Trace:
    """Return room for `size` rows."""
    columns: list[Any] = [
        np.zeros((size, *kind.shape), kind.base)
        for kind, *_ in (row_dtype(operators).fields or {}).values()
    ]
    return Trace(size, *columns)._replace(sign=sign)
