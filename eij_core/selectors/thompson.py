"""Thompson sampling with a Gaussian prior."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

from ..kernel import kernel
from ..records import Hints
from ..registry import Range, selectors
from ..rng import normal
from .decision import Decision
from .picking import explain_scores, highest
from .rewards import PER_JOULE, reward, valued_belief
from .tries import untried
from .ucb1 import MeanRewards, new_means

__all__ = ["GaussianThompson"]


@selectors.add("thompson")
@kernel
class GaussianThompson(NamedTuple):
    """The largest draw from N(Σr/(n + 1), σ²/(n + 1)), the posterior of the mean reward.

    Agrawal and Goyal, "Further optimal regret bounds for Thompson sampling", AISTATS 2013,
    algorithm 2; not checked against the text, which was not at hand.
    """

    # Paper: σ = 1; here: 0.25, because rewards are mostly far below their bound (see `ucb1`).
    sigma: Annotated[float, Range(0, 100, "standard deviation of a reward")] = 0.25
    cost: Annotated[bool, PER_JOULE] = True

    def memory(self, hints: Hints, budget: float) -> MeanRewards:
        """Return means of nothing."""
        return new_means(len(hints.names))

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an untried operator, else the largest draw."""
        o = untried(stats.seen.applications, 1, rng)
        return o if o >= 0 else highest(self, stats, left, rng, stats.value.size)

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

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the averages, and the posterior mean as score."""
        return valued_belief(stats.seen, operator, stats.value[operator])

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Say why."""
        return explain_scores(self, stats, left, rng, "drew the largest mean reward")
