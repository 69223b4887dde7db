"""Tabu search on bits: take the best flip that is not forbidden, kick where that leads nowhere.

Every step looks at all single flips. Problems that keep the change by each flip in their memo, as
MaxCut and QUBO do, answer each look without a sum.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.kernel import kernel
from ..engine.rng import below, draw_distinct, fill_bits
from ..protocols import Forecast, Operator, Outcome
from ..registry import Range, Registry, algorithms
from .portfolio import copy, delta_of, factory_of

OPERATORS: Registry[Operator] = Registry("tabu operator")

SPREAD = 10
"""A tenure is up to so many steps longer, by chance."""
SHORT, LONG = 100, 20
"""Tenures are n divided by this, and a little more."""
KICKS = (2, 5, 10, 20, 50)


class TabuState(NamedTuple):
    """The incumbent, where the search is, and until when flips are forbidden."""

    best_x: NDArray[np.uint8]
    best_f: NDArray[np.float64]
    best_memo: NDArray[np.int64]
    x: NDArray[np.uint8]
    memo: NDArray[np.int64]
    f: NDArray[np.float64]
    """The fitness of x."""
    until: NDArray[np.int64]
    """The step before which a bit must not be flipped again."""
    step: NDArray[np.int64]
    bits: NDArray[np.int64]
    deltas: NDArray[np.float64]
    opening: int
    """Evaluations that the start took."""


@kernel
class Walk(NamedTuple):
    """Take `steps` steps, each the best flip that is not forbidden or that beats the incumbent.

    Without a kick the walk goes on where the last one ended. With one it begins at the incumbent,
    `percent` of whose bits are flipped at random (breakout).
    """

    share: int
    """The tenure is n divided by this."""
    percent: int = 0

    @property
    def name(self) -> str:
        """The name used everywhere: short, long, kick-5, …"""
        if self.percent:
            return f"kick-{self.percent}"
        return "short" if self.share == SHORT else "long"

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Return what one application takes."""
        kick = 1 if self.percent else 0
        looks = algorithm.steps * problem.n
        return Forecast(1, looks + kick, looks + kick * problem.n)

    def probe(self, algorithm: Any) -> tuple[Any, Any]:
        """Return operator and algorithm for a walk of one step, to learn the cost cheaply."""
        return self, algorithm._replace(steps=1)

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Kick, if this is a kick, and walk."""
        n, before = problem.n, state.best_f[0]
        evaluations = algorithm.steps * n
        touches = evaluations
        if self.percent > 0:
            kick(problem, state, max(1, self.percent * n // 100), rng)
            evaluations += 1
            touches += n
        reached = -np.inf
        for _ in range(algorithm.steps):
            state.step[0] += 1
            i = best_flip(problem, state, rng)
            problem.toggle(state.x, state.memo, i)
            state.until[i] = state.step[0] + 1 + n // self.share + below(rng, SPREAD)
            reached = max(reached, state.f[0])
            if state.f[0] > state.best_f[0]:
                state.best_f[0] = state.f[0]
                copy(state.best_x, state.x)
                copy(state.best_memo, state.memo)
        state.deltas[0] = delta_of(reached, before)
        return Outcome(state.deltas[0], evaluations, touches, state.deltas[:1])


@kernel
def kick(problem: Any, state: Any, count: int, rng: Any) -> None:
    """Go back to the incumbent and flip `count` bits of it."""
    copy(state.x, state.best_x)
    copy(state.memo, state.best_memo)
    draw_distinct(rng, problem.n, state.bits, count)
    for j in range(count - 1):
        problem.toggle(state.x, state.memo, state.bits[j])
    state.f[0] = problem.flip(state.x, state.memo, state.bits[count - 1])


@kernel
def best_flip(problem: Any, state: Any, rng: Any) -> int:
    """Return the bit to flip, ties by chance, and enter the fitness after it in the state."""
    best, free, ties = -1, -np.inf, 0
    for i in range(problem.n):
        state.bits[0] = i
        new = problem.preview(state.x, state.memo, state.bits, 1)
        forbidden = state.until[i] > state.step[0] and new <= state.best_f[0]
        if forbidden or new < free:
            continue
        ties = ties + 1 if new == free else 1
        if ties == 1 or below(rng, ties) == 0:
            free, best = new, i
    if best < 0:  # everything is forbidden: any bit
        best = below(rng, problem.n)
        state.bits[0] = best
        free = problem.preview(state.x, state.memo, state.bits, 1)
    state.f[0] = free
    return best


OPERATORS.add("short")(lambda: Walk(SHORT))
OPERATORS.add("long")(lambda: Walk(LONG))
for _percent in KICKS:
    OPERATORS.add(f"kick-{_percent}")(lambda percent=_percent: Walk(SHORT, percent))


@kernel
class Tabu(NamedTuple):
    """Tabu search with breakout kicks; an application is a walk of some steps."""

    operators: tuple[Any, ...]
    steps: Annotated[int, Range(1, 1_000_000, "steps of a walk, each looks at all flips")] = 500

    def begin(self, problem: Any, rng: Any) -> Any:
        """Start from one random solution."""
        n = problem.n
        x = np.empty(n, np.uint8)
        fill_bits(rng, x)
        memo = problem.prepare(x)
        f = np.full(1, problem.fitness(x))
        return TabuState(
            x,
            f,
            memo,
            x.copy(),
            memo.copy(),
            f.copy(),
            np.zeros(n, np.int64),
            np.zeros(1, np.int64),
            np.zeros(n, np.int64),
            np.zeros(1),
            1,
        )


tabu = algorithms.add("tabu")(
    factory_of("tabu", Tabu, OPERATORS, "long+kick-2", "short, long, kick- 2, 5, 10, 20, 50")
)
