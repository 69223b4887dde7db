"""EI/J+: expected improvement per Joule with a shared prior and everything counted in Joules.

The rule in five sentences. A candidate earns credit for an improvement, a little for a near miss,
and none if nothing changed. Operators start out equal per candidate, so the cheap ones are applied
first; what is learned is discounted by the Joules spent since. The operator with the largest credit
per Joule is applied, after a draw from the uncertainty of its estimate. An operator that has been
idle for long is tried again, a dear one later than a cheap one. An application that does not fit
into the rest of the budget is never started.

The rule in symbols, for operators o, budget B0 and what is left of it, B:

1. Credit of a candidate: 1 + ln(1 + Δ/h) if Δ > 0; κ·exp(Δ/b) if Δ < 0; 0 if Δ = 0. That of an
   application is the mean over its C candidates.
2. Scale h: the geometric mean of the operators' median |Δ|, weighted by the applications in which
   they improved. An operator that never improves has almost no weight, so a decoy cannot set the
   scale to its own size.
3. Bandwidth b = min(h, median |Δ| of o · (variety of o / 0.45)³), where variety is the mean of
   |Δ − Δ'| / max(|Δ|, |Δ'|) over neighbours: losses that are all alike are not near misses.
4. Memory: sums of applications N, of credit Y and of its squares, all discounted by
   2^(−Joules/(H·B0)).
5. Shared prior: m = (Y + n0·m̄)/(N + n0), m̄ the mean over all operators. For operators above m̄, n0
   is at least cv²/2; for the others cv²/3, but within 1 and 2. So an estimate rises more slowly
   than it falls: where credit is rare, one lucky application says little.
6. Uncertainty of ln m: s = [ln K/(τ²·ln 2) + N/cv²]^(−1/2) · [B/(B + (1 + N)·E)]^(1/2). The
   largest of K draws grows with K: hence ln K (K ≥ 2).
7. Cost E: a running mean, started anew by a reading that is off by a factor of two; before that, a
   hint or a probe; where there is neither, one try, in random order. With `probe`, the run measures
   the prices of idle operators regularly, on one candidate each.
8. Choice: the largest ln(m·C/E) + s·ξ, ξ ~ N(0, 1) within ±3, among those with E ≤ B. A price that
   was paid at most once, or has just changed, may stake at most φ·B, unless it is the cheapest.
9. Exploration: an operator that has been idle for r·K·E/ε Joules, or for r times two half-lives,
   when a quarter of what was known of it is left, is owed an application, if E ≤ φ·B; r is its
   price per candidate relative to the least of those that improve, or 1. So re-trying costs at most
   ε of the Joules, or five applications of each operator in a budget; dear operators less.

At B = ∞ the budget's factors are 1, and what was learned counts half after 100 applications.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..engine.kernel import kernel
from ..engine.rng import normal
from ..protocols import Belief, Decision, Hints
from ..registry import Range, selectors
from .eij_plus_memory import (
    ARM,
    POOL,
    EijPlusStats,
    earned,
    expected_credit,
    fade,
    is_surprise,
    pool_all,
    read_cost,
    spread_of,
)
from .shared.choice import decide, highest, untried

# Below every price, above the 0 that stands for an unknown one.
UNKNOWN = 1e-300
# Half-lives after which a quarter of what was known of an operator is left.
FORGOTTEN = 2.0
# Draws are cut off here: 50,000 decisions have one of four and a half standard deviations.
LUCKIEST = 3.0


class Draw(NamedTuple):
    """One operator's part in a decision."""

    gain: float
    """Expected credit of one application."""
    joules: float
    spread: float
    """Standard deviation of ln gain."""
    luck: float
    """The standard normal drawn, within ±3."""
    priority: float
    """ln(gain/joules) + spread·luck; -inf for what may not be started."""


