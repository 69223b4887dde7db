"""ε-greedy: the best mean reward so far, sometimes any operator."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from ..engine.kernel import kernel
from ..registry import Range, selectors
from .shared.choice import chooses_by_chance, largest
from .shared.rewards import PER_JOULE, average_reward


@selectors.add("epsilon-greedy")
@kernel
@chooses_by_chance("came up with the chances of ε-greedy")
class EpsilonGreedy(NamedTuple):
    """The best mean reward with probability 1 − ε, else any operator.

    Sutton and Barto, Reinforcement Learning (1998), section 2.2; ε = 0.1 is one of the two values
    they show. Means are of all rewards, and of equals the first is the best.
    """

    epsilon: Annotated[float, Range(0, 1, "probability of a random choice")] = 0.1
    cost: Annotated[bool, PER_JOULE] = True

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the mean reward, and give the largest sector to the best."""
        average_reward(stats, operator, outcome, joules, self.cost)
        k = stats.chance.size
        for o in range(k):
            stats.chance[o] = self.epsilon / k
        stats.chance[largest(stats.value)] += 1.0 - self.epsilon
