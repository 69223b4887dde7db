"""Iterated local search (Algorithm 4): perturb the best solution, then improve by the same move."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.kernel import completed, kernel
from ..engine.rng import below, draw_distinct, fill_bits
from ..errors import InputError
from ..protocols import Forecast, Operator, Outcome
from ..registry import Range, Registry, algorithms
from .portfolio import copy, delta_of, factory_of

OPERATORS: Registry[Operator] = Registry("ILS operator")


class IlsState(NamedTuple):
    """The incumbent, the working copy and their memos."""

    best_x: NDArray[np.uint8]
    best_f: NDArray[np.float64]
    best_memo: NDArray[np.int64]
    x: NDArray[np.uint8]
    memo: NDArray[np.int64]
    bits: NDArray[np.int64]
    """The positions of the present move."""
    deltas: NDArray[np.float64]
    opening: int
    """Evaluations that the start took."""


@kernel
def search(operator: Any, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
    """Perturb the incumbent by one move, then take `steps` such moves, each if it is better."""
    x, memo = state.x, state.memo
    copy(x, state.best_x)
    copy(memo, state.best_memo)
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


def forecast_search(self: Any, algorithm: Any, problem: Any) -> Forecast:
    """Return what one local search takes."""
    return Forecast(1, algorithm.steps + 1, self.bits * (algorithm.steps + 1))


def probe_search(self: Any, algorithm: Any) -> tuple[Any, Any]:
    """Return operator and algorithm for a search of one step, to learn the cost cheaply."""
    return self, algorithm._replace(steps=1)


def apply_search(self: Any, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
    """Run one local search by the moves that the operator proposes."""
    return search(self, algorithm, problem, state, rng)


searches = completed(forecast=forecast_search, probe=probe_search, apply=apply_search)
"""Make an operator a local search; it writes `name`, `bits` (of a move) and `propose`."""


@kernel
@searches
class Flip(NamedTuple):
    """Flip `bits` distinct bits."""

    bits: int

    @property
    def name(self) -> str:
        """The name used everywhere: flip-1, flip-5, …"""
        return f"flip-{self.bits}"

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Return what one application takes."""
        if self.bits > problem.n:  # distinct positions would be sought for ever
            raise InputError("ils:operators", self.name, f"at most {problem.n} bits to flip")
        return forecast_search(self, algorithm, problem)

    def propose(self, problem: Any, state: Any, rng: Any) -> int:
        """Put distinct positions into `state.bits`; return how many."""
        draw_distinct(rng, problem.n, state.bits, self.bits)
        return self.bits


@kernel
@searches
class Swap(NamedTuple):
    """Exchange a one and a zero: the number of ones stays as it is."""

    bits: int = 2

    @property
    def name(self) -> str:
        """The name used everywhere."""
        return "swap"

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


@kernel
@searches
class Segment(NamedTuple):
    """Invert a run of 2 to `longest` neighbouring bits; the string is a ring."""

    longest: Annotated[int, Range(2, 1000, "longest run")] = 8

    @property
    def name(self) -> str:
        """The name used everywhere."""
        return "segment"

    @property
    def bits(self) -> int:
        """Mean length of a run."""
        return (2 + self.longest) // 2

    def propose(self, problem: Any, state: Any, rng: Any) -> int:
        """Put a run of positions into `state.bits`."""
        n = problem.n
        length = min(2 + below(rng, self.longest - 1), n)
        start = below(rng, n)
        for j in range(length):
            place = start + j
            state.bits[j] = place if place < n else place - n
        return length


@kernel
class Scan(NamedTuple):
    """Perturb by `bits` flips, then look at all single flips and take the best, `passes` times."""

    bits: Annotated[int, Range(1, 1000, "bits that are flipped first")] = 3
    passes: Annotated[int, Range(1, 1000, "looks at all bits")] = 3

    @property
    def name(self) -> str:
        """The name used everywhere."""
        return "scan"

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Return what one application takes at most."""
        return Forecast(1, 1 + self.passes * problem.n, self.bits + 2 * self.passes * problem.n)

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Climb by best improvement from the perturbed incumbent; stop early on a summit."""
        x, memo, n = state.x, state.memo, problem.n
        copy(x, state.best_x)
        copy(memo, state.best_memo)
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
def conclude(state: Any, f: float, evaluations: int, touches: int) -> Any:
    """Compare the result of a local search with the incumbent, and keep the better."""
    delta = delta_of(f, state.best_f[0])
    if f > state.best_f[0]:
        copy(state.best_x, state.x)
        copy(state.best_memo, state.memo)
        state.best_f[0] = f
    state.deltas[0] = delta
    return Outcome(delta, evaluations, touches, state.deltas[:1])


@kernel
def toggle_all(problem: Any, x: Any, memo: Any, bits: Any, count: int) -> None:
    """Flip the first `count` positions of `bits`."""
    for j in range(count):
        problem.toggle(x, memo, bits[j])


@kernel
def flip_all(problem: Any, x: Any, memo: Any, bits: Any, count: int) -> float:
    """Flip the first `count` positions of `bits`; return the new fitness."""
    toggle_all(problem, x, memo, bits, count - 1)
    return problem.flip(x, memo, bits[count - 1])


for _bits in range(1, 11):
    OPERATORS.add(f"flip-{_bits}")(lambda bits=_bits: Flip(bits))
OPERATORS.add("swap")(Swap)
OPERATORS.add("segment")(Segment)
OPERATORS.add("scan")(Scan)


@kernel
class ILS(NamedTuple):
    """Iterated local search; every application perturbs the best solution and improves it."""

    operators: tuple[Any, ...]
    steps: Annotated[int, Range(1, 1_000_000, "local search steps per application")] = 100

    @property
    def tunable(self) -> tuple[str, ...]:
        """The parameters that an operator of a portfolio may have values of its own for."""
        return ("steps",)

    def begin(self, problem: Any, rng: Any) -> Any:
        """Start from one random solution."""
        x = np.empty(problem.n, np.uint8)
        fill_bits(rng, x)
        memo = problem.prepare(x)
        best_f = np.full(1, problem.fitness(x))
        bits = np.zeros(problem.n, np.int64)
        return IlsState(x, best_f, memo, x.copy(), memo.copy(), bits, np.zeros(1), 1)


ils = algorithms.add("ils")(
    factory_of("ils", ILS, OPERATORS, "flip-1+flip-5", "flip-1 … flip-10, swap, segment, scan")
)
