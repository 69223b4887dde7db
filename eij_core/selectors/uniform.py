"""Uniform choice: the baseline that every clever rule must beat."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..kernel import kernel
from ..records import Hints
from ..registry import selectors
from ..rng import below
from .averages import Averages, average, averaged_belief, empty_averages
from .decision import Decision, decide

__all__ = ["Uniform"]


@kernel
class Uniform(NamedTuple):
    """Each operator with the same probability."""

    blind: bool = True
    """Always so: a rule that never looks at cost."""

    def memory(self, hints: Hints, budget: float) -> Averages:
        """Return empty averages."""
        return empty_averages(len(hints.names))

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Toss a fair die."""
        return below(rng, stats.applications.size)

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Keep averages, for the plots."""
        average(stats, operator, outcome.gain, joules)

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the averages so far."""
        return averaged_belief(stats, operator)

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Say why."""
        return Decision(decide(self, stats, left, rng)[0], (), "came up in a fair draw")


@selectors.add("uniform")
def uniform() -> Uniform:
    """Choose every operator with the same probability."""
    return Uniform()
