"""Differential evolution on real numbers: steps are differences of members.

The four strategies are those between which operators have been selected since A. Fialho (2010).
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.kernel import kernel
from ..engine.rng import below, uniform
from ..protocols import Forecast, Operator, Outcome
from ..registry import Range, Registry, algorithms
from .portfolio import copy, delta_of, factory_of

OPERATORS: Registry[Operator] = Registry("DE operator")

STRATEGIES = ("rand-1", "rand-2", "rand-to-best-2", "current-to-rand-1")
RAND_1, RAND_2, RAND_TO_BEST_2, CURRENT_TO_RAND_1 = range(len(STRATEGIES))
MOST_CHILDREN = 10
OTHERS = 5
"""Members, all different, of which a step is made at most."""


class DeState(NamedTuple):
    """The population, and where the next child is made."""

    best_x: NDArray[np.float64]
    best_f: NDArray[np.float64]
    members: NDArray[np.float64]
    fitness: NDArray[np.float64]
    turn: NDArray[np.int64]
    """The member that the next child competes with."""
    others: NDArray[np.int64]
    x: NDArray[np.float64]
    """The child."""
    deltas: NDArray[np.float64]
    opening: int
    """Evaluations that the start took."""


@kernel
class Strategy(NamedTuple):
    """Make `children` children, each for the member whose turn it is, and keep the better."""

    number: int
    """Of `STRATEGIES`."""
    children: int = 1

    @property
    def name(self) -> str:
        """The name used everywhere: rand-1, rand-to-best-2, rand-1 x5, …"""
        name = STRATEGIES[self.number]
        return name if self.children == 1 else f"{name}-x{self.children}"

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Return what one application takes."""
        return Forecast(self.children, self.children, self.children * problem.n)

    def probe(self, algorithm: Any) -> tuple[Any, Any]:
        """Return the operator for a single child, to learn the cost cheaply."""
        return self._replace(children=1), algorithm

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Make the children one after another."""
        gain = 0.0
        low, high = problem.bounds()
        for c in range(self.children):
            m = state.turn[0]
            state.turn[0] = m + 1 if m + 1 < state.fitness.size else 0
            draw_others(state.others, m, state.fitness.size, rng)
            step(self.number, algorithm, state, m, low, high, rng)
            f = problem.fitness(state.x)
            state.deltas[c] = delta_of(f, state.fitness[m])
            gain += state.deltas[c]
            if f >= state.fitness[m]:
                copy(state.members[m], state.x)
                state.fitness[m] = f
                if f > state.best_f[0]:
                    state.best_f[0] = f
                    copy(state.best_x, state.x)
        touches = self.children * problem.n
        return Outcome(gain, self.children, touches, state.deltas[: self.children])


@kernel
def draw_others(others: Any, m: int, size: int, rng: Any) -> None:
    """Draw members that differ from each other and from `m`."""
    kept = 0
    while kept < others.size:
        drawn = below(rng, size)
        known = 0
        for k in range(kept):
            known += others[k] == drawn
        if known == 0 and drawn != m:
            others[kept] = drawn
            kept += 1


@kernel
def step(
    strategy: int, algorithm: Any, state: Any, m: int, low: float, high: float, rng: Any
) -> None:
    """Write the child of member `m` into `state.x`."""
    members, x, others = state.members, state.x, state.others
    a, b, c, d, e = others[0], others[1], others[2], others[3], others[4]
    n, scale = x.size, algorithm.scale
    always = below(rng, n)  # one coordinate at least comes from the step
    blend = uniform(rng)
    for i in range(n):
        here = members[m, i]
        if strategy == CURRENT_TO_RAND_1:
            value = here + blend * (members[a, i] - here)
            value += scale * (members[b, i] - members[c, i])
        elif i != always and uniform(rng) >= algorithm.crossover:
            value = here
        else:
            value = members[a, i] + scale * (members[b, i] - members[c, i])
            if strategy != RAND_1:
                value += scale * (members[d, i] - members[e, i])
            if strategy == RAND_TO_BEST_2:
                value += scale * (state.best_x[i] - members[a, i])
        # A coordinate beyond the bound comes to lie between it and the parent's.
        if value < low:
            value = low + uniform(rng) * (here - low)
        elif value > high:
            value = high - uniform(rng) * (high - here)
        x[i] = value


for _number, _name in enumerate(STRATEGIES):
    for _children in (1, 5, MOST_CHILDREN):
        _strategy = Strategy(_number, _children)
        OPERATORS.add(_strategy.name)(lambda strategy=_strategy: strategy)


@kernel(space="real")
class DE(NamedTuple):
    """Differential evolution; an application makes a child for the member whose turn it is."""

    operators: tuple[Any, ...]
    population: Annotated[int, Range(OTHERS + 1, 100_000, "number of members")] = 50
    scale: Annotated[float, Range(0, 2, "weight F of a difference", above=True)] = 0.5
    crossover: Annotated[float, Range(0, 1, "share CR of coordinates from the step")] = 0.9

    def begin(self, problem: Any, rng: Any) -> Any:
        """Start from uniform members."""
        low, high = problem.bounds()
        members = np.empty((self.population, problem.n))
        fitness = np.empty(self.population)
        for m in range(self.population):
            for i in range(problem.n):
                members[m, i] = low + (high - low) * uniform(rng)
            fitness[m] = problem.fitness(members[m])
        best = np.argmax(fitness)
        return DeState(
            members[best].copy(),
            np.full(1, fitness[best]),
            members,
            fitness,
            np.zeros(1, np.int64),
            np.zeros(OTHERS, np.int64),
            np.zeros(problem.n),
            np.zeros(MOST_CHILDREN),
            self.population,
        )


de = algorithms.add("de")(
    factory_of(
        "de", DE, OPERATORS, "+".join(STRATEGIES), f"{', '.join(STRATEGIES)}, each also -x5, -x10"
    )
)
