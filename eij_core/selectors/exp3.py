"""EXP3: exponential weights against an adversary."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

from ..engine.kernel import kernel
from ..registry import Range, selectors
from .shared.choice import chooses_by_chance, largest
from .shared.rewards import PER_JOULE, reward


@selectors.add("exp3")
@kernel
@chooses_by_chance("came up with its exponential weight")
class EXP3(NamedTuple):
    """p = (1 − γ)·w/Σw + γ/K, and w ← w·exp(γ·(r/p)/K) for the operator applied.

    Auer, Cesa-Bianchi, Freund and Schapire, "The nonstochastic multiarmed bandit problem", SIAM
    J. Comput. 32 (2002), figure 1.
    """

    # Paper: γ from the horizon (corollary 3.2); here: 0.1, because the number of applications is
    # not known beforehand.
    gamma: Annotated[float, Range(0, 1, "share of random choices; learning rate", above=True)] = 0.1
    cost: Annotated[bool, PER_JOULE] = True

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the weight of the operator by its reward over its chance."""
        # In the first tries the order is random and not by these chances, so the first reward of
        # each operator gets a slightly wrong weight.
        k = stats.value.size
        r = reward(stats, operator, outcome, joules, self.cost)
        stats.value[operator] += self.gamma * r / (stats.chance[operator] * k)
        top = stats.value[largest(stats.value)]
        total = 0.0
        for o in range(k):
            stats.chance[o] = math.exp(stats.value[o] - top)
            total += stats.chance[o]
        for o in range(k):
            stats.chance[o] = (1.0 - self.gamma) * stats.chance[o] / total + self.gamma / k
