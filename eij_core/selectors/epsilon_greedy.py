"""ε-greedy: the best mean reward so far, and now and then anything."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from ..kernel import kernel
from ..records import Hints
from ..registry import Range, selectors
from .decision import Decision
from .picking import Wheel, explain_chances, largest, new_wheel, spin
from .rewards import PER_JOULE, reward, valued_belief
from .tries import untried

__all__ = ["EpsilonGreedy"]


@selectors.add("epsilon-greedy")
@kernel
class EpsilonGreedy(NamedTuple):
    """The best mean reward with probability 1 − ε, else any operator.

    Sutton and Barto, Reinforcement Learning (1998), section 2.2; ε = 0.1 is one of the two values
    they show. Means are of all rewards, and of equals the first is the best.
    """

    epsilon: Annotated[float, Range(0, 1, "probability of a random choice")] = 0.1
    cost: Annotated[bool, PER_JOULE] = True

    def memory(self, hints: Hints, budget: float) -> Wheel:
        """Return a wheel with equal sectors."""
        return new_wheel(len(hints.names))

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an untried operator, else spin."""
        o = untried(stats.seen.applications, 1, rng)
        return o if o >= 0 else spin(stats.chance, rng)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the mean reward, and give the largest sector to the best."""
        r = reward(stats, operator, outcome, joules, self.cost)
        stats.value[operator] += (r - stats.value[operator]) / stats.seen.applications[operator]
        k = stats.chance.size
        for o in range(k):
            stats.chance[o] = self.epsilon / k
        stats.chance[largest(stats.value)] += 1.0 - self.epsilon

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the averages, and the mean reward as score."""
        return valued_belief(stats.seen, operator, stats.value[operator])

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Say why."""
        return explain_chances(self, stats, left, rng, "came up with the chances of ε-greedy")
