"""Components as users write them, outside the package; and what child processes import."""

import time
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from eij_core import Belief, Outcome, Trial, solve
from eij_core.engine.kernel import kernel
from eij_core.engine.rng import below, fill_bits


@kernel
class OneMax(NamedTuple):
    """All that a newcomer writes."""

    n: int

    def fitness(self, x):
        return float(x.sum())


@kernel
class Sleepy(NamedTuple):
    """Plain Python, which numba does not compile."""

    n: int

    def fitness(self, x):
        return float(Counter(x.tolist())[1])


@kernel
class Broken(NamedTuple):
    """Not a number for some strings."""

    n: int

    def fitness(self, x):
        return np.nan if x[0] == 1 and x[1] == 1 else float(x.sum())


@kernel
class Lying(NamedTuple):
    """OneMax whose `flip` returns how often it was called."""

    n: int

    def fitness(self, x):
        return float(x.sum())

    def prepare(self, x):
        return np.zeros(1, np.int64)

    def flip(self, x, memo, i):
        x[i] ^= 1
        memo[0] += 1
        return float(memo[0])


class WalkState(NamedTuple):
    best_x: Any
    best_f: Any
    deltas: Any
    opening: int


@kernel
class Step(NamedTuple):
    """Flip some random bits and keep the result if it is no worse."""

    bits: int

    @property
    def name(self):
        return f"step-{self.bits}"

    def apply(self, algorithm, problem, state, rng):
        x = state.best_x.copy()
        for _ in range(self.bits):
            x[below(rng, problem.n)] ^= 1
        f = problem.fitness(x)
        delta = f - state.best_f[0]
        if delta >= 0.0:
            state.best_x[:] = x
            state.best_f[0] = f
        state.deltas[0] = delta
        return Outcome(delta, 1, self.bits, state.deltas[:1])


@kernel
class Rest(NamedTuple):
    """An operator of another type, which does nothing."""

    idle: int

    @property
    def name(self):
        return "rest"

    def apply(self, algorithm, problem, state, rng):
        state.deltas[0] = 0.0
        return Outcome(0.0, 1, 0, state.deltas[:1])


@kernel
class Chatty(NamedTuple):
    """An operator that numba does not compile."""

    bits: int

    @property
    def name(self):
        return "chatty"

    def apply(self, algorithm, problem, state, rng):
        evaluations = Counter(range(self.bits)).total()
        return Outcome(0.0, evaluations, 0, state.deltas[:0])


@kernel
class Walk(NamedTuple):
    """A random walk uphill."""

    operators: tuple[Any, ...]

    def begin(self, problem, rng):
        x = np.empty(problem.n, np.uint8)
        fill_bits(rng, x)
        return WalkState(x, np.full(1, problem.fitness(x)), np.zeros(1), 1)


class TurnStats(NamedTuple):
    turn: Any


@kernel
class Turns(NamedTuple):
    """Operators in turn."""

    stride: int

    def memory(self, hints, budget):
        return TurnStats(np.array([0, len(hints.names)]))

    def select(self, stats, left, rng):
        return stats.turn[0] * self.stride % stats.turn[1]

    def learn(self, stats, operator, outcome, joules):
        stats.turn[0] += 1

    def belief(self, stats, operator):
        return Belief(np.nan, np.nan, np.nan, np.nan, np.nan)


@kernel
class Frugal(NamedTuple):
    """The first operator, while at least `reserve` Joules are left."""

    reserve: float

    def memory(self, hints, budget):
        return TurnStats(np.zeros(1, np.int64))

    def select(self, stats, left, rng):
        return 0 if left >= self.reserve else -1

    def learn(self, stats, operator, outcome, joules):
        stats.turn[0] += 1

    def belief(self, stats, operator):
        return Belief(0.0, 0.0, 1.0, 0.0, 0.0)


def ones(x):
    """A fitness for `external:function=tests.core.components.ones`."""
    return x.sum()


not_a_function = 3


class SlowFitness(NamedTuple):
    seconds: float

    def __call__(self, x):
        time.sleep(self.seconds)
        return float(x.sum())


def digest_of(trial: Trial) -> str:
    """Solve and digest, in whatever process this runs."""
    return solve(trial).digest


def text_of(x):
    """Return a solution as a text; of real numbers eight digits."""
    if x.dtype == float:
        return " ".join(f"{value:.8g}" for value in x.tolist())
    return ("" if x.dtype == "uint8" else " ").join(map(str, x.tolist()))


def fingerprint(result):
    """What a run did, without the last bits of floating-point numbers.

    Logarithms and exponentials differ in their last bit between machines; a `digest` may then
    differ where nothing else does. This must not.
    """
    return {
        "x": text_of(result.best.x),
        "fitness": f"{result.best.fitness:.10g}",
        "joules": f"{result.spent.joules:.10g}",
        "evaluations": result.spent.evaluations,
        "applications": [total.applications for total in result.operators],
        "gains": [f"{total.gain:.8g}" for total in result.operators],
        "rows": len(result.rows),
    }
