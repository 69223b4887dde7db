"""EI/J+: expected improvement per Joule with a shared prior and everything counted in Joules.

The rule in five sentences. A candidate earns credit for an improvement, a little for a near miss,
and nothing for doing nothing. Operators start out equal per candidate, so at first the cheap ones
go; what is learned fades with the Joules spent since. The operator with the largest credit per
Joule is applied, after a draw that says how unsure its estimate is. Trying the others again is
paid from a fixed share of the Joules, so a dear operator is re-tried less often. What does not fit
into the rest of the budget is never started.

The rule in symbols, for operators o, budget B0 and what is left of it, B:

1. Credit of a candidate: 1 + ln(1 + Δ/h) if Δ > 0; κ·exp(Δ/b) if Δ < 0; 0 if Δ = 0. That of an
   application is the mean over its C candidates.
2. Scale h: the geometric mean of the operators' median |Δ|, weighted by the applications in which
   they improved. Who never improves has next to no say, so a decoy cannot drag the scale to its
   own size.
3. Bandwidth b = min(h, median |Δ| of o · (variety of o / 0.45)³), where variety is the mean of
   |Δ − Δ'| / max(|Δ|, |Δ'|) over neighbours: losses that are all alike are no near misses.
4. Memory: sums of applications N and n, credit Y and Y2, all discounted by 2^(−Joules/(H·B0)); N,
   Y and Y2 also capped at max(20, 5·cv²) applications, so that the mean Y/N follows changes. n is
   not, so that evidence of uselessness has no limit.
5. Shared prior: m = (n·Y/N + n0·m̄)/(n + n0), m̄ the mean over all operators.
6. Uncertainty of ln m: s = [1/τ² + N/cv²]^(−1/2) · [B/(B + (1 + N)·E)]^(1/2).
7. Cost E: a running mean, started anew by a reading that is off by a factor of two; before that, a
   hint or a probe; where there is neither, one try, in random order.
8. Choice: the largest ln(m·C/E) + s·ξ, ξ ~ N(0, 1), among those with E ≤ B; a first try may stake
   at most φ·B, unless it is the cheapest.
9. Exploration: who has been idle for K·E/ε Joules is owed an application, if E ≤ φ·B.

At B = ∞ the budget's factors are 1 and nothing fades but by the cap.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernel import kernel
from ..records import Belief, Hints
from ..registry import Range, selectors
from ..rng import normal
from .decision import Decision, decide
from .tries import untried

__all__ = ["EijPlus", "EijPlusStats", "eij_plus"]

# The running medians move by a factor; it is squared as long as the direction stays the same.
SLOWEST, FASTEST = math.exp(0.05), math.exp(0.8)
# Losses less varied than this are too much alike to turn into an improvement.
VARIED = 0.45

# Changes of fitness beyond these say nothing of the scale; ratios of those within are finite.
SMALLEST, LARGEST = 1e-150, 1e150

# Below every price, above the 0 that stands for an unknown one.
UNKNOWN = 1e-300
SURPRISE = 2.0  # a reading off by this factor starts the mean of the cost anew
FAINT_VOTE = 1e-3
LEAST_SHARE = 0.1  # of the latest in the means of cost and variety
EVIDENCE, EVIDENCE_PER_CV2 = 20.0, 5.0


# Records, not an array for each field: numba counts references to every array it passes on, and a
# dozen of them would cost more than the decision.
ARM = np.dtype(
    [
        ("tries", np.float64),  # applications, discounted by the Joules spent since
        ("wins", np.float64),  # those of them with an improvement
        ("weight", np.float64),  # N, applications that the next two sums are worth
        ("credit", np.float64),  # Y, credit of those applications
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
        ("scale", np.float64),  # h, the typical |Δ| of operators that improve; 0 = unknown
        ("half_life", np.float64),  # Joules after which what was learned counts half
    ],
    align=True,
)


class EijPlusStats(NamedTuple):
    """What is known of each operator, and of all of them together."""

    arms: NDArray[Any]
    """A record of type `ARM` per operator."""
    pool: NDArray[Any]
    """One record of type `POOL`."""


class Draw(NamedTuple):
    """One operator's part in a decision."""

    gain: float
    """Expected credit of one application."""
    joules: float
    spread: float
    """Standard deviation of ln gain."""
    luck: float
    """The standard normal drawn."""
    priority: float
    """ln(gain/joules) + spread·luck; -inf for what may not be started."""


