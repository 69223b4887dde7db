"""EXP3: exponential weights against an adversary."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

from ..kernel import kernel
from ..records import Hints
from ..registry import Range, selectors
from .decision import Decision
from .picking import Wheel, explain_chances, largest, new_wheel, spin
from .rewards import PER_JOULE, reward, valued_belief
from .tries import untried

__all__ = ["EXP3"]


@selectors.add("exp3")
@kernel
class EXP3(NamedTuple):
    """p = (1 − γ)·w/Σw + γ/K, and w ← w·exp(γ·(r/p)/K) for the operator applied.

    Auer, Cesa-Bianchi, Freund and Schapire, "The nonstochastic multiarmed bandit problem", SIAM
    J. Comput. 32 (2002), figure 1.
    """

    # Paper: γ from the horizon (corollary 3.2); here: 0.1, because the number of applications is
    # not known beforehand.
    gamma: Annotated[float, Range(0, 1, "share of random choices; learning rate", above=True)] = 0.1
    cost: Annotated[bool, PER_JOULE] = True

    def memory(self, hints: Hints, budget: float) -> Wheel:
        """Return equal weights, kept as logarithms."""
        return new_wheel(len(hints.names))

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an untried operator, else spin."""
        o = untried(stats.seen.applications, 1, rng)
        return o if o >= 0 else spin(stats.chance, rng)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the weight of the operator by its reward over its chance."""
        # In the first tries that chance is the rule's, not the one of the random order; as few
        # rewards as there are operators are weighed a little wrong by it.
        k = stats.value.size
        r = reward(stats, operator, outcome, joules, self.cost)
        stats.value[operator] += self.gamma * r / (stats.chance[operator] * k)
        top = stats.value[largest(stats.value)]
        total = 0.0
        for o in range(k):
            stats.chance[o] = math.exp(stats.value[o] - top)
            total += stats.chance[o]
        for o in range(k):
            stats.chance[o] = (1.0 - self.gamma) * stats.chance[o] / total + self.gamma / k

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the averages, and the logarithm of the weight as score."""
        return valued_belief(stats.seen, operator, stats.value[operator])

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Say why."""
        return explain_chances(self, stats, left, rng, "came up with its exponential weight")
