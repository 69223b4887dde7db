"""UCB1: the largest upper bound of the mean reward."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

from ..engine.kernel import kernel
from ..registry import Range, selectors
from .shared.choice import chooses_by_score
from .shared.rewards import PER_JOULE, average_reward


@selectors.add("ucb1")
@kernel
@chooses_by_score("has the highest upper bound of its reward")
class UCB1(NamedTuple):
    """The largest mean reward + C·√(2 ln t / n).

    Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit problem", Mach.
    Learn. 47 (2002), figure 1; the factor C is that of operator selection (Da Costa et al. 2008).
    """

    # Paper: C = 1; here: 0.25, because rewards are mostly far below their bound of 1, where C = 1
    # comes close to choosing at random.
    bonus: Annotated[float, Range(0, 100, "C, weight of the uncertainty")] = 0.25
    cost: Annotated[bool, PER_JOULE] = True

    def score(self, stats: Any, left: float, operator: int, rng: Any) -> float:
        """Return the upper bound."""
        n = stats.seen.applications[operator]
        return stats.value[operator] + self.bonus * math.sqrt(2.0 * math.log(stats.total[0]) / n)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the mean reward."""
        average_reward(stats, operator, outcome, joules, self.cost)
        stats.total[0] += 1
