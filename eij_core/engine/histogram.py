"""The histogram of Joules per application: 32 bins to an octave, from 2**-41 J to 2**23 J.

A run counts every application in one of these bins (`rows.Ledger.histogram`). Records, profiles and
stores keep the sparse form: pairs of a bin and its count.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

OCTAVES, PER_OCTAVE, LOWEST = 64, 32, -40
BINS = OCTAVES * PER_OCTAVE

_octaves = np.arange(LOWEST, LOWEST + OCTAVES + 1)[:, None]
EDGES: Floats = np.ldexp(0.5 + np.arange(PER_OCTAVE) / (2 * PER_OCTAVE), _octaves).ravel()[
    : BINS + 1
]
"""The edges of the bins, in Joules."""
CENTRES: Floats = np.sqrt(EDGES[:-1] * EDGES[1:])
"""The geometric middle of each bin, in Joules."""
for _shared in (EDGES, CENTRES):
    _shared.flags.writeable = False

POINTS = 72
"""Points of a density: enough for a smooth outline at any size that is drawn."""
FAINT = 0.01
"""Densities below this share of the peak need not be in view: on a busy machine one application in
a thousand is interrupted, and takes ten times as long."""
NARROWEST = 0.03
"""The least bandwidth of a density, in ln J: about the width of a bin."""


# Compiled code has a form of its own, which gives the same bins (`numba_internals`).
def bin_of(joules: float) -> int:
    """Return the bin of an application's Joules; the outermost bins hold what lies beyond.

    Examples
    --------
    >>> bool(EDGES[bin_of(0.3)] <= 0.3 < EDGES[bin_of(0.3) + 1])
    True
    """
    fraction, exponent = math.frexp(joules)
    place = (exponent - LOWEST) * PER_OCTAVE + int((fraction - 0.5) * (2 * PER_OCTAVE))
    return min(max(place, 0), BINS - 1)


def sparse(counts: ArrayLike) -> list[list[int]]:
    """Return the pairs of bin and count of the bins that hold anything.

    Examples
    --------
    >>> sparse(dense([[3, 5]]))
    [[3, 5]]
    """
    counts = np.asarray(counts)
    bins = np.flatnonzero(counts)
    return np.column_stack((bins, counts[bins])).tolist()


def dense(pairs: Iterable[Sequence[Any]]) -> Ints:
    """Return the counts of all bins from pairs of bin and count; equal bins add up.

    Raises
    ------
    InputError
        A bin does not exist, or a count is not a whole number from 0 to 2**62.
    """
    counts = np.zeros(BINS, np.int64)
    for place, count in pairs:
        if not (isinstance(place, int | np.integer) and 0 <= place < BINS):
            raise InputError("bin of a histogram", place, f"a whole number from 0 to {BINS - 1}")
        if not (isinstance(count, int | np.integer) and 0 <= count <= 2**62):
            raise InputError("count of a histogram", count, "a whole number from 0 to 2**62")
        counts[place] += count
    return counts


def quantiles(counts: ArrayLike, shares: Sequence[float]) -> list[float]:
    """Return quantiles in Joules, exact to the width of a bin (about 3 %); nan if all is empty.

    Examples
    --------
    >>> round(quantiles(dense([[bin_of(1.0), 9], [bin_of(8.0), 1]]), [0.5])[0], 2)
    1.02
    """
    total = np.cumsum(counts)
    if total[-1] == 0:
        return [math.nan] * len(shares)
    return CENTRES[np.searchsorted(total, np.asarray(shares) * total[-1])].tolist()


def density(counts: ArrayLike) -> tuple[Floats, Floats]:
    """Return Joules and the density of ln J there, its peak at 1: the outline of a violin.

    The kernel is Gaussian and its bandwidth Silverman's rule. Both arrays are empty if nothing was
    counted.
    """
    counts = np.asarray(counts)
    seen = np.flatnonzero(counts)
    if seen.size == 0:
        return np.zeros(0), np.zeros(0)
    at, total = np.log(CENTRES[seen]), float(counts[seen].sum())
    weight = counts[seen] / total
    sd = math.sqrt(float(weight @ (at - weight @ at) ** 2))
    width = max(0.9 * sd * total**-0.2, NARROWEST)
    grid = np.linspace(at[0] - 3 * width, at[-1] + 3 * width, POINTS)
    height = np.exp(-0.5 * ((grid[:, None] - at) / width) ** 2) @ weight
    return np.exp(grid), height / height.max()
