"""Adaptive pursuit: the chances move towards the operator that is best at present."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from ..engine.kernel import kernel
from ..registry import Range, selectors
from .probability_matching import least_chance
from .shared.choice import chooses_by_chance, largest
from .shared.rewards import PER_JOULE, reward


@selectors.add("adaptive-pursuit")
@kernel
@chooses_by_chance("came up while the chances pursue the best recent reward")
class AdaptivePursuit(NamedTuple):
    """p ← p + β(P − p), P = 1 − (K−1)·p_min for the best estimate and p_min for the others.

    Thierens, "An adaptive pursuit strategy for allocating operator probabilities", GECCO 2005;
    α = β = 0.8 and p_min = 0.1 are what he uses for five operators (formula and constants checked
    as far as those of probability matching). p_min is at most 1/(2K) and q starts at 0, as there;
    of equal estimates the first is pursued.
    """

    alpha: Annotated[float, Range(0, 1, "weight of the new reward")] = 0.8
    beta: Annotated[float, Range(0, 1, "speed of the pursuit")] = 0.8
    p_min: Annotated[float, Range(0, 0.5, "least probability of an operator")] = 0.1
    cost: Annotated[bool, PER_JOULE] = True

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the estimate, and move the chances towards the best."""
        r = reward(stats, operator, outcome, joules, self.cost)
        stats.value[operator] += self.alpha * (r - stats.value[operator])
        k = stats.value.size
        least = least_chance(self.p_min, k)
        best = largest(stats.value)
        for o in range(k):
            goal = 1.0 - (k - 1) * least if o == best else least
            stats.chance[o] += self.beta * (goal - stats.chance[o])
