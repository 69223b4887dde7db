"""One operator for the whole run: the paper's baselines."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, nearest
from ..kernel import kernel
from ..records import Hints
from ..registry import Range, selectors
from .averages import Averages, average, averaged_belief, empty_averages
from .decision import Decision

__all__ = ["Static", "StaticStats"]


class StaticStats(NamedTuple):
    """The operator's number, and what was seen of each."""

    chosen: NDArray[np.int64]
    seen: Averages


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
        return StaticStats(np.array([chosen]), empty_averages(len(names)))

    def select(self, stats: Any, left: float, rng: Any) -> int:
        """Return the one operator."""
        return stats.chosen[0]

    def learn(self, stats: Any, operator: int, outcome: Any, joules: float) -> None:
        """Keep averages, for the plots."""
        average(stats.seen, operator, outcome.gain, joules)

    def belief(self, stats: Any, operator: int) -> Any:
        """Return the averages so far."""
        return averaged_belief(stats.seen, operator)

    def explain(self, stats: Any, left: float, rng: Any) -> Decision:
        """Say why."""
        return Decision(int(stats.chosen[0]), (), "is the only one this rule ever applies")
