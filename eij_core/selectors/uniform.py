"""Uniform choice, a baseline."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..engine.kernel import kernel
from ..engine.rng import below
from ..protocols import Decision
from ..registry import selectors
from .shared.choice import decide, keeps_means


@kernel
@keeps_means
class Uniform(NamedTuple):
    """Each operator with the same probability."""

    blind: bool = True
    """Always true; a compiled class needs a field."""

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Draw any operator."""
        return below(rng, stats.applications.size)

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Explain the next decision."""
        return Decision(decide(self, stats, left, rng)[0], (), "came up in a fair draw")


@selectors.add("uniform")
def uniform() -> Uniform:
    """Choose every operator with the same probability."""
    return Uniform()
