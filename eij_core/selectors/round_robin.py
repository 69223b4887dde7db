"""Round robin by Joules: every operator gets the same energy."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from ..kernel import kernel
from ..records import Hints
from ..registry import Range, selectors
from .averages import Averages, average, averaged_belief, empty_averages
from .decision import Decision, decide
from .picking import highest

__all__ = ["JouleRoundRobin"]


@selectors.add("joule-round-robin")
@kernel
class JouleRoundRobin(NamedTuple):
    """The operator that has spent the fewest Joules so far: a control that never learns."""

    cost: Annotated[bool, Range(about="count Joules; off: count applications")] = True

    def memory(self, hints: Hints, budget: float) -> Averages:
        """Return empty averages."""
        return empty_averages(len(hints.names))

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return the operator that has had the least; of equals, the first."""
        return highest(self, stats, left, rng, stats.applications.size)

    def score(self, stats: Any, left: float, operator: int, rng: Any) -> float:
        """Return the turn: minus what the operator has had."""
        each = stats.joules[operator] if self.cost else 1.0
        return -(stats.applications[operator] * each)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Keep averages."""
        average(stats, operator, outcome.gain, joules)

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the averages so far."""
        return averaged_belief(stats, operator)

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Say why."""
        had = "Joules" if self.cost else "applications"
        return Decision(decide(self, stats, left, rng)[0], (), f"has had the fewest {had} so far")
