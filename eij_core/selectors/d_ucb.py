"""Discounted UCB: old rewards count less."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..engine.arrays import Number, Numbers
from ..engine.kernel import kernel
from ..registry import Range, selectors
from .shared.choice import chooses_by_score
from .shared.rewards import PER_JOULE, Seen, belief_with_score, reward


class DiscountedRewards(NamedTuple):
    """Discounted sums of rewards and of applications."""

    seen: Seen
    rewards: Numbers
    pulls: Numbers
    total: Number
    peak: Number


@selectors.add("d-ucb")
@kernel
@chooses_by_score("has the highest upper bound of its discounted reward", stats=DiscountedRewards)
class DiscountedUCB(NamedTuple):
    """The largest discounted mean reward + 2B·√(ξ ln n / N), with discounted counts n and N.

    Garivier and Moulines, "On upper-confidence bound policies for switching bandit problems", ALT
    2011 (arXiv:0805.3415), discounted UCB. The formula agrees with public implementations; ξ = 0.5
    could not be checked against the text.
    """

    # Paper: B bounds the rewards, which would be 1; here: 0.25, because rewards are mostly far
    # below their bound, and with ξ = 0.5 this is the width of `ucb1`.
    # Paper: γ from horizon and number of changes; here: 0.99, because neither is known.
    discount: Annotated[float, Range(0, 1, "γ, what each application leaves")] = 0.99
    xi: Annotated[float, Range(0, 10, "ξ, weight of the logarithm")] = 0.5
    bound: Annotated[float, Range(0, 100, "B, scale of the rewards")] = 0.25
    cost: Annotated[bool, PER_JOULE] = True

    def score(self, stats: Any, left: float, operator: int, rng: Any) -> float:
        """Return the upper bound; an operator forgotten entirely has none."""
        pulls = stats.pulls[operator]
        if pulls < 1e-300:
            return np.inf
        width = math.sqrt(self.xi * math.log(max(stats.total[0], 1.0)) / pulls)
        return stats.rewards[operator] / pulls + 2.0 * self.bound * width

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Discount all sums and add the reward."""
        r = reward(stats, operator, outcome, joules, self.cost)
        for o in range(stats.pulls.size):
            stats.rewards[o] *= self.discount
            stats.pulls[o] *= self.discount
        stats.total[0] = stats.total[0] * self.discount + 1.0
        stats.rewards[operator] += r
        stats.pulls[operator] += 1.0

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the running means, and the discounted mean reward as score."""
        mean = stats.rewards[operator] / max(stats.pulls[operator], 1e-300)
        return belief_with_score(stats.seen, operator, mean)
