"""UCB1: optimism in the face of uncertainty."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernel import kernel
from ..records import Hints
from ..registry import Range, selectors
from .averages import Averages, empty_averages
from .decision import Decision
from .picking import explain_scores, highest
from .rewards import PER_JOULE, reward, valued_belief
from .tries import untried

__all__ = ["UCB1", "MeanRewards", "new_means"]


class MeanRewards(NamedTuple):
    """Mean rewards, and how many applications there were."""

    seen: Averages
    value: NDArray[np.float64]
    total: NDArray[np.int64]
    peak: NDArray[np.float64]


def new_means(operators: int) -> MeanRewards:
    """Return means of nothing."""
    return MeanRewards(
        empty_averages(operators), np.zeros(operators), np.zeros(1, np.int64), np.zeros(1)
    )


@selectors.add("ucb1")
@kernel
class UCB1(NamedTuple):
    """The largest mean reward + C·√(2 ln t / n).

    Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit problem", Mach.
    Learn. 47 (2002), figure 1; the factor C is that of operator selection (Da Costa et al. 2008).
    """

    # Paper: C = 1; here: 0.25, because rewards are mostly far below their bound of 1, where C = 1
    # is close to a fair die.
    bonus: Annotated[float, Range(0, 100, "C, weight of the uncertainty")] = 0.25
    cost: Annotated[bool, PER_JOULE] = True

    def memory(self, hints: Hints, budget: float) -> MeanRewards:
        """Return means of nothing."""
        return new_means(len(hints.names))

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an untried operator, else the largest upper bound."""
        o = untried(stats.seen.applications, 1, rng)
        return o if o >= 0 else highest(self, stats, left, rng, stats.value.size)

    def score(self, stats: Any, left: float, operator: int, rng: Any) -> float:
        """Return the upper bound."""
        n = stats.seen.applications[operator]
        return stats.value[operator] + self.bonus * math.sqrt(2.0 * math.log(stats.total[0]) / n)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the mean reward."""
        r = reward(stats, operator, outcome, joules, self.cost)
        stats.value[operator] += (r - stats.value[operator]) / stats.seen.applications[operator]
        stats.total[0] += 1

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the averages, and the mean reward as score."""
        return valued_belief(stats.seen, operator, stats.value[operator])

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Say why."""
        return explain_scores(self, stats, left, rng, "has the highest upper bound of its reward")
