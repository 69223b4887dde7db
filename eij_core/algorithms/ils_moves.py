"""More operators for iterated local search: swap, segment and best-improvement scan."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..kernel import kernel
from ..records import Forecast, Outcome
from ..rng import below, draw_distinct
from .ils import OPERATORS, flip_all, toggle_all
from .portfolio import delta_of

__all__ = ["Scan", "Segment", "Swap"]


@kernel
class Swap(NamedTuple):
    """Exchange a one and a zero: the number of ones stays as it is."""

    bits: int = 2

    @property
    def name(self) -> str:
        """The name used everywhere."""
        return "swap"

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Tell what one application takes."""
        return Forecast(1, algorithm.steps + 1, self.bits * (algorithm.steps + 1))

    def probe(self, algorithm: Any) -> tuple[Any, Any]:
        """Return operator and algorithm for a search of one step, to learn the cost cheaply."""
        return self, algorithm._replace(steps=1)

    def propose(self, problem: Any, state: Any, rng: Any) -> int:
        """Put two positions with different bits into `state.bits`; one, if all bits are equal."""
        x, n = state.x, problem.n
        state.bits[0] = below(rng, n)
        place = below(rng, n)
        for _ in range(n):
            if x[place] != x[state.bits[0]]:
                state.bits[1] = place
                return 2
            place = place + 1 if place + 1 < n else 0
        return 1

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Run one local search by swaps."""
        return search(self, algorithm, problem, state, rng)


@kernel
class Segment(NamedTuple):
    """Invert a run of 2 to `longest` neighbouring bits; the string is a ring."""

    longest: int = 8

    @property
    def name(self) -> str:
        """The name used everywhere."""
        return "segment"

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Tell what one application takes."""
        mean = (2 + self.longest) // 2
        return Forecast(1, algorithm.steps + 1, mean * (algorithm.steps + 1))

    def probe(self, algorithm: Any) -> tuple[Any, Any]:
        """Return operator and algorithm for a search of one step, to learn the cost cheaply."""
        return self, algorithm._replace(steps=1)

    def propose(self, problem: Any, state: Any, rng: Any) -> int:
        """Put a run of positions into `state.bits`."""
        n = problem.n
        length = min(2 + below(rng, self.longest - 1), n)
        start = below(rng, n)
        for j in range(length):
            place = start + j
            state.bits[j] = place if place < n else place - n
        return length

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Run one local search by inverted segments."""
        return search(self, algorithm, problem, state, rng)


@kernel
class Scan(NamedTuple):
    """Perturb by `bits` flips, then look at all single flips and take the best, `passes` times."""

    bits: int = 3
    passes: int = 3

    @property
    def name(self) -> str:
        """The name used everywhere."""
        return "scan"

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Tell what one application takes at most."""
        return Forecast(1, 1 + self.passes * problem.n, self.bits + 2 * self.passes * problem.n)

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Climb by best improvement from the perturbed incumbent; stop early on a summit."""
        x, memo, n = state.x, state.memo, problem.n
        x[:] = state.best_x
        memo[:] = state.best_memo
        count = min(self.bits, n)
        draw_distinct(rng, n, state.bits, count)
        f = flip_all(problem, x, memo, state.bits, count)
        evaluations = 1
        for _ in range(self.passes):
            best = f
            place = -1
            for i in range(n):
                state.bits[0] = i
                new = problem.preview(x, memo, state.bits, 1)
                if new > best:
                    best = new
                    place = i
            evaluations += n
            if place < 0:
                break
            problem.toggle(x, memo, place)
            f = best
        return conclude(state, f, evaluations, count + 2 * (evaluations - 1))


@kernel
def search(operator: Any, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
    """Perturb the incumbent by one move, then take `steps` such moves, each if it is better."""
    x, memo = state.x, state.memo
    x[:] = state.best_x
    memo[:] = state.best_memo
    count = operator.propose(problem, state, rng)
    f = flip_all(problem, x, memo, state.bits, count)
    touches = count
    for _ in range(algorithm.steps):
        count = operator.propose(problem, state, rng)
        new = problem.preview(x, memo, state.bits, count)
        touches += count
        if new > f:
            f = new
            toggle_all(problem, x, memo, state.bits, count)
    return conclude(state, f, algorithm.steps + 1, touches)


@kernel
def conclude(state: Any, f: float, evaluations: int, touches: int) -> Any:
    """Compare the result of a local search with the incumbent, and keep the better."""
    delta = delta_of(f, state.best_f[0])
    if f > state.best_f[0]:
        state.best_x[:] = state.x
        state.best_memo[:] = state.memo
        state.best_f[0] = f
    state.deltas[0] = delta
    return Outcome(delta, evaluations, touches, state.deltas[:1])


OPERATORS.add("swap")(lambda: Swap())
OPERATORS.add("segment")(lambda: Segment())
OPERATORS.add("scan")(lambda: Scan())
