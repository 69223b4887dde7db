"""Fractional KUBE: the density of a knapsack filled with optimistic rewards."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..engine.kernel import kernel
from ..registry import Range, selectors
from .shared.choice import chooses_by_score
from .shared.rewards import average_reward, belief_with_score


@selectors.add("kube")
@kernel
@chooses_by_score(
    "has the highest optimistic density", "has the highest upper bound of its reward that fits"
)
class KUBE(NamedTuple):
    """The largest (mean reward + C·√(2 ln t / n)) / cost among the operators that still fit.

    Tran-Thanh, Chapman, Rogers and Jennings, "Knapsack based optimal policies for budget-limited
    multi-armed bandits", AAAI 2012 (arXiv:1204.1909), fractional KUBE.
    """

    # Paper: C = 1; here: 0.25, as for `ucb1`.
    # Paper: costs are known and fixed; here: their running means, because they are measured.
    bonus: Annotated[float, Range(0, 100, "C, weight of the uncertainty")] = 0.25
    cost: Annotated[
        bool, Range(about="divide by the cost; off: Joules count only against a Joule budget")
    ] = True

    def score(self, stats: Any, left: float, operator: int, rng: Any) -> float:
        """Return the optimistic density; -inf if one application does not fit."""
        joules = stats.seen.joules[operator]
        if joules > left:
            return -np.inf
        n = stats.seen.applications[operator]
        width = self.bonus * math.sqrt(2.0 * math.log(stats.total[0]) / n)
        return (stats.value[operator] + width) / (joules if self.cost else 1.0)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the mean reward; the mean cost is in `stats.seen`."""
        average_reward(stats, operator, outcome, joules, False)
        stats.total[0] += 1

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the running means, and the mean reward per Joule as score."""
        joules = max(stats.seen.joules[operator], 1e-300) if self.cost else 1.0
        return belief_with_score(stats.seen, operator, stats.value[operator] / joules)
