"""The paper's rule: the largest drawn improvement per drawn Joule, weighed by the budget."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engine.arrays import Numbers, Wholes, empty
from ..engine.kernel import kernel
from ..engine.rng import normals
from ..protocols import Belief, Decision, Hints
from ..registry import Range, selectors
from .shared.choice import decide, highest, untried


class EijStats(NamedTuple):
    """Moving averages per operator: Δf, and the logarithm of Joules."""

    tries: Wholes
    gain: Numbers
    gain_var: Numbers
    log_joules: Numbers
    log_joules_var: Numbers
    joules: Numbers
    """The mean exp(μ + σ²/2) of the log-normal, kept for the penalty."""


class Draw(NamedTuple):
    """One operator's part in a decision."""

    gain: float
    joules: float
    ratio: float
    penalty: float
    priority: float


@selectors.add("eij")
@kernel
class EIJ(NamedTuple):
    """The paper's EI/J: Thompson draws of improvement per Joule, with the budget's penalty.

    `tries=1` is the paper's text; with 2, one unlucky first try does not lock an operator out.
    `cost=off` leaves energy out of the choice, for purely numerical studies.

    Examples
    --------
    >>> EIJ(alpha=0.5)
    EIJ(alpha=0.5, tries=2, cost=True)
    """

    # As in the paper, alpha weighs the *old* estimate.
    alpha: Annotated[float, Range(0, 1, "weight of the old estimate")] = 0.9
    tries: Annotated[int, Range(1, 1000, "applications of each operator before it competes")] = 2
    cost: Annotated[
        bool, Range(about="off: energy does not count, the largest improvement drawn wins")
    ] = True

    def memory(self, hints: Hints, budget: float) -> EijStats:
        """Return empty statistics for these operators; a profile's Joules, if there is one."""
        stats = empty(EijStats, len(hints.names))
        if hints.log_sd is not None:
            known = hints.joules > 0.0
            stats.joules[known] = hints.joules[known]
            stats.log_joules_var[:] = hints.log_sd**2
            stats.log_joules[known] = np.log(hints.joules[known]) - 0.5 * hints.log_sd[known] ** 2
        return stats

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Algorithm 1: untried operators first, in random order, then the largest priority."""
        o = untried(stats.tries, self.tries, rng)
        return o if o >= 0 else max(highest(self, stats, left, rng, stats.tries.size), 0)

    def score(self, stats: Any, left: float, operator: int, rng: Any) -> float:
        """Draw the priority alone."""
        return self.draw(stats, left, operator, rng).priority

    def draw(self, stats: Any, left: float, operator: int, rng: Any) -> Any:
        """Draw one operator's priority: Eqs. sample_f, sample_E, EI/J_robust, budget, priority."""
        z_gain, z_joules = normals(rng)
        gain = stats.gain[operator] + math.sqrt(stats.gain_var[operator]) * z_gain
        joules = math.exp(
            stats.log_joules[operator] + math.sqrt(stats.log_joules_var[operator]) * z_joules
        )
        if not self.cost:
            return Draw(gain, joules, gain, 1.0, gain)
        ratio = gain / joules
        penalty = 1.0 if left == np.inf else left / (left + stats.joules[operator])
        return Draw(gain, joules, ratio, penalty, ratio * penalty)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Update the moving averages: Eqs. mu_f_update to sigma_E_update."""
        log_joules = math.log(joules)
        if stats.tries[operator] == 0:
            # Paper: initial values not stated; here: the first observation, with no variance.
            stats.gain[operator] = outcome.gain
        else:
            average_in(stats.gain, stats.gain_var, operator, outcome.gain, self.alpha)
        if stats.joules[operator] == 0.0:  # a profile knows them before the first try
            stats.log_joules[operator] = log_joules
        else:
            average_in(stats.log_joules, stats.log_joules_var, operator, log_joules, self.alpha)
        stats.tries[operator] += 1
        stats.joules[operator] = math.exp(
            stats.log_joules[operator] + 0.5 * stats.log_joules_var[operator]
        )

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the estimates that the next draws will be made from."""
        if stats.tries[operator] == 0:
            return Belief(np.nan, np.nan, np.nan, np.nan, np.nan)
        joules = stats.joules[operator]
        spread = math.sqrt(math.exp(stats.log_joules_var[operator]) - 1.0)
        gain = stats.gain[operator]
        return Belief(
            gain, math.sqrt(stats.gain_var[operator]), joules, joules * spread, gain / joules
        )

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Explain the next decision by the very draws that will decide it."""
        chosen, replay = decide(self, stats, left, rng)
        waiting = stats.tries < self.tries
        if waiting.any():
            reason = f"has been tried {stats.tries[chosen]} of {self.tries} times, so it goes first"
            return Decision(chosen, (), reason)
        draws = tuple(self.draw(stats, left, o, replay) for o in range(stats.tries.size))
        if not self.cost:
            return Decision(chosen, draws, "drew the highest improvement; energy does not count")
        return Decision(
            chosen, draws, "drew the highest improvement per Joule, weighed by the budget"
        )


@kernel
def average_in(means: Any, variances: Any, operator: int, value: float, alpha: float) -> None:
    """Move an operator's averages towards a value; alpha is the weight of the old ones."""
    mean = alpha * means[operator] + (1.0 - alpha) * value
    deviation = value - mean  # from the updated mean, as the paper writes it
    means[operator] = mean
    variances[operator] = alpha * variances[operator] + (1.0 - alpha) * deviation * deviation


