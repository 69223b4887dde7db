"""The roulette of adaptive large neighbourhood search: weights that change by segments."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ..engine.arrays import Number, Numbers, Whole, empty
from ..engine.kernel import kernel
from ..protocols import Hints
from ..registry import Range, selectors
from .shared.choice import chooses_by_chance
from .shared.rewards import PER_JOULE, Seen, belief_with_score, reward


class RouletteStats(NamedTuple):
    """The weights, and what the present segment has brought."""

    seen: Seen
    chance: Numbers
    """The weights; the wheel is spun with them as they are."""
    score: Numbers
    """π, rewards of the present segment."""
    attempts: Numbers
    """θ, applications in the present segment."""
    elapsed: Whole
    peak: Number


@selectors.add("roulette")
@kernel
@chooses_by_chance("came up on a wheel weighted by earlier segments")
class Roulette(NamedTuple):
    """w ← (1 − ρ)·w + ρ·π/θ after each segment; the choice is in proportion to w.

    Ropke and Pisinger, "An adaptive large neighborhood search heuristic for the pickup and
    delivery problem with time windows", Transp. Sci. 40 (2006); segments of 100 applications and
    ρ = 0.1 are theirs.
    """

    # Paper: scores of 33, 9 or 13 for a new best, a better or an accepted solution; here: the
    # reward, because a selector does not see what is accepted. Weights start at 1, its bound.
    segment: Annotated[int, Range(1, 1_000_000, "applications between two updates")] = 100
    reaction: Annotated[float, Range(0, 1, "weight of the latest segment")] = 0.1
    cost: Annotated[bool, PER_JOULE] = True

    def memory(self, hints: Hints, budget: float) -> RouletteStats:
        """Return equal weights."""
        k = len(hints.names)
        return empty(RouletteStats, k, chance=np.ones(k))

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
        """Return the running means, and the weight as score."""
        return belief_with_score(stats.seen, operator, stats.chance[operator])
