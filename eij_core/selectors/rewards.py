"""Rewards of the bandit rules: improvement, per Joule or not, relative to the best of late.

Bandit rules want rewards in [0, 1]; improvements have no bound and shrink as the search goes on.
So a reward is divided by a running maximum that slowly forgets. This holds for every rule that
takes its reward from here, whatever its paper feeds it with.
"""

from __future__ import annotations

import math
from typing import Any

from ..kernel import kernel
from ..records import Belief
from ..registry import Range
from .averages import average, averaged_belief

__all__ = ["PER_JOULE", "improvement", "relative", "reward", "valued_belief"]

# What every such rule says of its parameter `cost`.
PER_JOULE = Range(about="reward per Joule; off: energy does not count")

# What the running maximum keeps of itself at each application.
KEEP = 0.995


@kernel
def improvement(outcome: Any) -> float:
    """Return the sum of the candidates' improvements; losses count nothing."""
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
    """Book an application in `stats.seen` and return its reward in [0, 1]."""
    average(stats.seen, operator, outcome.gain, joules)
    gain = improvement(outcome)
    return relative(stats.peak, gain / joules if cost else gain)


@kernel
def valued_belief(seen: Any, operator: int, value: float) -> Any:
    """Return the plain averages, with the rule's own estimate as the score."""
    plain = averaged_belief(seen, operator)
    if seen.applications[operator] == 0:
        return plain
    return Belief(plain.gain, plain.gain_sd, plain.joules, plain.joules_sd, value)
