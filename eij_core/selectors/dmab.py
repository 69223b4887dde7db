"""Dynamic multi-armed bandit: UCB1 that restarts when the rewards of an operator change."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..engine.arrays import Number, Numbers, Whole
from ..engine.kernel import kernel
from ..registry import Range, selectors
from .shared.choice import chooses_by_score, highest, untried
from .shared.rewards import PER_JOULE, Seen, reward


class DmabStats(NamedTuple):
    """Mean rewards since the latest restart, and the Page–Hinkley test of each operator."""

    seen: Seen
    value: Numbers
    pulls: Numbers
    deviation: Numbers
    """m, summed deviations from the mean."""
    extreme: Numbers
    """M, the largest |m| so far."""
    total: Number
    restarts: Whole
    peak: Number


@selectors.add("dmab")
@kernel
@chooses_by_score(
    "has the highest upper bound of its reward since the latest change", stats=DmabStats
)
class DMAB(NamedTuple):
    """UCB1, restarted for all operators when a Page–Hinkley test sees a change.

    Da Costa, Fialho, Schoenauer and Sebag, "Adaptive operator selection with dynamic multi-armed
    bandits", GECCO 2008: m ← m + r − r̄ + δ, M = max |m|, restart if M − |m| > λ. The formulas
    agree with other accounts of the paper; the paper itself was not at hand to check δ = 0.15.
    """

    # Paper: C and λ tuned for each problem, λ by orders of magnitude; here: C as for `ucb1` and
    # λ = 1, because rewards are in [0, 1] and so λ is a number of full rewards.
    bonus: Annotated[float, Range(0, 100, "C, weight of the uncertainty")] = 0.25
    delta: Annotated[float, Range(0, 1, "δ, tolerance of the test")] = 0.15
    threshold: Annotated[float, Range(0, 1e6, "λ, of the test", above=True)] = 1.0
    cost: Annotated[bool, PER_JOULE] = True

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an operator untried since the restart, else the largest upper bound."""
        o = untried(stats.pulls, 1, rng)
        return o if o >= 0 else highest(self, stats, left, rng, stats.value.size)

    def score(self, stats: Any, left: float, operator: int, rng: Any) -> float:
        """Return the upper bound."""
        if stats.pulls[operator] == 0.0:
            return np.inf
        width = math.sqrt(2.0 * math.log(stats.total[0]) / stats.pulls[operator])
        return stats.value[operator] + self.bonus * width

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the mean reward and the test; restart all operators if the test fires."""
        r = reward(stats, operator, outcome, joules, self.cost)
        stats.pulls[operator] += 1.0
        stats.total[0] += 1.0
        stats.value[operator] += (r - stats.value[operator]) / stats.pulls[operator]
        stats.deviation[operator] += r - stats.value[operator] + self.delta
        size = abs(stats.deviation[operator])
        stats.extreme[operator] = max(stats.extreme[operator], size)
        if stats.extreme[operator] - size > self.threshold:
            stats.restarts[0] += 1
            stats.total[0] = 0.0
            for o in range(stats.value.size):
                stats.value[o] = 0.0
                stats.pulls[o] = 0.0
                stats.deviation[o] = 0.0
                stats.extreme[o] = 0.0
