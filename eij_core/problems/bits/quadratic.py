"""Quadratic functions of bits, sparse and in whole numbers: MaxCut and QUBO are both of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...drawing import (
    MOST,
    Boxes,
    Drawing,
    Lines,
    Points,
    cells,
    chosen,
    edges,
    kept,
    on_circle,
    sampled,
)
from ...engine.kernel import kernel

GRAPH, BARS = 300, 400
"""Vertices of a graph, and bars, that a picture can show one by one."""


@kernel
class Quadratic(NamedTuple):
    """f(x) = Σᵢ aᵢxᵢ + Σ_{i<j} cᵢⱼxᵢxⱼ, maximised.

    The memo keeps the slope of every bit, aᵢ + Σⱼ cᵢⱼxⱼ: what xᵢ = 1 adds to xᵢ = 0. So the value
    of one flip is known without a look at its neighbours, and a flip costs as many steps as the bit
    has neighbours, whatever n is.
    """

    n: int
    linear: NDArray[np.int64]
    """The aᵢ."""
    first: NDArray[np.uint64]
    """Where the neighbours of bit i begin in `neighbours`; of length n + 1."""
    neighbours: NDArray[np.uint32]
    """The j with cᵢⱼ ≠ 0, in rising order.

    Unsigned: numba then need not check whether an index counts from the end.
    """
    couplings: NDArray[np.int64]
    """Their cᵢⱼ; each stands in the row of i and in that of j."""
    optimum: float

    def fitness(self, x: Any) -> float:
        """Evaluate in full."""
        twice: Any = 0
        for i in range(self.n):
            if x[i] == 1:
                twice += self.linear[i] + slope(self, x, i)
        return float(twice // 2)

    def prepare(self, x: Any) -> Any:
        """Return the memo of x: the slope of every bit, and the value."""
        memo = np.empty(self.n + 1, np.int64)
        twice: Any = 0
        for i in range(self.n):
            memo[i] = slope(self, x, i)
            twice += (self.linear[i] + memo[i]) * np.int64(x[i])
        memo[self.n] = twice // 2
        return memo

    def toggle(self, x: Any, memo: Any, i: int) -> None:
        """Flip bit `i` in x and memo."""
        sign = 1 - 2 * np.int64(x[i])
        memo[self.n] += sign * memo[i]
        for r in range(self.first[i], self.first[i + 1]):
            memo[self.neighbours[r]] += sign * self.couplings[r]
        x[i] ^= 1

    def flip(self, x: Any, memo: Any, i: int) -> float:
        """Flip bit `i` in x and memo; return the new fitness."""
        self.toggle(x, memo, i)
        return float(memo[self.n])

    def preview(self, x: Any, memo: Any, bits: Any, count: int) -> float:
        """Return the fitness with the first `count` positions of `bits` flipped."""
        i = bits[0]
        total = memo[self.n] + (1 - 2 * np.int64(x[i])) * memo[i]
        for j in range(1, count):  # the slopes in the memo are those of x without any flip
            x[bits[j - 1]] ^= 1
            i = bits[j]
            total += (1 - 2 * np.int64(x[i])) * slope(self, x, i)
        for j in range(1, count):
            x[bits[j - 1]] ^= 1
        return float(total)

    def reach(self) -> int:
        """Return up to how many flips a preview is quicker than a full evaluation."""
        return 1 + self.n // 4

    def picture(self, x: Any) -> Drawing:
        """Draw a cut as a graph in two colours, another function by what each bit adds."""
        rows = np.repeat(
            np.arange(self.n), self.first[1:].astype(np.int64) - self.first[:-1].astype(np.int64)
        )
        twice = 2 * self.linear + np.bincount(rows, self.couplings, self.n)
        if twice.any() or not rows.size:
            return _slopes(self, x, rows)
        # x and its complement have one value: the function weighs the edges of a cut.
        if self.n <= GRAPH and rows.size <= 2 * MOST:
            return _graph(self, x, rows)
        return _sides(self, x, rows)


@kernel
def slope(problem: Any, x: Any, i: int) -> Any:
    """Return what the value gains by xᵢ = 1, as against xᵢ = 0."""
    total = problem.linear[i]
    for r in range(problem.first[i], problem.first[i + 1]):
        total += problem.couplings[r] * np.int64(x[problem.neighbours[r]])
    return total


def _graph(problem: Any, x: Any, rows: Any) -> Drawing:
    """Draw the vertices on a circle, the edges between the sides above those within."""
    n = problem.n
    across, along = on_circle(n)
    pairs = np.stack([rows, problem.neighbours], axis=1).astype(np.int64)
    once = rows < problem.neighbours
    pairs, weights = pairs[once], -problem.couplings[once] // 2
    cut = np.zeros(len(pairs), bool) if x is None else x[pairs[:, 0]] != x[pairs[:, 1]]
    ones = chosen(x, np.arange(n))
    size = 9.0 if n <= 120 else 5.0
    first = "soft" if x is None else "c0"  # without a solution there are no sides
    held = f"{int(cut.sum()):,} of {len(pairs):,} edges are cut, weight {weights[cut].sum():,}"
    return Drawing(
        (
            edges(
                across,
                along,
                pairs[~cut],
                colour="soft",
                width=0.8,
                alpha=0.35,
                label="within a side",
            ),
            edges(across, along, pairs[cut], colour="c2", width=0.8, alpha=0.6, label="cut"),
            Points(across[~ones], along[~ones], colour=first, size=size, label="side 0"),
            Points(across[ones], along[ones], colour="c1", size=size, label="side 1"),
        ),
        f"{n:,} vertices, {len(pairs):,} edges; no sides yet." if x is None else f"{held}.",
        equal=True,
    )


def _sides(problem: Any, x: Any, rows: Any) -> Drawing:
    """Draw a cell for each vertex, or stretch of them: its side, and how many edges are cut."""
    n = problem.n
    stretch = -(-n // MOST)
    count = -(-n // stretch)
    side, cut = np.zeros(n), np.zeros(rows.size)
    if x is not None:
        side, cut = x.astype(float), (x[rows] != x[problem.neighbours]).astype(float)
    place = np.arange(n) // stretch
    edges_of = np.maximum(np.bincount(place[rows], minlength=count), 1)
    share = np.bincount(place[rows], cut, count) / edges_of
    ones = np.bincount(place, side, count) / np.bincount(place, minlength=count)
    each = "a vertex" if stretch == 1 else f"{stretch} neighbouring vertices"
    return Drawing(
        (
            cells(count, colour="soft", shade=0.12),
            cells(count, colour="c0", shade=share * (1 - ones), label="side 0"),
            cells(count, colour="c1", shade=share * ones, label="side 1"),
        ),
        f"{n:,} vertices, {rows.size // 2:,} edges; "
        + ("no sides yet." if x is None else f"{int(cut.sum()) // 2:,} are cut."),
        f"A cell is {each}: its colour is the side, its strength the share of the edges cut.",
        equal=True,
    )


def _slopes(problem: Any, x: Any, rows: Any) -> Drawing:
    """Draw what each bit adds, or would add: where no flip helps, ones are above 0, zeros below."""
    n = problem.n
    drawn = kept(n, BARS)
    ones, slopes = chosen(x, drawn), np.zeros(n)
    if x is not None:
        terms = problem.couplings * x[problem.neighbours].astype(np.int64)
        slopes = problem.linear + np.bincount(rows, terms, n)
    wrong = 0 if x is None else int((((slopes > 0) & (x == 0)) | ((slopes < 0) & (x == 1))).sum())
    bars = [
        Boxes(
            drawn[is_] - 0.42,
            np.minimum(height, 0),
            drawn[is_] + 0.42,
            np.maximum(height, 0),
            colour=colour,
            label=label,
            shade=0.85,
        )
        for is_, colour, label in (
            (ones, "c0", "1: what it adds"),
            (~ones, "c1", "0: what it would add"),
        )
        for height in (slopes[drawn][is_],)
    ]
    helps = "no flip of one bit helps" if not wrong else f"{wrong:,} flips of one bit would help"
    return Drawing(
        (Lines((-0.5, n - 0.5), (0, 0), colour="ink", width=1.0), *bars),
        f"{n:,} bits; {'no solution yet' if x is None else helps}.",
        sampled(n, "bit", BARS),
        "bit",
        "change of the value by this bit",
    )


def build(
    linear: NDArray[np.int64],
    pairs: NDArray[np.int64],
    couplings: NDArray[np.int64],
    optimum: float,
) -> Quadratic:
    """Make the problem from its pairs; a pair that is given twice has the sum of its couplings.

    Parameters
    ----------
    linear : array
        The aᵢ.
    pairs : array of two columns
        Bits that are coupled, from 0, in any order.
    couplings : array
        One for each pair.
    optimum : float
        The largest value; nan where it is unknown.

    Examples
    --------
    >>> problem = build(np.array([1, 1]), np.array([[1, 0]]), np.array([-3]), 1.0)
    >>> problem.fitness(np.array([1, 1], np.uint8)), problem.fitness(np.array([0, 1], np.uint8))
    (-1.0, 1.0)
    """
    n = len(linear)
    codes = np.concatenate([pairs[:, 0] * n + pairs[:, 1], pairs[:, 1] * n + pairs[:, 0]])
    codes, places = np.unique(codes, return_inverse=True)
    sums = np.zeros(codes.size, np.int64)
    np.add.at(sums, places, np.concatenate([couplings, couplings]))
    codes, sums = codes[sums != 0], sums[sums != 0]
    first = np.searchsorted(codes, np.arange(n + 1) * n).astype(np.uint64)
    return Quadratic(n, linear, first, (codes % n).astype(np.uint32), sums, optimum)
