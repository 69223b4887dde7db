"""Drive a selector by hand on scripted arms: no problem, no algorithm, no meter."""

from typing import NamedTuple

import numpy as np

from eij_core.records import Hints, Outcome
from eij_core.registry import selectors
from eij_core.rng import streams_for

BUDGET = 1000.0


def outcome(deltas):
    deltas = np.asarray(deltas, float)
    return Outcome(float(deltas.sum()), max(deltas.size, 1), 0, deltas)


def hints(operators, joules=0.0, candidates=0.0):
    names = tuple(f"arm-{o}" for o in range(operators))
    return Hints(
        names,
        np.broadcast_to(np.asarray(candidates, float), operators).copy(),
        np.broadcast_to(np.asarray(joules, float), operators).copy(),
    )


class Step(NamedTuple):
    """One application, as the oracles replay it."""

    operator: int
    deltas: tuple
    joules: float


class Player:
    """A selector with its memory, its stream and all that it was told."""

    def __init__(self, spec, operators, budget=BUDGET, seed=1, known=0.0):
        self.selector = selectors.make(spec) if isinstance(spec, str) else spec
        self.stats = self.selector.memory(hints(operators, known), budget)
        self.rng = streams_for(seed).picks
        self.operators = operators
        self.left = budget
        self.history = []

    def select(self):
        with np.errstate(over="ignore"):
            return int(self.selector.select(self.stats, self.left, self.rng))

    def learn(self, operator, deltas, joules):
        self.selector.learn(self.stats, operator, outcome(deltas), joules)
        self.left -= joules
        self.history.append(Step(operator, tuple(np.asarray(deltas, float)), joules))

    def beliefs(self):
        return np.array([self.selector.belief(self.stats, o) for o in range(self.operators)])

    def scores(self):
        """Score every operator on a copy of the stream."""
        rng = self.rng.copy()
        with np.errstate(over="ignore"):
            return [
                float(self.selector.score(self.stats, self.left, o, rng))
                for o in range(self.operators)
            ]

    def explain(self):
        with np.errstate(over="ignore"):
            return self.selector.explain(self.stats, self.left, self.rng)


def noisy_arms(seed, operators=3):
    """Make a function that draws what an application of an arm brings and costs."""
    random = np.random.default_rng(seed)
    prices = random.uniform(0.5, 5.0, operators)

    def pull(operator):
        size = int(random.integers(1, 4))
        deltas = random.normal(-0.3, 1.0, size) * (random.random(size) > 0.2)
        return deltas, float(prices[operator] * random.lognormal(0.0, 0.1))

    return pull


def play(player, pull, decisions):
    """Let the selector decide; return the operators applied."""
    chosen = []
    for _ in range(decisions):
        operator = player.select()
        if operator < 0:
            break
        player.learn(operator, *pull(operator))
        chosen.append(operator)
    return np.array(chosen)
