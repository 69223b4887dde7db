"""The basic estimator: the operator with the best average improvement per Joule so far."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ..kernel import kernel
from ..records import Hints
from ..registry import Range, selectors
from .averages import Averages, average, averaged_belief, empty_averages
from .decision import Decision, decide
from .tries import untried

__all__ = ["Greedy"]


@selectors.add("greedy")
@kernel
class Greedy(NamedTuple):
    """The largest ratio of plain averages, Eq. basic_eij; no exploration after the first tries.

    The paper gives the equation as motivation, not as a rule; it is here as a control.
    """

    tries: Annotated[int, Range(1, 1000, "applications of each operator before it competes")] = 1
    cost: Annotated[bool, Range(about="per Joule; off: energy does not count")] = True

    def memory(self, hints: Hints, budget: float) -> Averages:
        """Return empty averages."""
        return empty_averages(len(hints.names))

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an untried operator, else the one with the largest mean Δf, or Δf / mean E."""
        o = untried(stats.applications, self.tries, rng)
        if o >= 0:
            return o
        winner = 0
        highest = -np.inf
        for o in range(stats.applications.size):
            score = stats.gain[o] / stats.joules[o] if self.cost else stats.gain[o]
            if score > highest:
                winner = o
                highest = score
        return winner

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Take the application into the averages."""
        average(stats, operator, outcome.gain, joules)

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the averages so far."""
        return averaged_belief(stats, operator)

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Say why."""
        chosen, _ = decide(self, stats, left, rng)
        if stats.applications[chosen] < self.tries:
            return Decision(chosen, (), "has not been tried often enough yet")
        per_joule = " per Joule" if self.cost else ""
        return Decision(chosen, (), f"has the best average improvement{per_joule} so far")
