"""The small records that cross the loop: what an operator did, what was spent, what is believed.

Records are NamedTuples of numbers and arrays, so that compiled code takes them as they are.
A scalar that changes lives in an array of length one.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BINS",
    "Belief",
    "Forecast",
    "Hints",
    "Ledger",
    "Limits",
    "Outcome",
    "Streams",
    "Trace",
    "bin_edges",
    "new_ledger",
    "new_trace",
    "row_dtype",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


class Streams(NamedTuple):
    """The random streams of one trial, apart, so that another selector leaves the moves alone."""

    moves: Words
    picks: Words
    noise: Words


class Outcome(NamedTuple):
    """What one application of an operator did; the meter prices it, the selector learns from it."""

    gain: float
    """The paper's Δf of the application: the sum of `deltas`."""
    evaluations: int
    touches: int
    """Genes read or drawn outside fitness."""
    deltas: Floats
    """The paper's Δf of each candidate; a view of a buffer that the state owns."""


class Forecast(NamedTuple):
    """What one application of an operator will do, known before it is tried."""

    candidates: int
    evaluations: int
    touches: int


class Hints(NamedTuple):
    """What a selector may know of its operators beforehand; 0 where unknown."""

    names: tuple[str, ...]
    candidates: Floats
    joules: Floats
    log_sd: Floats | None = None
    """Standard deviation of ln E, where a profile was taken; None: no profile."""


class Belief(NamedTuple):
    """What a selector thinks of an operator: the same for every rule, read by plots and tables."""

    gain: float
    gain_sd: float
    joules: float
    joules_sd: float
    score: float
    """Improvement per Joule as this rule estimates it."""


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


# The histogram of Joules per application: 32 bins to an octave, 2**-40 J to 2**24 J.
OCTAVES, PER_OCTAVE, LOWEST = 64, 32, -40
BINS = OCTAVES * PER_OCTAVE


def bin_edges() -> Floats:
    """Return the edges in Joules of the ledger's histogram.

    Examples
    --------
    >>> edges = bin_edges()
    >>> bool(edges[0] == 2.0**-41), edges.size == BINS + 1
    (True, True)
    """
    octave = np.arange(LOWEST, LOWEST + OCTAVES)
    within = 0.5 + np.arange(PER_OCTAVE) / (2 * PER_OCTAVE)
    edges = np.ldexp(within[None, :], octave[:, None]).ravel()
    return np.append(edges, np.ldexp(0.5, LOWEST + OCTAVES))


class Ledger(NamedTuple):
    """All that was spent, in running totals."""

    joules: Floats
    evaluations: Ints
    decisions: Ints
    mark: Floats
    """The next grid point at which a row is written."""
    latest: Floats
    """Operator, gain and Joules of the latest decision, which may lie between two points."""
    applications: Ints
    operator_joules: Floats
    operator_evaluations: Ints
    operator_gain: Floats
    histogram: NDArray[np.int64]
    """Applications by operator and Joules, see `bin_edges`."""


def new_ledger(operators: int) -> Ledger:
    """Return an empty ledger for that many operators."""
    return Ledger(
        joules=np.zeros(1),
        evaluations=np.zeros(1, np.int64),
        decisions=np.zeros(1, np.int64),
        mark=np.zeros(1),
        latest=np.zeros(3),
        applications=np.zeros(operators, np.int64),
        operator_joules=np.zeros(operators),
        operator_evaluations=np.zeros(operators, np.int64),
        operator_gain=np.zeros(operators),
        histogram=np.zeros((operators, BINS), np.int64),
    )


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

    def rows(self, count: int) -> NDArray[Any]:
        """Copy the first `count` rows into one structured array of `row_dtype`."""
        out = np.empty(count, row_dtype(self.applications.shape[1]))
        for name in out.dtype.names or ():
            out[name] = getattr(self, name)[:count]
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


def new_trace(size: int, operators: int) -> Trace:
    """Return room for `size` rows."""
    columns = [
        np.zeros((size, *kind.shape), kind.base)
        for kind, *_ in (row_dtype(operators).fields or {}).values()
    ]
    return Trace(size, *columns)
