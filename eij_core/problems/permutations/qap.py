"""Quadratic assignment: facilities to places, so that little has to be carried far."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...engine.kernel import kernel
from ...engine.orders import exchange_places
from ...registry import Range, problems
from ..draws import draw, stream_of

SIZE = 1000


@kernel(space="permutation", sense="min")
class QAP(NamedTuple):
    """f(x) = Σᵢⱼ aᵢⱼ·b_{xᵢxⱼ}: facility i, with flows aᵢⱼ, is at place xᵢ, with distances b.

    The memo holds the cost. An exchange changes two rows and two columns, so its preview takes n
    steps.
    """

    n: int
    flows: NDArray[np.int64]
    distances: NDArray[np.int64]
    symmetric: bool
    """Whether both matrices are: a preview then reads rows alone."""
    optimum: float

    def fitness(self, x: Any) -> float:
        """Evaluate in full."""
        total: Any = 0
        for i in range(self.n):
            for j in range(self.n):
                total += self.flows[i, j] * self.distances[x[i], x[j]]
        return float(total)

    def prepare(self, x: Any) -> Any:
        """Return the memo of x: its cost."""
        return np.full(1, np.int64(self.fitness(x)))

    def exchange(self, x: Any, memo: Any, i: int, j: int) -> None:
        """Exchange the places of two facilities in x and memo."""
        memo[0] += change(self, x, i, j)
        exchange_places(x, i, j)

    def preview_exchange(self, x: Any, memo: Any, i: int, j: int) -> float:
        """Return the cost after exchanging the places of two facilities."""
        return float(memo[0] + change(self, x, i, j))


@kernel
def change(problem: Any, x: Any, i: int, j: int) -> Any:
    """Return by how much the cost changes if facilities i and j exchange their places."""
    a, b = problem.flows, problem.distances
    p, q = x[i], x[j]
    total: Any = 0
    for k in range(problem.n):
        total += (a[i, k] - a[j, k]) * (b[q, x[k]] - b[p, x[k]])
    # k = i and k = j are not as the others: taken off here, and put right below.
    total -= (a[i, i] - a[j, i]) * (b[q, p] - b[p, p])
    total -= (a[i, j] - a[j, j]) * (b[q, q] - b[p, q])
    if problem.symmetric:
        total *= 2
    else:
        for k in range(problem.n):
            if k != i and k != j:
                total += (a[k, i] - a[k, j]) * (b[x[k], q] - b[x[k], p])
    total += (a[i, i] - a[j, j]) * (b[q, q] - b[p, p])
    return total + (a[i, j] - a[j, i]) * (b[q, p] - b[p, q])


def build(flows: NDArray[np.int64], distances: NDArray[np.int64], optimum: float = math.nan) -> QAP:
    """Make the problem from its two matrices.

    Examples
    --------
    >>> problem = build(np.array([[0, 1], [2, 0]]), np.array([[0, 5], [7, 0]]))
    >>> problem.fitness(np.array([0, 1])), problem.fitness(np.array([1, 0]))
    (19.0, 17.0)
    """
    symmetric = bool((flows == flows.T).all() and (distances == distances.T).all())
    return QAP(len(flows), flows, distances, symmetric, optimum)


@problems.add("qap")
def qap(
    n: Annotated[int, Range(2, SIZE, "number of facilities and places")] = 30,
    density: Annotated[float, Range(0, 1, "share of the pairs with a flow")] = 0.5,
    instance: Annotated[int, Range(0, 2**31 - 1, "seed of flows and places")] = 1,
) -> QAP:
    """Quadratic assignment of facilities with random flows to places of a square grid.

    Examples
    --------
    >>> problem = qap(n=9)
    >>> problem.symmetric, int(problem.distances.max())
    (True, 4)
    """
    random = stream_of(instance)
    flows = draw(random, 1, 10, (n, n))
    flows[draw(random, 0, 999, (n, n)) >= round(1000 * density)] = 0
    flows = np.triu(flows, 1)
    places = np.stack(np.divmod(np.arange(n), math.isqrt(n - 1) + 1), axis=1)
    distances = np.abs(places[:, None] - places).sum(axis=2)
    return build(flows + flows.T, distances)
