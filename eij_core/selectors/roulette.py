"""The roulette of adaptive large neighbourhood search: weights that change by segments."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernel import kernel
from ..records import Hints
from ..registry import Range, selectors
from .averages import Averages, empty_averages
from .decision import Decision
from .picking import explain_chances, spin
from .rewards import PER_JOULE, reward, valued_belief
from .tries import untried

__all__ = ["Roulette", "RouletteStats"]


class RouletteStats(NamedTuple):
    """The weights, and what the present segment has brought."""

    seen: Averages
    chance: NDArray[np.float64]
    """The weights; the wheel is spun with them as they are."""
    score: NDArray[np.float64]
    """π, rewards of the present segment."""
    attempts: NDArray[np.float64]
    """θ, applications in the present segment."""
    elapsed: NDArray[np.int64]
    peak: NDArray[np.float64]


@selectors.add("roulette")
@kernel
class Roulette(NamedTuple):
    """w ← (1 − ρ)·w + ρ·π/θ after each segment; the choice is in proportion to w.

    Ropke and Pisinger, "An adaptive large neighborhood search heuristic for the pickup and
    delivery problem with time windows", Transp. Sci. 40 (2006); segments of 100 applications and
    ρ = 0.1 are theirs.
    """

    # Paper: scores of 33, 9 or 13 for a new best, a better or an accepted solution; here: the
    # reward, because a selector is not told what is accepted. Weights start at 1, its bound.
    segment: Annotated[int, Range(1, 1_000_000, "applications between two updates")] = 100
    reaction: Annotated[float, Range(0, 1, "weight of the latest segment")] = 0.1
    cost: Annotated[bool, PER_JOULE] = True

    def memory(self, hints: Hints, budget: float) -> RouletteStats:
        """Return equal weights."""
        k = len(hints.names)
        return RouletteStats(
            empty_averages(k),
            np.ones(k),
            np.zeros(k),
            np.zeros(k),
            np.zeros(1, np.int64),
            np.zeros(1),
        )

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an untried operator, else spin."""
        o = untried(stats.seen.applications, 1, rng)
        return o if o >= 0 else spin(stats.chance, rng)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Add the reward to the segment; at its end, update the weights."""
        stats.score[operator] += reward(stats, operator, outcome, joules, self.cost)
        stats.attempts[operator] += 1.0
        stats.elapsed[0] += 1
        if stats.elapsed[0] < self.segment:
            return
        stats.elapsed[0] = 0
        for o in range(stats.chance.size):
            if stats.attempts[o] > 0.0:
                mean = stats.score[o] / stats.attempts[o]
                stats.chance[o] = (1.0 - self.reaction) * stats.chance[o] + self.reaction * mean
            stats.score[o] = 0.0
            stats.attempts[o] = 0.0

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the averages, and the weight as score."""
        return valued_belief(stats.seen, operator, stats.chance[operator])

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Say why."""
        reason = "came up on a wheel weighted by earlier segments"
        return explain_chances(self, stats, left, rng, reason)
