"""Round robin by Joules: every operator gets the same energy."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from ..engine.kernel import kernel
from ..protocols import Decision
from ..registry import Range, selectors
from .shared.choice import decide, highest, keeps_means


@selectors.add("joule-round-robin")
@kernel
@keeps_means
class JouleRoundRobin(NamedTuple):
    """The operator that has spent the fewest Joules so far: a control that never learns."""

    cost: Annotated[bool, Range(about="count Joules; off: count applications")] = True

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return the operator that has had the least; of equals, the first."""
        return highest(self, stats, left, rng, stats.applications.size)

    def score(self, stats: Any, left: float, operator: int, rng: Any) -> float:
        """Return the turn: minus what the operator has had."""
        each = stats.joules[operator] if self.cost else 1.0
        return -(stats.applications[operator] * each)

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Explain the next decision."""
        had = "Joules" if self.cost else "applications"
        return Decision(decide(self, stats, left, rng)[0], (), f"has had the fewest {had} so far")