@selectors.add("eij-plus")
@kernel
class EijPlus(NamedTuple):
    """EI/J+: credit per Joule with near misses, a shared prior and exploration paid in Joules.

    Examples
    --------
    >>> EijPlus(uncertainty=0.5).uncertainty
    0.5
    """

    # H
    memory_share: Annotated[float, Range(0, 100, "half-life, share of budget", above=True)] = 0.10
    # τ, with two operators
    uncertainty: Annotated[float, Range(0, 5, "largest sd of ln gain; keep below 0.7")] = 0.7
    # κ
    near_miss: Annotated[float, Range(0, 1, "largest credit of a candidate that is worse")] = 0.5
    # The least of n0.
    prior: Annotated[float, Range(0, 100, "least applications the prior is worth", above=True)] = (
        1.0
    )
    # ε; at 0 no operator is owed an application.
    exploration: Annotated[float, Range(0, 1, "share of the Joules for re-trying")] = 0.05
    # φ
    first_share: Annotated[
        float, Range(0, 1, "of what is left, at stake where the price is hardly known")
    ] = 0.10
    # Off: every application counts as one, and the budget as unlimited.
    cost: Annotated[bool, Range(about="off: energy does not count, the largest credit wins")] = True
    # At 0, and where cost is off, the run asks for no prices.
    probe: Annotated[float, Range(0, 1, "ask for prices each such share of the budget")] = 0.0

    def memory(self, hints: Hints, budget: float) -> EijPlusStats:
        """Return empty statistics, with the costs that are known beforehand."""
        arms = np.zeros(len(hints.names), ARM).view(np.recarray)
        arms.joules = hints.joules if self.cost else 1.0
        arms.candidates = np.maximum(hints.candidates, 1.0)
        pool = np.zeros(1, POOL).view(np.recarray)
        pool.half_life = self.memory_share * (budget if self.cost else np.inf)
        pool.doubt = self.uncertainty * math.sqrt(math.log(2.0) / math.log(max(arms.size, 2)))
        stats = EijPlusStats(arms, pool)
        pool_all(stats)
        return stats

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an operator of unknown cost, else one that is owed, else the best draw."""
        if stats.pool[0].cheapest == 0.0:
            return untried(stats.arms.joules, UNKNOWN, rng)
        o = self.owed(stats, left)
        return o if o >= 0 else highest(self, stats, left, rng, stats.arms.size)

    def score(self, stats: Any, left: float, operator: int, rng: Any) -> float:
        """Draw the priority alone."""
        return self.draw(stats, left, operator, rng).priority

    def owed(self, stats: Any, left: float) -> int:
        """Return the operator whose waiting time is exceeded the most, or -1."""
        if self.exploration == 0.0:
            return -1
        most = self.first_share * left if self.cost else np.inf
        pool = stats.pool[0]
        winner = -1
        longest = 1.0
        for o in range(stats.arms.size):
            arm = stats.arms[o]
            if arm.joules > most:
                continue
            dearer = max(arm.joules / (arm.candidates * pool.least), 1.0)
            wait = stats.arms.size * arm.joules / self.exploration
            waited = arm.idle / (dearer * min(wait, FORGOTTEN * pool.half_life))
            if waited >= longest:
                winner = o
                longest = waited
        return winner

    def draw(self, stats: Any, left: float, operator: int, rng: Any) -> Any:
        """Draw one operator's priority; what may not be started gets -inf and draws nothing."""
        arm, pool = stats.arms[operator], stats.pool[0]
        joules = arm.joules
        gain = expected_credit(arm, pool, self.prior)
        spread = spread_of(arm, pool)
        if self.cost:
            hardly_known = arm.readings < 2.0 and joules > pool.cheapest
            if joules > (self.first_share * left if hardly_known else left):
                return Draw(gain, joules, spread, 0.0, -np.inf)
            if left < np.inf:
                spread *= math.sqrt(left / (left + (1.0 + arm.tries) * joules))
        luck = min(max(normal(rng), -LUCKIEST), LUCKIEST)
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
        arm.credit += mean
        arm.squares += mean * mean
        pool_all(stats)

    def reprice(self, stats: Any, operator: int, joules: float) -> None:
        """Take in a cost that was probed, outside an application."""
        arm = stats.arms[operator]
        price = joules if self.cost else 1.0
        if is_surprise(arm, price):
            arm.readings = 0.0
        arm.joules = price
        pool_all(stats)

    def belief(self, stats: Any, operator: int) -> Any:
        """Return credit, cost and their ratio; gains are in units of credit, not of fitness."""
        arm, pool = stats.arms[operator], stats.pool[0]
        if arm.joules == 0.0:
            return Belief(np.nan, np.nan, np.nan, np.nan, np.nan)
        gain = expected_credit(arm, pool, self.prior)
        gain_sd = gain * spread_of(arm, pool)
        return Belief(gain, gain_sd, arm.joules, math.sqrt(arm.joules_var), gain / arm.joules)

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Explain the next decision by the very draws that will decide it."""
        chosen, replay = decide(self, stats, left, rng)
        if stats.pool[0].cheapest == 0.0:
            return Decision(chosen, (), "has an unknown cost, so it is tried once")
        if self.owed(stats, left) >= 0:
            spent = "Joules" if self.cost else "applications"
            waited = f"has been idle for {stats.arms[chosen].idle:.4g} {spent}"
            return Decision(chosen, (), f"{waited}, so it is tried again")
        draws = tuple(self.draw(stats, left, o, replay) for o in range(stats.arms.size))
        if chosen < 0:
            return Decision(chosen, draws, "is not chosen: none fits in the Joules left")
        if not self.cost:
            return Decision(chosen, draws, "drew the highest credit; energy does not count")
        return Decision(chosen, draws, "drew the highest credit per Joule among those that fit")
