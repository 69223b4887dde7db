"""Fractional KUBE: the density of a knapsack filled with optimistic rewards."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..kernel import kernel
from ..records import Hints
from ..registry import Range, selectors
from .decision import Decision
from .picking import explain_scores, highest
from .rewards import reward, valued_belief
from .tries import untried
from .ucb1 import MeanRewards, new_means

__all__ = ["KUBE"]


@selectors.add("kube")
@kernel
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

    def memory(self, hints: Hints, budget: float) -> MeanRewards:
        """Return means of nothing."""
        return new_means(len(hints.names))

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an untried operator, else the densest that fits; -1 if none does."""
        o = untried(stats.seen.applications, 1, rng)
        return o if o >= 0 else highest(self, stats, left, rng, stats.value.size)

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
        r = reward(stats, operator, outcome, joules, False)
        stats.value[operator] += (r - stats.value[operator]) / stats.seen.applications[operator]
        stats.total[0] += 1

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the averages, and the mean reward per Joule as score."""
        joules = max(stats.seen.joules[operator], 1e-300) if self.cost else 1.0
        return valued_belief(stats.seen, operator, stats.value[operator] / joules)

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Say why."""
        bound = "optimistic density" if self.cost else "upper bound of its reward that fits"
        return explain_scores(self, stats, left, rng, f"has the highest {bound}")
