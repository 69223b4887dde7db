"""Where a scheduler stands: what is left, and what its rule thinks."""

from __future__ import annotations

import contextlib
from typing import Any

from ..protocols import Belief, Decision
from .guard import Guard
from .open_run import OpenRun, Overhead


class Standing:
    """What can be read of a loop at any time, from any thread."""

    run: OpenRun
    _guard: Guard

    @property
    def done(self) -> bool:
        """Whether the budget is spent, or nothing fits in what is left."""
        return self.run.done

    @property
    def left(self) -> float:
        """Joules left."""
        return self.run.left

    @property
    def spent(self) -> float:
        """Joules spent, on a counter provisional ones since its last window."""
        return float(self.run.ledger.joules[0])

    @property
    def progress(self) -> float:
        """How much of the tightest limit is spent, 0 to 1."""
        return self.run.progress

    @property
    def solution(self) -> Any:
        """The best solution that was told."""
        return self.run.solution

    @property
    def overhead(self) -> Overhead:
        """What choosing and learning took so far."""
        return self.run.overhead

    def turn(self) -> contextlib.AbstractContextManager[bool]:
        """Return what holds the loop between two calls, for another thread that reads `run`."""
        return self._guard.turn()

    def belief(self) -> dict[str, Belief]:
        """Return what the rule thinks of each operator."""
        with self._guard.turn():
            run = self.run
            return {name: run.selector.belief(run.stats, o) for o, name in enumerate(run.names)}

    def explain(self) -> Decision:
        """Lay open the next decision, with the draws that will decide it."""
        with self._guard.turn():
            return self.run.explain()
