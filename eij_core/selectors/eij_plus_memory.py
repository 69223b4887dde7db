"""The memory of EI/J+: credit and prices of the operators, and the scale of a typical change."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.kernel import kernel

# Running medians move by a factor, which is squared as long as the direction stays the same.
SLOWEST, FASTEST = math.exp(0.05), math.exp(0.8)
# Losses that vary less than this are too much alike to become an improvement.
VARIED = 0.45

# Changes of fitness beyond these do not count for the scale; ratios of those within are finite.
SMALLEST, LARGEST = 1e-150, 1e150

SURPRISE = 2.0  # a reading off by this factor starts the mean of the cost anew
FAINT_VOTE = 1e-3  # weight of an application without improvement in the common scale
# The mean credit starts at 1, as if this share of an application had earned it. So it is never 0,
# whose logarithm would be -inf, and the first real application outweighs it.
HEAD_START = 0.01
# Added to the sums behind cv²: with no credit at all it is then at its upper bound if operators
# were tried, and at its lower one before.
NO_CREDIT, NO_TRIES = 1e-9, 1e-12
# Bounds of cv². Below, a few equal credits would seem certain; above, the prior would outweigh
# dozens of applications.
LEAST_CV2, MOST_CV2 = 0.1, 50.0
# Of cv², what the prior is worth against an operator that has earned more than the mean, or less.
LUCK, FAILURE = 1.0 / 2.0, 1.0 / 3.0
HALF_LIFE = 100.0  # of what was learned, in applications, where Joules have no end
LEAST_SHARE = 0.1  # of the latest in the means of cost and variety


# Records, not an array for each field: numba counts references to every array that is passed on,
# and a dozen of them would cost more than the decision.
ARM = np.dtype(
    [
        ("tries", np.float64),  # N, applications, discounted by the Joules spent since
        ("wins", np.float64),  # those of them with an improvement
        ("credit", np.float64),  # Y, credit of all of them
        ("squares", np.float64),  # Y2, the same squared
        ("joules", np.float64),  # E, of one application; 0 = unknown
        ("joules_var", np.float64),  # of the readings, for plots alone
        ("readings", np.float64),  # readings in E; 0 where E is a hint
        ("idle", np.float64),  # Joules spent by all since its last application
        ("candidates", np.float64),  # C, of one application
        ("changes", np.float64),  # Δ ≠ 0 seen
        ("latest", np.float64),  # the latest of them
        ("height", np.float64),  # running median of |Δ| ≠ 0
        ("height_pace", np.float64),
        ("variety", np.float64),  # running mean of |Δ − the one before| / the larger of both
    ],
    align=True,
)
POOL = np.dtype(
    [
        ("credit", np.float64),  # of an application, over all operators
        ("cv2", np.float64),  # its squared coefficient of variation
        ("cheapest", np.float64),  # the least E
        ("least", np.float64),  # the least E/C of operators that have improved
        ("scale", np.float64),  # h, the typical |Δ| of operators that improve; 0 = unknown
        ("half_life", np.float64),  # Joules after which what was learned counts half
        ("doubt", np.float64),  # the largest standard deviation of ln gain
    ],
    align=True,
)


class EijPlusStats(NamedTuple):
    """What is known of each operator, and of all of them together."""

    arms: NDArray[Any]
    """A record of type `ARM` per operator."""
    pool: NDArray[Any]
    """One record of type `POOL`."""


@kernel
def earned(arm: Any, pool: Any, delta: float, near_miss: float) -> float:
    """Return the credit of one candidate, and follow the operator's height and width."""
    size = abs(delta)
    if not SMALLEST < size < LARGEST:
        return 1.0 if delta >= LARGEST else 0.0
    h = pool.scale if pool.scale > 0.0 else size
    if delta > 0.0:
        credit = 1.0 + math.log1p(delta / h)
    else:
        credit = near_miss * math.exp(delta / bandwidth_of(arm, h))
    if arm.changes == 0.0:
        arm.height = size
    else:
        arm.height_pace = pace_towards(size, arm.height, arm.height_pace)
        arm.height *= arm.height_pace
        ratio = abs(delta - arm.latest) / max(size, abs(arm.latest))
        arm.variety += max(1.0 / arm.changes, LEAST_SHARE) * (ratio - arm.variety)
    arm.changes += 1.0
    arm.latest = delta
    return credit


