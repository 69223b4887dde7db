"""Budgeted Thompson sampling: draw mean reward and mean cost, take the largest ratio."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ..engine.arrays import Number, Numbers, empty
from ..engine.kernel import kernel
from ..protocols import Hints
from ..registry import Range, selectors
from .shared.choice import chooses_by_score
from .shared.distributions import beta
from .shared.rewards import Seen, belief_with_score, relative, reward


class BudgetedStats(NamedTuple):
    """The beta posteriors of reward and of cost, by operator."""

    seen: Seen
    hits: Numbers
    misses: Numbers
    dear: Numbers
    cheap: Numbers
    peak: Number
    dearest: Number
    """Running maximum of the Joules, as `peak` is of the rewards."""


@selectors.add("budgeted-thompson")
@kernel
@chooses_by_score("drew the largest ratio of reward to cost", "drew the largest mean reward")
class BudgetedThompson(NamedTuple):
    """The largest ratio of a draw of the mean reward to a draw of the mean cost.

    Xia, Li, Qin, Yu and Liu, "Thompson sampling for budgeted multi-armed bandits", IJCAI 2015
    (arXiv:1505.00146), algorithm 1, from Beta(1, 1). Rewards and costs are scaled into [0, 1] by
    their running maxima. Not checked against the text, which was not at hand.
    """

    # Paper: rewards and costs in [0, 1] are turned into 0 or 1 by a coin; here: r counts as r
    # successes, because this is the mean of that toss and needs no luck.
    cost: Annotated[
        bool, Range(about="divide by the draw of the cost; off: energy does not count")
    ] = True

    def memory(self, hints: Hints, budget: float) -> BudgetedStats:
        """Return the priors."""
        k = len(hints.names)
        priors = {name: np.ones(k) for name in ("hits", "misses", "dear", "cheap")}
        return empty(BudgetedStats, k, **priors)

    def score(self, stats: Any, left: float, operator: int, rng: Any) -> float:
        """Draw the ratio of reward to cost."""
        gain = beta(stats.hits[operator], stats.misses[operator], rng)
        if not self.cost:
            return gain
        return gain / max(beta(stats.dear[operator], stats.cheap[operator], rng), 1e-300)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update both posteriors."""
        r = reward(stats, operator, outcome, joules, False)
        c = relative(stats.dearest, joules)
        stats.hits[operator] += r
        stats.misses[operator] += 1.0 - r
        stats.dear[operator] += c
        stats.cheap[operator] += 1.0 - c

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the running means, and the ratio of the posterior means as score."""
        gain = stats.hits[operator] / (stats.hits[operator] + stats.misses[operator])
        price = stats.dear[operator] / (stats.dear[operator] + stats.cheap[operator])
        return belief_with_score(stats.seen, operator, gain / price if self.cost else gain)
