"""Adaptive pursuit: the chances run after the operator that is best at the moment."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from ..kernel import kernel
from ..records import Hints
from ..registry import Range, selectors
from .decision import Decision
from .picking import Wheel, explain_chances, largest, new_wheel, spin
from .probability_matching import least_chance
from .rewards import PER_JOULE, reward, valued_belief
from .tries import untried

__all__ = ["AdaptivePursuit"]


@selectors.add("adaptive-pursuit")
@kernel
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

    def memory(self, hints: Hints, budget: float) -> Wheel:
        """Return a wheel with equal sectors."""
        return new_wheel(len(hints.names))

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an untried operator, else spin."""
        o = untried(stats.seen.applications, 1, rng)
        return o if o >= 0 else spin(stats.chance, rng)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the estimate, and let the chances pursue the best."""
        r = reward(stats, operator, outcome, joules, self.cost)
        stats.value[operator] += self.alpha * (r - stats.value[operator])
        k = stats.value.size
        least = least_chance(self.p_min, k)
        best = largest(stats.value)
        for o in range(k):
            goal = 1.0 - (k - 1) * least if o == best else least
            stats.chance[o] += self.beta * (goal - stats.chance[o])

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the averages, and the estimate as score."""
        return valued_belief(stats.seen, operator, stats.value[operator])

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Say why."""
        reason = "came up while the chances pursue the best reward of late"
        return explain_chances(self, stats, left, rng, reason)
