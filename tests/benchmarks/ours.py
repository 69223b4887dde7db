"""The whole energy-aware loop of eij_core, set up as a run sets it up."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

from eij_core import Run, Trial
from eij_core.engine.execution import Loop as Execution
from eij_core.engine.loop import FULL, MORE

from .measure import Work, cpu_seconds

__all__ = ["Case", "Loop", "prepare", "run_ours"]

WITHOUT_END = 1 << 62


class Case(NamedTuple):
    """What is run, by the names that users give."""

    problem: str
    algorithm: str
    operator: str = ""
    """The one operator applied, or '' where EI/J chooses."""

    @property
    def selector(self) -> str:
        return f"static:operator={self.operator}" if self.operator else "eij"


class Loop(NamedTuple):
    """All that the compiled loop takes."""

    problem: Any
    algorithm: Any
    selector: Any
    meter: Any
    limits: Any
    state: Any
    stats: Any
    ledger: Any
    streams: Any
    trace: Any


def prepare(case: Case, joules: float, **more: Any) -> Loop:
    """Make and compile the loop; its state is that after the start."""
    run = Run(
        Trial(case.problem, case.algorithm, case.selector, budget=f"{joules} J", **more),
        compiled=True,
    )
    fields = {name: getattr(run, name) for name in Loop._fields if name != "meter"}
    return Loop(**fields, meter=run.charges.compiled)


def compiled(loop: Loop) -> Any:
    """Return `advance` of the compiled loop, which takes selector, limits and decisions."""
    execution = Execution(
        loop.problem, loop.algorithm, loop.meter, loop.state, loop.stats, loop.ledger,
        loop.streams, loop.trace,
    )  # fmt: skip
    execution.compile(loop.selector, loop.limits)
    return execution.advance


def run_ours(loop: Loop) -> tuple[Work, Loop]:
    """Run a copy of the loop to its end; return evaluations per CPU time, and how it ended."""
    loop = copy.deepcopy(loop)
    advance = compiled(loop)
    start = loop.ledger.evaluations[0]

    def go() -> None:
        while advance(loop.selector, loop.limits, WITHOUT_END)[2] in (FULL, MORE):
            pass

    seconds = cpu_seconds(go)
    return Work(float(loop.ledger.evaluations[0] - start), seconds), loop
