"""log-ei: posterior draws of the expected improvement, per Joule, on a logarithmic scale."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..engine.arrays import Number, Numbers, Wholes, empty
from ..engine.kernel import kernel
from ..engine.rng import normal
from ..protocols import Belief, Decision, Hints
from ..registry import Range, selectors
from .shared.choice import NOT_TRIED, Score, decide, highest, untried

WINDOW, REFRESH = 101, 10
LITTLE = 1e-9
NOISE_PRIOR = 0.02  # a dead operator's σ must shrink, so that its expected improvement does
HOPELESS = -30.0  # from here on the expected improvement is beyond floating point
UNAFFORDABLE = 1000.0


class LogEiStats(NamedTuple):
    """Discounted sums per operator, and the scale of the latest changes of fitness."""

    tries: Wholes
    candidates: Numbers
    """W."""
    total: Numbers
    """Y, of the squashed changes asinh(Δ/s)."""
    squares: Numbers
    """Q."""
    joules: Numbers
    """G."""
    applications: Numbers
    """A."""
    ring: Numbers
    """The latest |Δ| ≠ 0 of all operators."""
    pushes: Wholes
    """Their total number, now and at the latest refresh of the scale."""
    scale: Number
    """s, their median; 0 before the first."""
    half_life: Number


@selectors.add("log-ei")
@kernel
class LogEI(NamedTuple):
    """The largest draw of ln(expected improvement per Joule), from short memories.

    Changes of fitness are squashed by asinh on a common scale; the mean is drawn from its
    posterior, which narrows as the budget runs out, and the expected improvement over the value
    to beat follows in closed form (Jones, Schonlau and Welch, J. Glob. Optim. 13, 1998, Eq. 15),
    in logarithms as Ament et al. (NeurIPS 2023, arXiv:2310.20708) advise. The rule itself is this
    project's own and not published. `draws=off` takes the mean instead, as an ablation.
    """

    memory_share: Annotated[
        float, Range(0, 100, "half-life, as a share of the budget", above=True)
    ] = 0.05
    draws: Annotated[bool, Range(about="draw the mean; off: take its estimate")] = True
    cost: Annotated[
        bool, Range(about="per Joule; off: Joules count only against a Joule budget")
    ] = True

    def memory(self, hints: Hints, budget: float) -> LogEiStats:
        """Return empty statistics."""
        return empty(
            LogEiStats,
            len(hints.names),
            ring=np.zeros(WINDOW),
            pushes=np.zeros(2, np.int64),
            half_life=np.array([self.memory_share * budget]),
        )

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an untried operator, else the largest score."""
        o = untried(stats.tries, 1, rng)
        return o if o >= 0 else highest(self, stats, left, rng, stats.tries.size)

    def score(self, stats: Any, left: float, operator: int, rng: Any) -> float:
        """Draw the logarithm of the expected improvement per Joule."""
        luck = normal(rng) if self.draws else 0.0
        return log_expected_improvement(stats, left, operator, luck, self.cost)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the scale, discount all sums, add the squashed changes."""
        stats.tries[operator] += 1
        for delta in outcome.deltas:
            if delta != 0.0:
                stats.ring[stats.pushes[0] % WINDOW] = abs(delta)
                stats.pushes[0] += 1
        pushes, refreshed = stats.pushes[0], stats.pushes[1]
        if pushes > 0 and (refreshed == 0 or pushes - refreshed >= REFRESH):
            filled = min(pushes, WINDOW)
            stats.scale[0] = max(np.median(stats.ring[:filled]), 1e-12)
            stats.pushes[1] = pushes
        scale = stats.scale[0] if stats.scale[0] > 0.0 else 1.0
        keep = math.exp(-math.log(2.0) * joules / stats.half_life[0])
        for o in range(stats.tries.size):
            stats.candidates[o] *= keep
            stats.total[o] *= keep
            stats.squares[o] *= keep
            stats.joules[o] *= keep
            stats.applications[o] *= keep
        for delta in outcome.deltas:
            y = math.asinh(delta / scale)
            stats.candidates[operator] += 1.0
            stats.total[operator] += y
            stats.squares[operator] += y * y
        stats.joules[operator] += joules
        stats.applications[operator] += 1.0

    def belief(self, stats: Any, operator: int) -> Any:
        """Return squashed gain per application, Joules and the score at the mean."""
        if stats.tries[operator] == 0:
            return Belief(np.nan, np.nan, np.nan, np.nan, np.nan)
        applications = max(stats.applications[operator], LITTLE)
        candidates = max(stats.candidates[operator], LITTLE)
        mean = stats.total[operator] / candidates
        each = candidates / applications
        spread = math.sqrt(max(stats.squares[operator] / candidates - mean * mean, 0.0))
        joules = stats.joules[operator] / applications
        score = log_expected_improvement(stats, np.inf, operator, 0.0, self.cost)
        return Belief(mean * each, spread * each, joules, 0.0, score)

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Explain the next decision by the very scores that will decide it."""
        chosen, replay = decide(self, stats, left, rng)
        if (stats.tries == 0).any():
            return Decision(chosen, (), NOT_TRIED)
        scores = (self.score(stats, left, o, replay) for o in range(stats.tries.size))
        draws = tuple(Score(float(score)) for score in scores)
        per_joule = " per Joule" if self.cost else "; what it costs does not count"
        return Decision(chosen, draws, f"drew the highest expected improvement{per_joule}")


@kernel
def log_expected_improvement(
    stats: Any, left: float, operator: int, luck: float, cost: bool
) -> float:
    """Return ln(expected improvement · candidates / Joules) for a given standard normal."""
    weight = 0.0
    total = 0.0
    squares = 0.0
    for o in range(stats.tries.size):
        weight += stats.candidates[o]
        total += stats.total[o]
        squares += stats.squares[o]
    pooled_mean = total / max(weight, LITTLE)
    pooled_var = max(squares / max(weight, LITTLE) - pooled_mean * pooled_mean, 1e-6)
    w = stats.candidates[operator]
    own = stats.total[operator] / max(w, LITTLE)
    own_var = max(stats.squares[operator] / max(w, LITTLE) - own * own, 0.0)
    mean = (stats.total[operator] + pooled_mean) / (w + 1.0)
    noise = math.sqrt(max((w * own_var + NOISE_PRIOR * pooled_var) / (w + 1.0), 1e-12))
    variance = (w * own_var + pooled_var) / (w + 1.0)
    applications = stats.applications[operator]
    joules = stats.joules[operator] / max(applications, LITTLE)
    each = w / max(applications, LITTLE)
    remaining = left / max(joules, 1e-12)
    narrowing = 1.0 if left == np.inf else remaining / (remaining + applications)
    drawn = mean + math.sqrt(narrowing * variance / (applications + 1.0)) * luck
    z = drawn / noise
    if z < HOPELESS:
        score = -1e6 - abs(z)
    else:
        density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        improvement = density + z * 0.5 * math.erfc(-z / math.sqrt(2.0))
        if improvement <= 0.0:
            improvement = density / (1.0 + z * z)
        score = math.log(max(noise * improvement, 1e-300)) + math.log(max(each, LITTLE))
        if cost:
            score -= math.log(max(joules, 1e-300))
    return score - UNAFFORDABLE if joules > left else score
