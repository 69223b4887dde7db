"""Solutions of every space, and small problems on which algorithms are checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..engine.kernel import kernel
from ..engine.spaces import PERMUTATION, REAL

SIZE = 24


def solutions_of(problem: Any, space: str, random: np.random.Generator) -> list[Any]:
    """Return solutions of a problem: two corners and three at random."""
    n = problem.n
    if space == PERMUTATION:
        return [np.arange(n), np.arange(n)[::-1].copy(), *(random.permutation(n) for _ in "123")]
    if space == REAL:
        low, high = problem.bounds()
        drawn = [random.uniform(low, high, n) for _ in range(3)]
        return [np.full(n, float(low)), np.full(n, float(high)), *drawn]
    drawn = [random.integers(0, 2, n, dtype=np.uint8) for _ in range(3)]
    return [np.zeros(n, np.uint8), np.ones(n, np.uint8), *drawn]


@kernel(space="permutation")
class Order(NamedTuple):
    """A function of permutations, which counts its calls."""

    n: int
    function: Callable[[Any], float]

    def fitness(self, x: Any) -> float:
        """Call the function."""
        return self.function(x)


@kernel(space="real")
class Point(NamedTuple):
    """A function of real numbers, which counts its calls."""

    n: int
    function: Callable[[Any], float]
    low: float = -5.0
    high: float = 3.0

    def fitness(self, x: Any) -> float:
        """Call the function."""
        return self.function(x)


def roughness(x: Any) -> float:
    """Return how far apart neighbours in a permutation are, of which little is good."""
    return -float((np.abs(np.diff(x)) * (np.arange(x.size - 1) % 3 + 1)).sum())


def distance(x: Any) -> float:
    """Return how far a point is from the ones, of which little is good."""
    return -float(((x - 1.0) ** 2).sum())
