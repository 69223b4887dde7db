"""Softmax: chances grow exponentially with the mean reward."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

from ..kernel import kernel
from ..records import Hints
from ..registry import Range, selectors
from .decision import Decision
from .picking import Wheel, explain_chances, new_wheel, spin
from .rewards import PER_JOULE, reward, valued_belief
from .tries import untried

__all__ = ["Softmax"]


@selectors.add("softmax")
@kernel
class Softmax(NamedTuple):
    """Chances in proportion to exp(mean reward / τ), Boltzmann exploration.

    Sutton and Barto, Reinforcement Learning (1998), section 2.3.
    """

    # Book: no τ given, 1 is usual; here: 0.1, because rewards are mostly far below 1, where τ = 1
    # is close to a fair die.
    tau: Annotated[float, Range(0.01, 100, "temperature")] = 0.1
    cost: Annotated[bool, PER_JOULE] = True

    def memory(self, hints: Hints, budget: float) -> Wheel:
        """Return a wheel with equal sectors."""
        return new_wheel(len(hints.names))

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an untried operator, else spin."""
        o = untried(stats.seen.applications, 1, rng)
        return o if o >= 0 else spin(stats.chance, rng)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the mean reward and its sector."""
        r = reward(stats, operator, outcome, joules, self.cost)
        stats.value[operator] += (r - stats.value[operator]) / stats.seen.applications[operator]
        for o in range(stats.chance.size):
            stats.chance[o] = math.exp(stats.value[o] / self.tau)

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the averages, and the mean reward as score."""
        return valued_belief(stats.seen, operator, stats.value[operator])

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Say why."""
        return explain_chances(self, stats, left, rng, "came up with the chances of softmax")
