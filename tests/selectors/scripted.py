"""Drive a selector by hand on scripted arms: no problem, no algorithm, no meter."""

from typing import NamedTuple

import numpy as np

from eij_core.components import selectors, streams_for
from eij_core.contracts.selector import hints_for, noisy_arms, outcome_of

__all__ = ["BUDGET", "Player", "Step", "hints_for", "noisy_arms", "outcome_of", "play"]

BUDGET = 1000.0


class Step(NamedTuple):
    """One application, as the oracles replay it."""

    operator: int
    deltas: tuple
    joules: float


class Player:
    """A selector with its memory, its random stream and the history of its applications."""

    def __init__(self, spec, operators, budget=BUDGET, seed=1, known=0.0):
        self.selector = selectors.make(spec) if isinstance(spec, str) else spec
        self.stats = self.selector.memory(hints_for(operators, known), budget)
        self.rng = streams_for(seed).picks
        self.operators = operators
        self.left = budget
        self.history = []

    def select(self):
        with np.errstate(over="ignore"):
            return int(self.selector.select(self.stats, self.left, self.rng))

    def learn(self, operator, deltas, joules):
        self.selector.learn(self.stats, operator, outcome_of(deltas), joules)
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