def probability_of_first(stats: EijStats, first: int = 0, second: int = 1) -> float:
    """Return P(o1), the probability that `first` draws the larger EI/J (Eq. probability).

    ln R is normal, and the expectation over R is a Gauss-Legendre quadrature, in panels that
    narrow towards the R at which both ratios are equal: with little spread of the gains the
    integrand is a step there.

    Examples
    --------
    >>> one = np.ones(2)
    >>> stats = EijStats(np.array([5, 5]), one, one, one, 0.01 * one, one)
    >>> round(probability_of_first(stats), 6)
    0.5
    """
    mean = stats.log_joules[first] - stats.log_joules[second]
    sd = math.sqrt(stats.log_joules_var[first] + stats.log_joules_var[second])
    gain_1, gain_2 = stats.gain[first], stats.gain[second]
    if sd == 0.0:
        z, weights = np.zeros(1), np.ones(1)
    else:
        even = gain_1 * gain_2 > 0.0
        step = (math.log(gain_1 / gain_2) - mean) / sd if even else 0.0
        z, weights = _normal_quadrature(min(max(step, -TAIL), TAIL))
    ratio = np.exp(mean + sd * z)
    lead = gain_1 - ratio * gain_2
    spread = np.sqrt(stats.gain_var[first] + ratio**2 * stats.gain_var[second])
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(spread > 0, lead / spread, np.sign(lead) * np.inf)
    score = np.where(np.isnan(score), 0.0, score)  # no lead and no spread: a tie
    chance = np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in score])
    return float((weights * chance).sum() / weights.sum())


TAIL = 9.0
"""Beyond so many standard deviations a normal draw is never seen."""


def _normal_quadrature(step: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nodes and weights over the standard normal, dense around `step`."""
    narrowing = TAIL * 0.5 ** np.arange(40)
    edges = np.unique(
        np.clip([*np.arange(-TAIL, TAIL + 0.5, 0.5), step, *step - narrowing, *step + narrowing],
                -TAIL, TAIL)
    )  # fmt: skip
    points, weights = np.polynomial.legendre.leggauss(8)
    half = np.diff(edges)[:, None] / 2
    z = (edges[:-1, None] + half + half * points).ravel()
    return z, (half * weights).ravel() * np.exp(-0.5 * z * z)
