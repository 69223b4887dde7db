"""Rewards of the bandit rules: improvement, per Joule or not, relative to a recent maximum.

Bandit rules expect rewards in [0, 1]; improvements have no bound and shrink as the search goes on.
So a reward is divided by a running maximum that slowly decays. Every rule that takes its reward
from here does so, whatever reward its paper uses.
"""

from __future__ import annotations

import math
from typing import Any

from ...engine.kernel import kernel
from ...protocols import Belief
from ...registry import Range
from .running_means import belief_of_means, update_means

# The range and description of the parameter `cost` of such rules.
PER_JOULE = Range(about="reward per Joule; off: energy does not count")

# Share of the running maximum that remains after an application.
KEEP = 0.995


@kernel
def improvement(outcome: Any) -> float:
    """Return the sum of the candidates' improvements; losses count as 0."""
    total = 0.0
    for delta in outcome.deltas:
        if delta > 0.0 and math.isfinite(delta):
            total += delta
    return total


@kernel
def relative(peak: Any, value: float) -> float:
    """Return the value relative to the running maximum, after updating that."""
    peak[0] = max(KEEP * peak[0], value)
    return value / peak[0] if peak[0] > 0.0 else 0.0


@kernel
def reward(stats: Any, operator: int, outcome: Any, joules: float, cost: bool) -> float:
    """Take an application into `stats.seen` and return its reward in [0, 1]."""
    update_means(stats.seen, operator, outcome.gain, joules)
    gain = improvement(outcome)
    return relative(stats.peak, gain / joules if cost else gain)


@kernel
def belief_with_score(seen: Any, operator: int, value: float) -> Any:
    """Return the running means, with the rule's own estimate as the score."""
    plain = belief_of_means(seen, operator)
    if seen.applications[operator] == 0:
        return plain
    return Belief(plain.gain, plain.gain_sd, plain.joules, plain.joules_sd, value)
