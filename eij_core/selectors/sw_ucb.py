"""Sliding-window UCB: only the latest rewards count."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..engine.arrays import Number, Numbers, Whole, Wholes, empty
from ..engine.kernel import kernel
from ..protocols import Hints
from ..registry import Range, selectors
from .shared.choice import chooses_by_score, highest, untried
from .shared.rewards import PER_JOULE, Seen, belief_with_score, reward


class WindowStats(NamedTuple):
    """The latest rewards in a ring, and their sums per operator."""

    seen: Seen
    rewards: Numbers
    pulls: Numbers
    ring_operator: Wholes
    ring_reward: Numbers
    total: Whole
    """Applications so far; also the next place in the ring."""
    peak: Number


@selectors.add("sw-ucb")
@kernel
@chooses_by_score("has the highest upper bound of its reward within the window")
class SlidingWindowUCB(NamedTuple):
    """The largest mean reward in a window of τ + B·√(ξ ln min(t, τ) / N).

    Garivier and Moulines, "On upper-confidence bound policies for switching bandit problems", ALT
    2011 (arXiv:0805.3415), sliding-window UCB. The formula agrees with public implementations;
    ξ = 0.5 could not be checked against the text.
    """

    # Paper: B bounds the rewards, which would be 1; here: 0.5, because rewards are mostly far below
    # their bound, and with ξ = 0.5 this is the width of `ucb1`.
    # Paper: τ from horizon and number of changes; here: 200, because neither is known.
    window: Annotated[int, Range(1, 1_000_000, "τ, applications that count")] = 200
    xi: Annotated[float, Range(0, 10, "ξ, weight of the logarithm")] = 0.5
    bound: Annotated[float, Range(0, 100, "B, scale of the rewards")] = 0.5
    cost: Annotated[bool, PER_JOULE] = True

    def memory(self, hints: Hints, budget: float) -> WindowStats:
        """Return an empty window."""
        return empty(
            WindowStats,
            len(hints.names),
            ring_operator=np.zeros(self.window, np.int64),
            ring_reward=np.zeros(self.window),
        )

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an operator untried within the window, else the largest upper bound."""
        o = untried(stats.pulls, 1, rng)
        return o if o >= 0 else highest(self, stats, left, rng, stats.pulls.size)

    def score(self, stats: Any, left: float, operator: int, rng: Any) -> float:
        """Return the upper bound."""
        pulls = stats.pulls[operator]
        if pulls == 0.0:
            return np.inf
        width = math.sqrt(self.xi * math.log(min(stats.total[0], self.window)) / pulls)
        return stats.rewards[operator] / pulls + self.bound * width

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Put the reward into the window, and the oldest out."""
        r = reward(stats, operator, outcome, joules, self.cost)
        place = stats.total[0] % self.window
        if stats.total[0] >= self.window:
            old = stats.ring_operator[place]
            stats.pulls[old] -= 1.0
            # Differences of sums leave rounding errors; the reward of an empty window is exactly 0.
            rest = stats.rewards[old] - stats.ring_reward[place]
            stats.rewards[old] = max(rest, 0.0) if stats.pulls[old] > 0.0 else 0.0
        stats.ring_operator[place] = operator
        stats.ring_reward[place] = r
        stats.rewards[operator] += r
        stats.pulls[operator] += 1.0
        stats.total[0] += 1

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the running means, and the mean reward within the window as score."""
        mean = stats.rewards[operator] / max(stats.pulls[operator], 1.0)
        return belief_with_score(stats.seen, operator, mean)