@kernel
class EijPlus(NamedTuple):
    """Expected improvement per Joule, with near misses, a shared prior and capped uncertainty."""

    memory_share: float = 0.10
    """H, half-life of what was learned, as a share of the budget."""
    uncertainty: float = 0.7
    """τ, the largest standard deviation of ln gain."""
    near_miss: float = 0.5
    """κ, the largest credit of a candidate that is worse."""
    prior: float = 1.0
    """n0, how many applications the common prior is worth."""
    exploration: float = 0.05
    """ε, the share of the Joules that re-trying may cost."""
    first_share: float = 0.10
    """φ, the largest share of what is left that exploration may put at stake in one application."""
    cost: bool = True
    """False: every application counts as one, and the budget as unlimited."""

    def memory(self, hints: Hints, budget: float) -> EijPlusStats:
        """Return empty statistics, with the costs that are known beforehand."""
        arms = np.zeros(len(hints.names), ARM).view(np.recarray)
        arms.joules = hints.joules if self.cost else 1.0
        arms.candidates = np.maximum(hints.candidates, 1.0)
        pool = np.zeros(1, POOL).view(np.recarray)
        pool.half_life = self.memory_share * (budget if self.cost else math.inf)
        stats = EijPlusStats(arms, pool)
        summarise(stats)
        return stats

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an operator of unknown cost, else one that is owed, else the best draw."""
        if stats.pool[0].cheapest == 0.0:
            return untried(stats.arms.joules, UNKNOWN, rng)
        o = self.owed(stats, left)
        if o >= 0:
            return o
        winner = -1
        highest = -np.inf
        for o in range(stats.arms.size):
            priority = self.draw(stats, left, o, rng).priority
            if priority > highest:
                winner = o
                highest = priority
        return winner

    def owed(self, stats: Any, left: float) -> int:
        """Return the operator that has waited longest beyond K·E/ε Joules, or -1."""
        most = self.first_share * left if self.cost else np.inf
        patience = stats.arms.size / self.exploration if self.exploration > 0.0 else np.inf
        winner = -1
        longest = patience
        for o in range(stats.arms.size):
            arm = stats.arms[o]
            if arm.joules <= most and arm.idle >= longest * arm.joules:
                winner = o
                longest = arm.idle / arm.joules
        return winner

    def draw(self, stats: Any, left: float, operator: int, rng: Any) -> Any:
        """Draw one operator's priority; what may not be started gets -inf and draws nothing."""
        arm, pool = stats.arms[operator], stats.pool[0]
        joules = arm.joules
        gain = expected_credit(arm, pool, self.prior)
        spread = spread_of(arm, pool, self.uncertainty)
        if self.cost:
            untried_and_dear = arm.readings == 0.0 and joules > pool.cheapest
            if joules > (self.first_share * left if untried_and_dear else left):
                return Draw(gain, joules, spread, 0.0, -np.inf)
            if left < np.inf:
                spread *= math.sqrt(left / (left + (1.0 + arm.weight) * joules))
        luck = normal(rng)
        return Draw(gain, joules, spread, luck, math.log(gain / joules) + spread * luck)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Take one application into the statistics."""
        price = joules if self.cost else 1.0
        arm, pool = stats.arms[operator], stats.pool[0]
        total = 0.0
        won = 0.0
        for delta in outcome.deltas:
            total += earned(arm, pool, delta, self.near_miss)
            if delta > 0.0:
                won = 1.0
        candidates = max(outcome.deltas.size, 1)
        mean = total / candidates
        arm.candidates = candidates
        read_cost(arm, price)
        fade(stats, price)
        arm.idle = 0.0
        arm.tries += 1.0
        arm.wins += won
        arm.weight += 1.0
        arm.credit += mean
        arm.squares += mean * mean
        summarise(stats)
        most = max(EVIDENCE, EVIDENCE_PER_CV2 * pool.cv2)
        if arm.weight > most:
            shrink = most / arm.weight
            arm.weight *= shrink
            arm.credit *= shrink
            arm.squares *= shrink
            summarise(stats)

    def reprice(self, stats: Any, operator: int, joules: float) -> None:
        """Take a cost that was probed, outside an application."""
        stats.arms[operator].joules = joules if self.cost else 1.0
        summarise(stats)

    def belief(self, stats: Any, operator: int) -> Any:
        """Return credit, cost and their ratio; gains are in units of credit, not of fitness."""
        arm, pool = stats.arms[operator], stats.pool[0]
        if arm.joules == 0.0:
            return Belief(np.nan, np.nan, np.nan, np.nan, np.nan)
        gain = expected_credit(arm, pool, self.prior)
        gain_sd = gain * spread_of(arm, pool, self.uncertainty)
        return Belief(gain, gain_sd, arm.joules, math.sqrt(arm.joules_var), gain / arm.joules)

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Lay the next decision open: the draws are the ones that will decide."""
        chosen, replay = decide(self, stats, left, rng)
        if stats.pool[0].cheapest == 0.0:
            return Decision(chosen, (), "has a cost that nobody knows yet, so it is tried once")
        if self.owed(stats, left) >= 0:
            spent = "Joules" if self.cost else "applications"
            waited = f"has been idle for {stats.arms[chosen].idle:.4g} {spent}"
            return Decision(chosen, (), f"{waited}, so the share kept for exploration pays for it")
        draws = tuple(self.draw(stats, left, o, replay) for o in range(stats.arms.size))
        if chosen < 0:
            return Decision(chosen, draws, "is not chosen: nothing fits into what is left")
        return Decision(chosen, draws, "drew the highest credit per Joule among those that fit")


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
    """Return which loss still is a near miss: small for all, and by the operator's own standards.

    Who is always a little worse, and never anything else, will not be better next time.
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
    factor = math.exp(-math.log(2.0) * joules / stats.pool[0].half_life)
    for o in range(stats.arms.size):
        arm = stats.arms[o]
        arm.tries *= factor
        arm.wins *= factor
        arm.weight *= factor
        arm.credit *= factor
        arm.squares *= factor
        arm.idle += joules


@kernel
def read_cost(arm: Any, joules: float) -> None:
    """Take one reading into the running mean of the cost, or start it anew after a surprise."""
    known = arm.joules
    if arm.readings == 0.0 or joules > SURPRISE * known or joules < known / SURPRISE:
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
def summarise(stats: Any) -> None:
    """Pool what all operators have earned, find the cheapest, and the common scale."""
    weight = 0.0
    credit = 0.0
    squares = 0.0
    cheapest = np.inf
    votes = 0.0
    log_scale = 0.0
    for o in range(stats.arms.size):
        arm = stats.arms[o]
        weight += arm.weight
        credit += arm.credit
        squares += arm.squares
        cheapest = min(cheapest, arm.joules)
        if arm.changes > 0.0:
            # Who never improves has next to no say in what a typical change is.
            vote = arm.wins + FAINT_VOTE * arm.tries
            votes += vote
            log_scale += vote * math.log(arm.height)
    floor = (credit + 1e-9) * (credit + 1e-9)
    cv2 = (squares + 1e-12) * (weight + 1e-12) / floor - 1.0
    pool = stats.pool[0]
    pool.credit = (credit + 0.01) / (weight + 0.01)
    pool.cv2 = min(max(cv2, 0.1), 50.0)
    pool.cheapest = cheapest
    if votes > 0.0:
        pool.scale = math.exp(log_scale / votes)


@kernel
def expected_credit(arm: Any, pool: Any, prior: float) -> float:
    """Return the credit of one application, shrunk towards the mean of all operators."""
    own = arm.credit / arm.weight if arm.weight > 0.0 else 0.0
    return (arm.tries * own + prior * pool.credit) / (arm.tries + prior) * arm.candidates


@kernel
def spread_of(arm: Any, pool: Any, uncertainty: float) -> float:
    """Return the standard deviation of ln gain, before the budget narrows it."""
    if uncertainty == 0.0:
        return 0.0
    return 1.0 / math.sqrt(1.0 / (uncertainty * uncertainty) + arm.weight / pool.cv2)


@selectors.add("eij-plus")
def eij_plus(
    memory_share: Annotated[float, Range(0, 100, "half-life, share of budget", above=True)] = 0.10,
    uncertainty: Annotated[float, Range(0, 5, "largest sd of ln gain; keep below 0.7")] = 0.7,
    near_miss: Annotated[float, Range(0, 1, "largest credit of a candidate that is worse")] = 0.5,
    prior: Annotated[float, Range(0, 100, "applications the prior is worth", above=True)] = 1.0,
    exploration: Annotated[float, Range(0, 1, "share of the Joules for re-trying")] = 0.05,
    first_share: Annotated[float, Range(0, 1, "of what is left, at stake in a first try")] = 0.10,
    cost: bool = True,
) -> EijPlus:
    """EI/J+: credit per Joule with near misses, a shared prior and exploration paid in Joules.

    Examples
    --------
    >>> eij_plus(uncertainty=0.5).uncertainty
    0.5
    """
    return EijPlus(memory_share, uncertainty, near_miss, prior, exploration, first_share, cost)
