"""The multidimensional knapsack: one choice of items under several capacities."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...drawing import MOST, Drawing, Lines, bars, kept
from ...engine.kernel import kernel
from ...errors import InputError
from ...registry import Range, problems
from ..draws import draw, stream_of

WEIGHTS = 2_000_000
# Chu and Beasley: weights up to 1000; a profit is the mean weight and up to 500 more.
HEAVIEST, BONUS = 1000, 500
DRAWN = 20
"""Capacities of a picture."""


@kernel
class MKP(NamedTuple):
    """f(x) = Σ pᵢxᵢ − K·Σⱼ max(0, Σᵢ wᵢⱼxᵢ − Cⱼ), with K = 1 + max pᵢ.

    Numbers with decimals are kept as whole multiples of a power of ten. So a unit of excess weight
    costs more than any item is worth: to take an item out of an overfull knapsack is always better,
    and the best solutions keep every capacity.
    """

    n: int
    profits: NDArray[np.int64]
    weights: NDArray[np.int64]
    """Row i: what item i weighs in each constraint."""
    capacities: NDArray[np.int64]
    penalty: int
    unit: float
    """The power of ten that profits are multiplied by."""
    optimum: float

    def fitness(self, x: Any) -> float:
        """Evaluate a selection of items in full."""
        return value(self, self.prepare(x))

    def prepare(self, x: Any) -> Any:
        """Return the memo of x: its weight in each constraint, and its profit."""
        constraints = self.capacities.size
        memo = np.zeros(constraints + 1, np.int64)
        for i in range(self.n):
            if x[i] == 1:
                memo[constraints] += self.profits[i]
                for j in range(constraints):
                    memo[j] += self.weights[i, j]
        return memo

    def toggle(self, x: Any, memo: Any, i: int) -> None:
        """Put item `i` in or out."""
        put(self, memo, i, 1 - 2 * np.int64(x[i]))
        x[i] ^= 1

    def flip(self, x: Any, memo: Any, i: int) -> float:
        """Put item `i` in or out; return the new fitness."""
        self.toggle(x, memo, i)
        return value(self, memo)

    def preview(self, x: Any, memo: Any, bits: Any, count: int) -> float:
        """Return the fitness with the first `count` items of `bits` put in or out."""
        for k in range(count):
            put(self, memo, bits[k], 1 - 2 * np.int64(x[bits[k]]))
        f = value(self, memo)
        for k in range(count):
            put(self, memo, bits[k], 2 * np.int64(x[bits[k]]) - 1)
        return f

    def reach(self) -> int:
        """Return up to how many flips a preview is quicker than a full evaluation."""
        return 1 + self.n // 8

    def feasible(self, x: Any) -> bool:
        """Tell whether the selection keeps every capacity."""
        return bool((self.prepare(x)[:-1] <= self.capacities).all())

    def picture(self, x: Any) -> Drawing:
        """Draw every capacity as a bar, filled by the items that are taken."""
        drawn = kept(self.capacities.size, DRAWN)
        items = np.zeros(0, int) if x is None else np.flatnonzero(x)
        # As shares of the capacity; one of 0 is full by any weight.
        share = self.weights[items][:, drawn] / np.maximum(self.capacities[drawn], 1)
        ends = np.cumsum(share, axis=0) if items.size else np.zeros((1, drawn.size))
        total = ends[-1]
        over = np.flatnonzero(total > 1.0)
        if items.size * drawn.size > MOST:
            share, ends, items = total[None], total[None], items[:1]
        row = np.tile(np.arange(drawn.size), items.size)
        ends = ends[: items.size].ravel()
        shade = np.tile((0.85, 0.6), items.size)[: items.size].repeat(drawn.size)
        frame = bars(np.arange(drawn.size), 0 * total, 0 * total + 1, colour="soft", shade=0.16)
        begin = ends - share.ravel()
        excess = bars(over, 0 * over + 1, total[over], colour="bad", label="too much")
        edge = Lines((1, 1), (0.6 - drawn.size, 0.5), colour="ink", dashed=True, label="capacity")
        count = 0 if x is None else int(np.sum(x))
        every = self.capacities.size
        fit = "all capacities hold" if not over.size else f"{over.size} capacities are exceeded"
        return Drawing(
            (
                frame,
                bars(row, begin, ends, colour="c0", shade=shade, label="items taken"),
                excess,
                edge,
            ),
            f"{count:,} of {self.n:,} items taken" + (f"; {fit}." if x is not None else "."),
            f"{drawn.size} of {every:,} capacities are drawn." if drawn.size < every else "",
            "share of the capacity",
            rows=[f"capacity {j + 1}" for j in drawn],
        )


@kernel
def put(problem: Any, memo: Any, i: int, sign: Any) -> None:
    """Add item `i` to a memo, or take it away by the sign -1."""
    constraints = problem.capacities.size
    memo[constraints] += sign * problem.profits[i]
    for j in range(constraints):
        memo[j] += sign * problem.weights[i, j]


@kernel
def value(problem: Any, memo: Any) -> float:
    """Return the fitness of a selection with these weights and this profit."""
    constraints = problem.capacities.size
    excess = 0
    for j in range(constraints):
        excess += max(0, memo[j] - problem.capacities[j])
    return float(memo[constraints] - problem.penalty * excess) / problem.unit


def build(
    profits: NDArray[np.int64],
    weights: NDArray[np.int64],
    capacities: NDArray[np.int64],
    unit: float = 1.0,
    optimum: float = math.nan,
) -> MKP:
    """Make the problem from its numbers; a row of `weights` belongs to an item."""
    penalty = int(profits.max()) + 1
    return MKP(len(profits), profits, weights, capacities, penalty, unit, optimum)


@problems.add("mkp")
def mkp(
    n: Annotated[int, Range(1, 100_000, "number of items")] = 100,
    m: Annotated[int, Range(1, 1000, "number of constraints")] = 5,
    tightness: Annotated[float, Range(0.0, 1.0, "capacity as a share of all weights")] = 0.5,
    instance: Annotated[int, Range(0, 2**31 - 1, "seed of profits and weights")] = 1,
) -> MKP:
    """Multidimensional knapsack, drawn as Chu and Beasley's instances are.

    Weights are from 1 to 1000. The profit of an item is its mean weight and up to 500 more, so that
    dear items are heavy.

    Examples
    --------
    >>> problem = mkp(n=10, m=2)
    >>> problem.n, problem.capacities.size
    (10, 2)
    """
    if n * m > WEIGHTS:
        raise InputError("mkp:m", m, f"n * m at most {WEIGHTS}: lower n or m")
    random = stream_of(instance)
    weights = draw(random, 1, HEAVIEST, (n, m))
    profits = weights.sum(axis=1) // m + draw(random, 0, BONUS, n)
    capacities = np.floor(tightness * weights.sum(axis=0)).astype(np.int64)
    return build(profits, weights, capacities)