@kernel
def bandwidth_of(arm: Any, scale: float) -> float:
    """Return the size of a loss that is still a near miss, among all losses and the operator's own.

    An operator whose losses are all alike is not expected to improve, however small they are.
    """
    if arm.changes < 3.0:
        return scale
    varied = arm.variety / VARIED
    return max(min(scale, arm.height * varied * varied * varied), SMALLEST)


@kernel
def pace_towards(value: float, median: float, pace: float) -> float:
    """Return the factor by which a running median moves: slow at first, faster if it lags."""
    if value > median:
        return min(pace * pace, FASTEST) if pace > 1.0 else SLOWEST
    if value < median:
        return max(pace * pace, 1.0 / FASTEST) if 0.0 < pace < 1.0 else 1.0 / SLOWEST
    return 1.0


@kernel
def fade(stats: Any, joules: float) -> None:
    """Discount what was learned, of all operators, by the Joules just spent."""
    half_life = stats.pool[0].half_life
    lives = joules / half_life if half_life < np.inf else 1.0 / HALF_LIFE
    factor = math.exp(-math.log(2.0) * lives)
    for o in range(stats.arms.size):
        arm = stats.arms[o]
        arm.tries *= factor
        arm.wins *= factor
        arm.credit *= factor
        arm.squares *= factor
        arm.idle += joules


@kernel
def is_surprise(arm: Any, joules: float) -> bool:
    """Tell whether a reading is so far off that the price must have changed."""
    return joules > SURPRISE * arm.joules or joules < arm.joules / SURPRISE


@kernel
def read_cost(arm: Any, joules: float) -> None:
    """Take one reading into the running mean of the cost, or start it anew after a surprise."""
    known = arm.joules
    if arm.readings == 0.0 or is_surprise(arm, joules):
        arm.joules = joules
        arm.joules_var = 0.0
        arm.readings = 1.0
        return
    arm.readings += 1.0
    share = max(1.0 / arm.readings, LEAST_SHARE)
    step = joules - known
    arm.joules += share * step
    arm.joules_var = (1.0 - share) * (arm.joules_var + share * step * step)


@kernel
def pool_all(stats: Any) -> None:
    """Pool what all operators have earned, find the cheapest, and the common scale."""
    tries = 0.0
    credit = 0.0
    squares = 0.0
    cheapest = np.inf
    least = np.inf
    votes = 0.0
    log_scale = 0.0
    for o in range(stats.arms.size):
        arm = stats.arms[o]
        tries += arm.tries
        credit += arm.credit
        squares += arm.squares
        cheapest = min(cheapest, arm.joules)
        if arm.wins > 0.0:
            least = min(least, arm.joules / arm.candidates)
        if arm.changes > 0.0:
            # An operator that never improves has almost no say in what a typical change is.
            vote = arm.wins + FAINT_VOTE * arm.tries
            votes += vote
            log_scale += vote * math.log(arm.height)
    floor = (credit + NO_CREDIT) * (credit + NO_CREDIT)
    cv2 = (squares + NO_TRIES) * (tries + NO_TRIES) / floor - 1.0
    pool = stats.pool[0]
    pool.credit = (credit + HEAD_START) / (tries + HEAD_START)
    pool.cv2 = min(max(cv2, LEAST_CV2), MOST_CV2)
    pool.cheapest = cheapest
    pool.least = least
    if votes > 0.0:
        pool.scale = math.exp(log_scale / votes)


@kernel
def expected_credit(arm: Any, pool: Any, prior: float) -> float:
    """Return the credit of one application, shrunk towards the mean of all operators."""
    if arm.credit > arm.tries * pool.credit:
        weight = max(prior, LUCK * pool.cv2)
    else:
        weight = max(prior, min(FAILURE * pool.cv2, 2.0 * prior))
    return (arm.credit + weight * pool.credit) / (arm.tries + weight) * arm.candidates


@kernel
def spread_of(arm: Any, pool: Any) -> float:
    """Return the standard deviation of ln gain, before the budget narrows it."""
    if pool.doubt == 0.0:
        return 0.0
    return 1.0 / math.sqrt(1.0 / (pool.doubt * pool.doubt) + arm.tries / pool.cv2)
