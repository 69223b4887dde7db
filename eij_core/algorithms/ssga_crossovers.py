"""More operators for the steady-state GA: uniform and two-point crossover."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernel import kernel
from ..records import Forecast, Outcome
from ..rng import below, skip, uniform, word
from .portfolio import delta_of
from .ssga import OPERATORS, insert, tournament

__all__ = ["Cross"]

KINDS = ("uniform", "two-point")
UNIFORM, TWO_POINT = range(2)


@kernel
class Cross(NamedTuple):
    """Make `children` children by another crossover; all else as with Replace."""

    kind: int
    children: int

    @property
    def name(self) -> str:
        """The name used everywhere: uniform-1, two-point-5, …"""
        return f"{KINDS[self.kind]}-{self.children}"

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Tell what one application takes."""
        return Forecast(self.children, self.children, self.children * problem.n)

    def probe(self, algorithm: Any) -> tuple[Any, Any]:
        """Return operator and algorithm for a single child, to learn the cost cheaply."""
        return self._replace(children=1), algorithm

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Breed the children from the present population, then let them replace the worst."""
        gain = 0.0
        for c in range(self.children):
            child = state.children[c]
            first = tournament(state.fitness, rng)
            second = tournament(state.fitness, rng)
            child[:] = state.members[first]
            if uniform(rng) < algorithm.crossover:
                if self.kind == UNIFORM:
                    mix(child, state.members[second], rng)
                else:
                    splice(child, state.members[second], rng)
            mutate(child, state.log_keep, rng)
            f = problem.fitness(child)
            state.children_f[c] = f
            delta = delta_of(f, max(state.fitness[first], state.fitness[second]))
            state.deltas[c] = delta
            gain += delta
        for c in range(self.children):
            insert(algorithm, state, state.children[c], state.children_f[c])
        return Outcome(
            gain, self.children, self.children * problem.n, state.deltas[: self.children]
        )


@kernel
def mix(child: Any, other: Any, rng: Any) -> None:
    """Take each gene from the other parent with probability one half."""
    bits = np.uint64(0)
    for i in range(child.size):
        if i % 64 == 0:
            bits = word(rng)
        if bits & np.uint64(1):
            child[i] = other[i]
        bits >>= np.uint64(1)


@kernel
def splice(child: Any, other: Any, rng: Any) -> None:
    """Take the genes between two cuts from the other parent."""
    a = below(rng, child.size + 1)
    b = below(rng, child.size + 1)
    low, high = min(a, b), max(a, b)
    child[low:high] = other[low:high]


@kernel
def mutate(child: Any, log_keep: float, rng: Any) -> None:
    """Flip each bit with the rate that `log_keep` stands for."""
    i = skip(rng, log_keep)
    while i < child.size:
        child[i] ^= 1
        i += 1 + skip(rng, log_keep)


for _kind, _name in enumerate(KINDS):
    for _children in range(1, 11):
        OPERATORS.add(f"{_name}-{_children}")(
            lambda kind=_kind, children=_children: Cross(kind, children)
        )
