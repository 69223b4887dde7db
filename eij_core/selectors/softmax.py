"""Softmax: chances grow exponentially with the mean reward."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

from ..engine.kernel import kernel
from ..registry import Range, selectors
from .shared.choice import chooses_by_chance
from .shared.rewards import PER_JOULE, average_reward


@selectors.add("softmax")
@kernel
@chooses_by_chance("came up with the chances of softmax")
class Softmax(NamedTuple):
    """Chances in proportion to exp(mean reward / τ), Boltzmann exploration.

    Sutton and Barto, Reinforcement Learning (1998), section 2.3.
    """

    # Book: no τ given, 1 is usual; here: 0.1, because rewards are mostly far below 1, where τ = 1
    # comes close to choosing at random.
    tau: Annotated[float, Range(0.01, 100, "temperature")] = 0.1
    cost: Annotated[bool, PER_JOULE] = True

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the mean reward and its sector."""
        average_reward(stats, operator, outcome, joules, self.cost)
        for o in range(stats.chance.size):
            stats.chance[o] = math.exp(stats.value[o] / self.tau)
