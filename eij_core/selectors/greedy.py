"""The basic estimator: the operator with the best average improvement per Joule so far."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from ..engine.kernel import kernel
from ..protocols import Decision
from ..registry import Range, selectors
from .shared.choice import decide, highest, keeps_means, untried


@selectors.add("greedy")
@kernel
@keeps_means
class Greedy(NamedTuple):
    """The largest ratio of plain averages, Eq. basic_eij; no exploration after the first tries.

    The paper gives the equation as motivation, not as a rule; it is here as a control.
    """

    tries: Annotated[int, Range(1, 1000, "applications of each operator before it competes")] = 1
    cost: Annotated[bool, Range(about="per Joule; off: energy does not count")] = True

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return an untried operator, else the one with the largest mean Δf, or Δf / mean E."""
        o = untried(stats.applications, self.tries, rng)
        return o if o >= 0 else max(highest(self, stats, left, rng, stats.applications.size), 0)

    def score(self, stats: Any, left: float, operator: int, rng: Any) -> float:
        """Return the mean Δf, per mean Joule if energy counts."""
        gain = stats.gain[operator]
        return gain / stats.joules[operator] if self.cost else gain

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Explain the next decision."""
        chosen, _ = decide(self, stats, left, rng)
        if stats.applications[chosen] < self.tries:
            return Decision(chosen, (), "has not been tried often enough yet")
        per_joule = " per Joule" if self.cost else ""
        return Decision(chosen, (), f"has the best average improvement{per_joule} so far")
