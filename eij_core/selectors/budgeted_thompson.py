"""Budgeted Thompson sampling: draw mean reward and mean cost, take the largest ratio."""

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
from .rewards import relative, reward, valued_belief
from .tries import untried

__all__ = ["BudgetedStats", "BudgetedThompson"]


class BudgetedStats(NamedTuple):
    """The beta posteriors of reward and of cost, by operator."""

    seen: Averages
    hits: NDArray[np.float64]
    misses: NDArray[np.float64]
    dear: NDArray[np.float64]
    cheap: NDArray[np.float64]
    peak: NDArray[np.float64]
    dearest: NDArray[np.float64]
    """Running maximum of the Joules, as `peak` is of the rewards."""


@selectors.add("budgeted-thompson")
@kernel
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
        return BudgetedStats(
            seen=empty_averages(k),
            hits=np.ones(k),
            misses=np.ones(k),
            dear=np.ones(k),
            cheap=np.ones(k),
            peak=np.zeros(1),
            dearest=np.zeros(1),
        )

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an untried operator, else the largest draw."""
        o = untried(stats.seen.applications, 1, rng)
        return o if o >= 0 else highest(self, stats, left, rng, stats.hits.size)

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
        """Return the averages, and the ratio of the posterior means as score."""
        gain = stats.hits[operator] / (stats.hits[operator] + stats.misses[operator])
        price = stats.dear[operator] / (stats.dear[operator] + stats.cheap[operator])
        return valued_belief(stats.seen, operator, gain / price if self.cost else gain)

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Say why."""
        drew = "ratio of reward to cost" if self.cost else "mean reward"
        return explain_scores(self, stats, left, rng, f"drew the largest {drew}")
