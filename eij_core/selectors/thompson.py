"""Thompson sampling with a Gaussian prior."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

from ..engine.kernel import kernel
from ..engine.rng import normal
from ..registry import Range, selectors
from .shared.choice import chooses_by_score
from .shared.rewards import PER_JOULE, reward


@selectors.add("thompson")
@kernel
@chooses_by_score("drew the largest mean reward")
class GaussianThompson(NamedTuple):
    """The largest draw from N(Σr/(n + 1), σ²/(n + 1)), the posterior of the mean reward.

    Agrawal and Goyal, "Further optimal regret bounds for Thompson sampling", AISTATS 2013,
    algorithm 2; not checked against the text, which was not at hand.
    """

    # Paper: σ = 1; here: 0.25, because rewards are mostly far below their bound (see `ucb1`).
    sigma: Annotated[float, Range(0, 100, "standard deviation of a reward")] = 0.25
    cost: Annotated[bool, PER_JOULE] = True

    def score(self, stats: Any, left: float, operator: int, rng: Any) -> float:
        """Draw from the posterior."""
        n = stats.seen.applications[operator]
        return stats.value[operator] + self.sigma * normal(rng) / math.sqrt(n + 1.0)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the posterior mean, whose prior counts as one reward of 0."""
        r = reward(stats, operator, outcome, joules, self.cost)
        n = stats.seen.applications[operator]
        stats.value[operator] += (r - stats.value[operator]) / (n + 1.0)
        stats.total[0] += 1
