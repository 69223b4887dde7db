"""Quadratic functions of bits, sparse and in whole numbers: MaxCut and QUBO are both of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...engine.kernel import kernel


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


@kernel
def slope(problem: Any, x: Any, i: int) -> Any:
    """Return what the value gains by xᵢ = 1, as against xᵢ = 0."""
    total = problem.linear[i]
    for r in range(problem.first[i], problem.first[i + 1]):
        total += problem.couplings[r] * np.int64(x[problem.neighbours[r]])
    return total


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
