"""Iterated local search on permutations: kick the best one, descend, and keep what is no worse.

The search works on the best permutation itself. A journal of the changes undoes an application
that ends worse, so an application takes as long as its changes, whatever n is.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ..engine.kernel import kernel
from ..engine.orders import shuffle
from ..engine.rng import below
from ..errors import InputError
from ..protocols import Forecast, Operator, Outcome
from ..registry import Range, Registry, algorithms
from .order_journal import (
    CHANGES,
    EVALUATIONS,
    EXCHANGED,
    MOVED,
    NOTHING,
    REVERSED,
    TOUCHES,
    WAITING,
    OrderState,
    make,
    preview,
    put,
    take,
    undo,
)
from .portfolio import delta_of, factory_of

OPERATORS: Registry[Operator] = Registry("permutation ILS operator")

NEIGHBOURHOODS = ("two-opt", "or-opt", "or-2opt", "exchange", "insertion")
TWO_OPT, OR_OPT, OR_2OPT, EXCHANGE, INSERTION = range(len(NEIGHBOURHOODS))
SHAPES = (2, 6, 8, 1, 1)
"""In how many ways a neighbourhood brings two elements together."""
KICKS = (1, 2, 3, 5, 8)
LONGEST_KICK = 50
"""Up to so many places a kick moves: a double bridge whose ends are near each other."""


@kernel
class Descent(NamedTuple):
    """Kick the incumbent, then descend in one neighbourhood from what the kick has touched.

    Where an earlier descent was cut off, the next one goes on without a kick. Two-opt reverses
    segments, or-opt moves segments of up to three, or-2opt does both; they are kicked by double
    bridges. Exchange and insertion are kicked by exchanges.
    """

    neighbourhood: int
    """A number of `NEIGHBOURHOODS`."""
    kicks: int

    @property
    def name(self) -> str:
        """The name used everywhere: two-opt-1, exchange-3, …"""
        return f"{NEIGHBOURHOODS[self.neighbourhood]}-{self.kicks}"

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Return what one application takes at most."""
        if problem.n < 2:
            raise InputError("permutation-ils", f"n = {problem.n}", "at least 2 elements")
        return Forecast(1, algorithm.steps + 1, algorithm.steps)

    def probe(self, algorithm: Any) -> tuple[Any, Any]:
        """Return operator and algorithm for a descent of one step, to learn the cost cheaply."""
        return self, algorithm._replace(steps=1)

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Kick and descend; undo all of it if the end is worse than the start."""
        tally = state.tally
        tally[CHANGES] = tally[EVALUATIONS] = tally[TOUCHES] = 0
        before = state.best_f[0]
        f = before
        if tally[WAITING] == 0:
            f = kick(self, problem, state, rng)
        near = problem.near()
        most = algorithm.steps + tally[EVALUATIONS]
        while tally[WAITING] > 0 and tally[EVALUATIONS] < most:
            a = take(state)
            new = improve(self.neighbourhood, problem, state, near, a, f, most, rng)
            if new > f or tally[EVALUATIONS] >= most:
                put(state, a)
            f = new
        if f < before:
            undo(problem, state)
        state.best_f[0] = max(f, before)
        evaluations = tally[EVALUATIONS]
        if evaluations == 0:  # the queue held nothing to try: the incumbent stands as it was
            evaluations += 1
            f = problem.preview_exchange(state.best_x, state.memo, 0, 0)
        state.deltas[0] = delta_of(f, before)
        return Outcome(state.deltas[0], evaluations, tally[TOUCHES], state.deltas[:1])


@kernel
def kick(operator: Any, problem: Any, state: Any, rng: Any) -> float:
    """Change the incumbent at random; return the fitness, the one evaluation."""
    n, f, k = problem.n, 0.0, 0
    by_exchange = operator.neighbourhood == EXCHANGE or operator.neighbourhood == INSERTION
    kind = EXCHANGED if by_exchange else MOVED
    longest = n if by_exchange else max(1, min(LONGEST_KICK, n // 3))
    for each in range(operator.kicks):
        i = below(rng, n - 1)
        j = i + 1 + below(rng, min(longest, n - 1 - i))
        if not by_exchange:
            k = j + 1 + below(rng, min(longest, n - j))
        if each + 1 == operator.kicks:
            f = preview(problem, state, kind, i, j, k)
        make(problem, state, kind, i, j, k)
    return f


# --- neighbourhoods -------------------------------------------------------------------------------


@kernel
def improve(
    kind: int, problem: Any, state: Any, near: Any, a: int, f: float, most: int, rng: Any
) -> float:
    """Make the first better change around element `a`; return the fitness after it, else f."""
    n = problem.n
    linked = near.shape[1] > 0
    width = near.shape[1] if linked else n
    first = 0 if linked else below(rng, n)
    for number in range(width * SHAPES[kind]):
        shape, q = number // width, number % width
        c = near[a, q] if linked else (first + q) % n
        change, i, j, k = candidate(kind, problem, state, linked, a, c, shape)
        if change != NOTHING:
            if state.tally[EVALUATIONS] >= most:
                return f
            new = preview(problem, state, change, i, j, k)
            if new > f:
                make(problem, state, change, i, j, k)
                return new
    return f


@kernel
def candidate(
    kind: int, problem: Any, state: Any, linked: bool, a: int, c: int, shape: int
) -> tuple[int, int, int, int]:
    """Return a change that brings `a` and `c` together; `NOTHING` where it cannot be better."""
    n, p, t = problem.n, state.where[a], state.where[c]
    if a == c:
        return NOTHING, 0, 0, 0
    if kind in (EXCHANGE, INSERTION):
        if linked:  # to stand beside c
            t = t + 1 if t + 1 < n else 0
        if p == t:
            return NOTHING, 0, 0, 0
        if kind == EXCHANGE:
            return EXCHANGED, p, t, 0
        return (MOVED, p, p + 1, t + 1) if t > p else (MOVED, t, p, p + 1)
    if kind == TWO_OPT or (kind == OR_2OPT and shape < 2):
        return joined(problem, state, linked, a, c, shape == 0)
    return segment(problem, state, linked, a, c, shape - 2 if kind == OR_2OPT else shape)


@kernel
def joined(
    problem: Any, state: Any, linked: bool, a: int, c: int, forwards: bool
) -> tuple[int, int, int, int]:
    """Return the reversal after which `c` follows `a`, or comes before it."""
    n, x, p, t = problem.n, state.best_x, state.where[a], state.where[c]
    following = p + 1 if p + 1 < n else 0
    beside = x[following] if forwards else x[p - 1 if p > 0 else n - 1]
    if c == beside or (linked and problem.link(a, c) >= problem.link(a, beside)):
        return NOTHING, 0, 0, 0
    i = following if forwards else p
    j = t if forwards else (t - 1 if t > 0 else n - 1)
    length = j - i + 1 if i <= j else j - i + 1 + n
    if linked and 2 * length > n:  # a trip is the same if the rest of it is reversed
        return REVERSED, j + 1 if j + 1 < n else 0, i - 1 if i > 0 else n - 1, 0
    return REVERSED, i, j, 0


@kernel
def segment(
    problem: Any, state: Any, linked: bool, a: int, c: int, shape: int
) -> tuple[int, int, int, int]:
    """Return the move of a segment of one to three, which begins or ends with `a`, to `c`."""
    n, x, p, t = problem.n, state.best_x, state.where[a], state.where[c]
    length, begins = shape // 2 + 1, shape % 2 == 0
    low = p if begins else p - length + 1
    high = low + length
    target = t + 1 if begins else t  # behind c, or before it
    outside = low < 0 or high > n or low <= target <= high
    if outside or low <= t < high or (length == 1 and not begins):
        return NOTHING, 0, 0, 0
    if linked:
        freed = x[p - 1 if p > 0 else n - 1] if begins else x[p + 1 if p + 1 < n else 0]
        if problem.link(a, c) >= problem.link(a, freed):
            return NOTHING, 0, 0, 0
    return (MOVED, low, high, target) if target > high else (MOVED, target, low, high)


for _kind, _name in enumerate(NEIGHBOURHOODS):
    for _kicks in KICKS:
        OPERATORS.add(f"{_name}-{_kicks}")(lambda kind=_kind, kicks=_kicks: Descent(kind, kicks))


@kernel(space="permutation")
class PermutationILS(NamedTuple):
    """Iterated local search on permutations; an application is one kick and one descent."""

    operators: tuple[Any, ...]
    steps: Annotated[int, Range(1, 1_000_000, "evaluations of a descent at most")] = 10_000

    def begin(self, problem: Any, rng: Any) -> Any:
        """Start from one random permutation, of which every element is to be looked at."""
        n = problem.n
        x = np.empty(n, np.int64)
        shuffle(rng, x)
        where = np.empty(n, np.int64)
        for p in range(n):
            where[x[p]] = p
        tally = np.zeros(5, np.int64)
        tally[WAITING] = n
        return OrderState(
            x,
            np.full(1, problem.fitness(x)),
            problem.prepare(x),
            where,
            x.copy(),
            np.ones(n, np.uint8),
            np.zeros((self.steps + KICKS[-1], 4), np.int64),
            tally,
            np.zeros(1),
            1,
        )


permutation_ils = algorithms.add("permutation-ils")(
    factory_of(
        "permutation-ils",
        PermutationILS,
        OPERATORS,
        "or-opt-1+or-2opt-1+exchange-3+insertion-2",
        "two-opt-, or-opt-, or-2opt-, exchange-, insertion- 1, 2, 3, 5, 8 (kicks)",
    )
)
