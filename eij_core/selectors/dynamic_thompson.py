"""Dynamic Thompson sampling: a beta posterior of at most C rewards."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ..engine.arrays import Number, Numbers, empty
from ..engine.kernel import kernel
from ..protocols import Hints
from ..registry import Range, selectors
from .shared.choice import chooses_by_score
from .shared.distributions import beta
from .shared.rewards import PER_JOULE, Seen, belief_with_score, reward


class BetaStats(NamedTuple):
    """The beta posterior of each operator."""

    seen: Seen
    hits: Numbers
    misses: Numbers
    peak: Number


@selectors.add("dynamic-thompson")
@kernel
@chooses_by_score("drew the largest recent mean reward")
class DynamicThompson(NamedTuple):
    """The largest draw from Beta(a, b), a + b held at C.

    Gupta, Granmo and Agrawala, "Thompson sampling for dynamic multi-armed bandits", ICMLA 2011:
    beyond C both are multiplied by C/(C + 1). For operators: Sun and Li, PPSN 2020
    (arXiv:2004.10874). The start a = b = 2 and C = 100 could not be checked against either; other
    accounts start at 1.
    """

    # Paper: rewards are 0 or 1; here: r adds r to a and 1 − r to b, because rewards lie between,
    # and this is the mean of tossing a coin for them.
    cap: Annotated[float, Range(4, 1e9, "C, rewards that are remembered")] = 100.0
    cost: Annotated[bool, PER_JOULE] = True

    def memory(self, hints: Hints, budget: float) -> BetaStats:
        """Return the prior."""
        k = len(hints.names)
        return empty(BetaStats, k, hits=np.full(k, 2.0), misses=np.full(k, 2.0))

    def score(self, stats: Any, left: float, operator: int, rng: Any) -> float:
        """Draw from the posterior."""
        return beta(stats.hits[operator], stats.misses[operator], rng)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the posterior; beyond C, as much is discounted as is added."""
        r = reward(stats, operator, outcome, joules, self.cost)
        keep = 1.0
        if stats.hits[operator] + stats.misses[operator] >= self.cap:
            keep = self.cap / (self.cap + 1.0)
        stats.hits[operator] = max((stats.hits[operator] + r) * keep, 1e-6)
        stats.misses[operator] = max((stats.misses[operator] + 1.0 - r) * keep, 1e-6)

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the running means, and the posterior mean as score."""
        hits, misses = stats.hits[operator], stats.misses[operator]
        return belief_with_score(stats.seen, operator, hits / (hits + misses))
