"""Dynamic Thompson sampling: a beta posterior that never grows older than C rewards."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernel import kernel
from ..records import Hints
from ..registry import Range, selectors
from .averages import Averages, empty_averages
from .decision import Decision
from .draws import beta
from .picking import explain_scores, highest
from .rewards import PER_JOULE, reward, valued_belief
from .tries import untried

__all__ = ["BetaStats", "DynamicThompson"]


class BetaStats(NamedTuple):
    """The beta posterior of each operator."""

    seen: Averages
    hits: NDArray[np.float64]
    misses: NDArray[np.float64]
    peak: NDArray[np.float64]


@selectors.add("dynamic-thompson")
@kernel
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
        return BetaStats(empty_averages(k), np.full(k, 2.0), np.full(k, 2.0), np.zeros(1))

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an untried operator, else the largest draw."""
        o = untried(stats.seen.applications, 1, rng)
        return o if o >= 0 else highest(self, stats, left, rng, stats.hits.size)

    def score(self, stats: Any, left: float, operator: int, rng: Any) -> float:
        """Draw from the posterior."""
        return beta(stats.hits[operator], stats.misses[operator], rng)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the posterior; beyond C it forgets as much as it learns."""
        r = reward(stats, operator, outcome, joules, self.cost)
        keep = 1.0
        if stats.hits[operator] + stats.misses[operator] >= self.cap:
            keep = self.cap / (self.cap + 1.0)
        stats.hits[operator] = max((stats.hits[operator] + r) * keep, 1e-6)
        stats.misses[operator] = max((stats.misses[operator] + 1.0 - r) * keep, 1e-6)

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the averages, and the posterior mean as score."""
        hits, misses = stats.hits[operator], stats.misses[operator]
        return valued_belief(stats.seen, operator, hits / (hits + misses))

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Say why."""
        return explain_scores(self, stats, left, rng, "drew the largest mean reward of late")
