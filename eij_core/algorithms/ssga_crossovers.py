"""More operators for the steady-state GA: uniform and two-point crossover."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..bits import low_bits
from ..kernel import kernel
from ..records import Forecast, Outcome
from ..rng import below, uniform, word
from .portfolio import copy, delta_of
from .ssga import OPERATORS, evaluate, insert, mutate, tournament

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
            copy(child, state.genes[first])
            if uniform(rng) < algorithm.crossover:
                if self.kind == UNIFORM:
                    mix(child, state.genes[second], rng)
                else:
                    splice(child, state.genes[second], problem.n, rng)
            mutate(child, state, rng)
            f = evaluate(problem, state, child, first, second)
            state.children_f[c] = f
            delta = delta_of(f, max(state.fitness[first], state.fitness[second]))
            state.deltas[c] = delta
            gain += delta
        for c in range(self.children):
            insert(algorithm, problem, state, state.children[c], state.children_f[c])
        return Outcome(
            gain, self.children, self.children * problem.n, state.deltas[: self.children]
        )


@kernel
def mix(child: Any, other: Any, rng: Any) -> None:
    """Take each gene from the other parent with probability one half."""
    for w in range(child.size):
        child[w] ^= (child[w] ^ other[w]) & word(rng)


@kernel
def splice(child: Any, other: Any, n: int, rng: Any) -> None:
    """Take the genes between two cuts from the other parent."""
    a = below(rng, n + 1)
    b = below(rng, n + 1)
    for w in range(child.size):
        between = low_bits(a - 64 * w) ^ low_bits(b - 64 * w)
        child[w] ^= (child[w] ^ other[w]) & between


for _kind, _name in enumerate(KINDS):
    for _children in range(1, 11):
        OPERATORS.add(f"{_name}-{_children}")(
            lambda kind=_kind, children=_children: Cross(kind, children)
        )
