"""One operator for the whole run: the paper's baselines."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ..engine.arrays import Whole, empty
from ..engine.kernel import kernel
from ..errors import InputError, nearest
from ..protocols import Decision, Hints
from ..registry import Range, selectors
from .shared.rewards import Seen, belief_of_means, update_means


class StaticStats(NamedTuple):
    """The chosen operator's number, and the running means of each."""

    chosen: Whole
    seen: Seen


@selectors.add("static")
@kernel
class Static(NamedTuple):
    """Always the same operator: a baseline (`static:operator=flip-1`)."""

    operator: Annotated[
        str, Range(about="name of an operator of the portfolio; first = its first")
    ] = "first"

    def memory(self, hints: Hints, budget: float) -> StaticStats:
        """Find the operator in the portfolio."""
        names = hints.names
        if self.operator != "first" and self.operator not in names:
            raise InputError("static:operator", self.operator, nearest(self.operator, names))
        chosen = 0 if self.operator == "first" else names.index(self.operator)
        return empty(StaticStats, len(names), chosen=np.array([chosen]))

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return the one operator."""
        return stats.chosen[0]

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Keep running means, for the plots."""
        update_means(stats.seen, operator, outcome.gain, joules)

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the running means."""
        return belief_of_means(stats.seen, operator)

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Explain the next decision."""
        return Decision(int(stats.chosen[0]), (), "is the only one this rule ever applies")
