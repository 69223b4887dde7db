"""Iterated local search (Algorithm 4): perturb the best, then improve by the same move."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..kernel import kernel
from ..records import Forecast, Outcome
from ..registry import Range, Registry, algorithms
from ..rng import draw_distinct, fill_bits
from .portfolio import copy, delta_of, portfolio

__all__ = ["ILS", "OPERATORS", "Flip", "IlsState", "ils"]

OPERATORS = Registry("ILS operator")


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
class Flip(NamedTuple):
    """Perturb by `bits` distinct flips, then take `steps` moves of as many flips, if better."""

    bits: int

    @property
    def name(self) -> str:
        """The name used everywhere: flip-1, flip-5, …"""
        return f"flip-{self.bits}"

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Tell what one application takes."""
        if self.bits > problem.n:  # distinct positions would be sought for ever
            raise InputError("ils:operators", self.name, f"at most {problem.n} bits to flip")
        return Forecast(1, algorithm.steps + 1, self.bits * (algorithm.steps + 1))

    def probe(self, algorithm: Any) -> tuple[Any, Any]:
        """Return operator and algorithm for a search of one step, to learn the cost cheaply."""
        return self, algorithm._replace(steps=1)

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Run one local search from the perturbed incumbent."""
        x, memo, bits = state.x, state.memo, state.bits
        copy(x, state.best_x)
        copy(memo, state.best_memo)
        draw_distinct(rng, problem.n, bits, self.bits)
        f = flip_all(problem, x, memo, bits, self.bits)
        for _ in range(algorithm.steps):
            draw_distinct(rng, problem.n, bits, self.bits)
            new = problem.preview(x, memo, bits, self.bits)
            if new > f:
                f = new
                toggle_all(problem, x, memo, bits, self.bits)
        delta = delta_of(f, state.best_f[0])
        if f > state.best_f[0]:
            copy(state.best_x, x)
            copy(state.best_memo, memo)
            state.best_f[0] = f
        state.deltas[0] = delta
        evaluations = algorithm.steps + 1
        return Outcome(delta, evaluations, self.bits * evaluations, state.deltas[:1])


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


@kernel
class ILS(NamedTuple):
    """Iterated local search; each operator perturbs the incumbent and improves the result."""

    operators: tuple[Any, ...]
    steps: int = 100

    def begin(self, problem: Any, rng: Any) -> Any:
        """Start from one random solution."""
        x = np.empty(problem.n, np.uint8)
        fill_bits(rng, x)
        memo = problem.prepare(x)
        best_f = np.full(1, problem.fitness(x))
        bits = np.zeros(problem.n, np.int64)
        return IlsState(x, best_f, memo, x.copy(), memo.copy(), bits, np.zeros(1), 1)


@algorithms.add("ils")
def ils(
    operators: Annotated[
        str, Range(about="names joined by +, from: flip-1 … flip-10, swap, segment, scan")
    ] = ("flip-1+flip-5"),
    steps: Annotated[int, Range(1, 1_000_000, "local search steps per application")] = 100,
) -> ILS:
    """Iterated local search; every application perturbs the best solution and improves it.

    Examples
    --------
    >>> [operator.name for operator in ils().operators]
    ['flip-1', 'flip-5']
    """
    return ILS(portfolio("ils", operators, OPERATORS), steps)
