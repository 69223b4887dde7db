"""What deciding and recording cost, apart from the solver: nanoseconds per decision and per row."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from eij_core.engine.compiled.entries import make_entry
from eij_core.engine.compiled.layout import pack
from eij_core.engine.cpu_clocks import cycle_count
from eij_core.engine.kernel import kernel
from eij_core.engine.rng import streams_for
from eij_core.engine.rows import new_trace
from eij_core.protocols import Hints, Outcome
from eij_core.registry import selectors

from .measure import Work, cpu_seconds
from .ours import Loop, run_ours

__all__ = ["Decider", "public_selectors", "with_every_row", "without_rows"]

INPUTS = 1024
"""Outcomes and Joules drawn beforehand, used in turn; a power of two."""
JOULES = 0.02
BUDGET = 1e9


def public_selectors() -> list[str]:
    return [name for name in selectors if not selectors.is_private(name)]


class Decider:
    """A selector that decides and learns, with nothing applied in between."""

    def __init__(self, name: str) -> None:
        self.selector = selectors.make(name)

    def decide(self, operators: int, candidates: int, decisions: int) -> Work:
        """Decide so often among so many operators, each application with so many candidates."""
        random = np.random.default_rng(1)
        names = tuple(f"operator-{o}" for o in range(operators))
        hints = Hints(names, np.full(operators, float(candidates)), np.full(operators, JOULES))
        stats = self.selector.memory(hints, BUDGET)
        deltas = random.normal(-1.0, 1.0, (INPUTS, candidates))
        joules = JOULES * np.exp(0.1 * random.standard_normal(INPUTS))
        rng = streams_for(1).picks
        frame = Decisions(self.selector, stats, deltas, joules, rng, INPUTS)
        decide = make_entry(decide_all, frame)
        decide(pack(frame))  # past the first tries
        more = pack(frame._replace(decisions=decisions))
        return Work(decisions, cpu_seconds(lambda: decide(more)))


class Decisions(NamedTuple):
    """A selector, what it learns from, and how often."""

    selector: Any
    stats: Any
    deltas: Any
    joules: Any
    rng: Any
    decisions: int


@kernel
def decide_all(frame: Any) -> int:
    """Select and learn; return the cycles that it took."""
    rule, stats = frame.selector, frame.stats
    cycles = 0
    for i in range(frame.decisions):
        mark = cycle_count()
        o = rule.select(stats, BUDGET, frame.rng)
        change = frame.deltas[i % INPUTS]
        outcome = Outcome(change[0], change.size, 0, change)
        rule.learn(stats, o, outcome, frame.joules[i % INPUTS])
        cycles += cycle_count() - mark
    return cycles


def without_rows(loop: Loop) -> Work:
    """Run the loop with recording switched off; the amount is decisions."""
    loop.ledger.mark[0] = math.inf
    return _decisions(loop._replace(limits=loop.limits._replace(step=0.0)))


def with_every_row(loop: Loop) -> Work:
    """Run the loop and record each decision; the amount is decisions."""
    room = new_trace(1 << 16, loop.ledger.applications.size)
    return _decisions(loop._replace(limits=loop.limits._replace(every=1), trace=room))


def _decisions(loop: Loop) -> Work:
    work, end = run_ours(loop)
    return Work(float(end.ledger.decisions[0]), work.seconds)
