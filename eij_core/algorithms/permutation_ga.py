"""Steady-state genetic algorithm on permutations: order and edge crossovers."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.kernel import kernel
from ..engine.orders import exchange_places, move_segment, reverse_segment, shuffle
from ..engine.rng import below, uniform
from ..protocols import Forecast, Operator, Outcome
from ..registry import Range, Registry, algorithms
from .portfolio import copy, delta_of, factory_of

OPERATORS: Registry[Operator] = Registry("permutation GA operator")

KINDS = ("order", "edge", "place")
ORDER, EDGE, PLACE = range(len(KINDS))
MOST_CHILDREN = 10


class HerdState(NamedTuple):
    """The population, and room for children."""

    best_x: NDArray[np.int64]
    best_f: NDArray[np.float64]
    members: NDArray[np.int64]
    fitness: NDArray[np.float64]
    children: NDArray[np.int64]
    children_f: NDArray[np.float64]
    edges: NDArray[np.int64]
    """Row a: the elements beside `a` in either parent, and how many are left."""
    used: NDArray[np.uint8]
    deltas: NDArray[np.float64]
    opening: int
    """Evaluations that the start took."""


@kernel
class Breed(NamedTuple):
    """Make `children` children by a crossover; each replaces the worst member if it is better."""

    kind: int
    """Which crossover: a number of `KINDS`."""
    children: int

    @property
    def name(self) -> str:
        """The name used everywhere: order-1, edge-5, …"""
        return f"{KINDS[self.kind]}-{self.children}"

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Return what one application takes."""
        return Forecast(self.children, self.children, self.children * problem.n)

    def probe(self, algorithm: Any) -> tuple[Any, Any]:
        """Return the operator for a single child, to learn the cost cheaply."""
        return self._replace(children=1), algorithm

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Breed all children from the population, then let them in."""
        gain = 0.0
        for c in range(self.children):
            child = state.children[c]
            first, second = tournament(state.fitness, rng), tournament(state.fitness, rng)
            mother, father = state.members[first], state.members[second]
            copy(child, mother)
            if uniform(rng) < algorithm.crossover:
                cross(self.kind, state, child, mother, father, rng)
            if uniform(rng) < algorithm.mutation:
                mutate(child, rng)
            state.children_f[c] = problem.fitness(child)
            best = max(state.fitness[first], state.fitness[second])
            state.deltas[c] = delta_of(state.children_f[c], best)
            gain += state.deltas[c]
        for c in range(self.children):
            let_in(state, state.children[c], state.children_f[c])
        touches = self.children * problem.n
        return Outcome(gain, self.children, touches, state.deltas[: self.children])


@kernel
def tournament(fitness: Any, rng: Any) -> int:
    """Return the better of two random members."""
    a = below(rng, fitness.size)
    b = below(rng, fitness.size)
    return a if fitness[a] >= fitness[b] else b


@kernel
def let_in(state: Any, child: Any, f: float) -> None:
    """Replace the worst member if the child is better and no member has its fitness."""
    worst = 0
    for m in range(state.fitness.size):
        if state.fitness[m] == f:
            return
        if state.fitness[m] < state.fitness[worst]:
            worst = m
    if f > state.fitness[worst]:
        copy(state.members[worst], child)
        state.fitness[worst] = f
    if f > state.best_f[0]:
        copy(state.best_x, child)
        state.best_f[0] = f


@kernel
def cross(kind: int, state: Any, child: Any, mother: Any, father: Any, rng: Any) -> None:
    """Fill `child`, which equals the mother, with what it takes from both parents."""
    if kind == EDGE:
        by_edges(state, child, mother, father, rng)
        return
    n, used = child.size, state.used
    a, b = below(rng, n), below(rng, n)
    low, high = min(a, b), max(a, b)
    for i in range(n):
        used[i] = 0
    for p in range(low, high + 1):
        used[mother[p]] = 1
    if kind == PLACE:  # what the father has outside stays at its place, where that is free
        for p in range(n):
            inside = low <= p <= high
            if not inside:
                child[p] = -1
                if used[father[p]] == 0:
                    child[p] = father[p]
                    used[father[p]] = 1
    else:
        for p in range(n):
            if not low <= p <= high:
                child[p] = -1
    # What is left comes in the father's order, from behind the segment on.
    p = high + 1 if high + 1 < n else 0
    q = p
    for _ in range(n):
        while used[father[q]] == 1 and child[p] < 0:
            q = q + 1 if q + 1 < n else 0
        if child[p] < 0:
            child[p] = father[q]
            used[father[q]] = 1
        p = p + 1 if p + 1 < n else 0


@kernel
def by_edges(state: Any, child: Any, mother: Any, father: Any, rng: Any) -> None:
    """Go from element to element by edges of the parents, to the one with the fewest left."""
    n, edges, used = child.size, state.edges, state.used
    for a in range(n):
        edges[a, 4] = 0
        used[a] = 0
    for p in range(n):
        after = p + 1 if p + 1 < n else 0
        join(edges, mother[p], mother[after])
        join(edges, father[p], father[after])
    here = mother[0]
    for p in range(n):
        child[p] = here
        used[here] = 1
        chosen: Any = -1
        fewest, ties = 5, 0
        for e in range(edges[here, 4]):
            c = edges[here, e]
            if used[c] == 1:
                continue
            left: Any = 0
            for g in range(edges[c, 4]):
                left += 1 - np.int64(used[edges[c, g]])
            ties = ties + 1 if left == fewest else 1 if left < fewest else ties
            if left < fewest or (left == fewest and below(rng, ties) == 0):
                fewest, chosen = left, c
        if chosen < 0 and p + 1 < n:  # no edge is left: the next free element from a random one
            chosen = below(rng, n)
            while used[chosen] == 1:
                chosen = chosen + 1 if chosen + 1 < n else 0
        here = chosen


@kernel
def join(edges: Any, a: int, b: int) -> None:
    """Note that a and b are neighbours, once."""
    for first, second in ((a, b), (b, a)):
        known = 0
        for e in range(edges[first, 4]):
            known += edges[first, e] == second
        if known == 0 and first != second:
            edges[first, edges[first, 4]] = second
            edges[first, 4] += 1


@kernel
def mutate(child: Any, rng: Any) -> None:
    """Exchange two places, reverse a segment or move one."""
    n = child.size
    if n < 2:
        return
    i = below(rng, n - 1)
    j = i + 1 + below(rng, n - 1 - i)
    kind = below(rng, 3)
    if kind == 0:
        exchange_places(child, i, j)
    elif kind == 1:
        reverse_segment(child, i, j)
    else:
        move_segment(child, i, j, j + 1 + below(rng, n - j))


for _kind, _name in enumerate(KINDS):
    for _children in range(1, MOST_CHILDREN + 1):
        OPERATORS.add(f"{_name}-{_children}")(
            lambda kind=_kind, children=_children: Breed(kind, children)
        )


@kernel(space="permutation")
class PermutationGA(NamedTuple):
    """Steady-state GA on permutations; an application makes k children and keeps the best of all.

    Order crossover keeps a segment of one parent and the order of the other, place crossover keeps
    places, edge recombination keeps neighbours.
    """

    operators: tuple[Any, ...]
    population: Annotated[int, Range(2, 100_000, "number of members")] = 100
    crossover: Annotated[float, Range(0, 1, "probability of crossover")] = 0.9
    mutation: Annotated[float, Range(0, 1, "probability of one random change")] = 0.5

    def begin(self, problem: Any, rng: Any) -> Any:
        """Start from random members."""
        n, size = problem.n, self.population
        members = np.empty((size, n), np.int64)
        fitness = np.empty(size)
        for m in range(size):
            shuffle(rng, members[m])
            fitness[m] = problem.fitness(members[m])
        best = np.argmax(fitness)
        return HerdState(
            members[best].copy(),
            np.full(1, fitness[best]),
            members,
            fitness,
            np.zeros((MOST_CHILDREN, n), np.int64),
            np.zeros(MOST_CHILDREN),
            np.zeros((n, 5), np.int64),
            np.zeros(n, np.uint8),
            np.zeros(MOST_CHILDREN),
            size,
        )


permutation_ga = algorithms.add("permutation-ga")(
    factory_of(
        "permutation-ga",
        PermutationGA,
        OPERATORS,
        "order-1+edge-5",
        f"order-, edge-, place- 1 … {MOST_CHILDREN} (children)",
    )
)
