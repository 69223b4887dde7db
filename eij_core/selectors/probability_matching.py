"""Probability matching: chances in proportion to a fading average of the reward."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from ..engine.kernel import kernel
from ..registry import Range, selectors
from .shared.choice import chooses_by_chance
from .shared.rewards import PER_JOULE, reward


@kernel
def least_chance(wanted: float, operators: int) -> float:
    """Return the least probability of an operator: as wanted, if half the wheel stays free."""
    # Paper: p_min = 0.1 with K = 5; here: at most 1/(2K), because with ten operators 0.1 would
    # leave nothing to choose.
    return min(wanted, 0.5 / operators)


@selectors.add("probability-matching")
@kernel
@chooses_by_chance("came up with a chance that matches its recent reward")
class ProbabilityMatching(NamedTuple):
    """p = p_min + (1 − K·p_min)·q/Σq, with q ← q + α(r − q).

    Thierens, "An adaptive pursuit strategy for allocating operator probabilities", GECCO 2005,
    after Goldberg 1990; α = 0.8 and p_min = 0.1 are what he uses for five operators. The formula
    agrees with public implementations; the constants could not be checked against the text.
    """

    alpha: Annotated[float, Range(0, 1, "weight of the new reward")] = 0.8
    p_min: Annotated[float, Range(0, 0.5, "least probability of an operator")] = 0.1
    cost: Annotated[bool, PER_JOULE] = True

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the estimate, and match all chances to the estimates."""
        # Paper: q starts at 1; here: at 0, because each operator is tried before it is compared.
        r = reward(stats, operator, outcome, joules, self.cost)
        stats.value[operator] += self.alpha * (r - stats.value[operator])
        k = stats.value.size
        total = 0.0
        for o in range(k):
            total += stats.value[o]
        least = least_chance(self.p_min, k)
        for o in range(k):
            share = stats.value[o] / total if total > 0.0 else 1.0 / k
            stats.chance[o] = least + (1.0 - k * least) * share
