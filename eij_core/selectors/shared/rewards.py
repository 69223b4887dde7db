"""What rules keep of each operator: running means, and rewards relative to a recent maximum.

Bandit rules expect rewards in [0, 1]; improvements have no bound and shrink as the search goes on.
So a reward is divided by a running maximum that slowly decays. Every rule that takes its reward
from here does so, whatever reward its paper uses.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from ...engine.arrays import Numbers, Wholes, empty
from ...engine.kernel import kernel
from ...protocols import Belief
from ...registry import Range

# The range and description of the parameter `cost` of rules with rewards.
PER_JOULE = Range(about="reward per Joule; off: energy does not count")

# Share of the running maximum that remains after an application.
KEEP = 0.995


class RunningMeans(NamedTuple):
    """Welford's running means and sums of squares."""

    applications: Wholes
    gain: Numbers
    gain_squares: Numbers
    joules: Numbers
    joules_squares: Numbers


Seen = Annotated[RunningMeans, lambda operators: empty(RunningMeans, operators)]
"""The field of a memory that holds them."""


@kernel
def update_means(seen: Any, operator: int, gain: float, joules: float) -> None:
    """Take in one application."""
    seen.applications[operator] += 1
    n = seen.applications[operator]
    step = gain - seen.gain[operator]
    seen.gain[operator] += step / n
    seen.gain_squares[operator] += step * (gain - seen.gain[operator])
    step = joules - seen.joules[operator]
    seen.joules[operator] += step / n
    seen.joules_squares[operator] += step * (joules - seen.joules[operator])


@kernel
def belief_of_means(seen: Any, operator: int) -> Any:
    """Return means, standard deviations and their ratio (Eq. basic_eij)."""
    n = seen.applications[operator]
    if n == 0:
        return Belief(np.nan, np.nan, np.nan, np.nan, np.nan)
    gain, joules = seen.gain[operator], seen.joules[operator]
    gain_sd = math.sqrt(seen.gain_squares[operator] / n)
    joules_sd = math.sqrt(seen.joules_squares[operator] / n)
    return Belief(gain, gain_sd, joules, joules_sd, gain / joules)


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
def average_reward(stats: Any, operator: int, outcome: Any, joules: float, cost: bool) -> None:
    """Take an application into `stats.seen`, and its reward into the mean `stats.value`."""
    r = reward(stats, operator, outcome, joules, cost)
    stats.value[operator] += (r - stats.value[operator]) / stats.seen.applications[operator]


@kernel
def belief_with_score(seen: Any, operator: int, value: float) -> Any:
    """Return the running means, with the rule's own estimate as the score."""
    plain = belief_of_means(seen, operator)
    if seen.applications[operator] == 0:
        return plain
    return Belief(plain.gain, plain.gain_sd, plain.joules, plain.joules_sd, value)
