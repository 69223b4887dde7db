"""A snapshot: all that can be drawn of a run at one moment. Plots are functions of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eij_core import Budget, EijError, Result, Run, Trial
from eij_core.engine.rows import row_dtype
from eij_core.protocols import Belief, EnergyInfo
from eij_core.records import Record
from eij_core.registry import Spec, problems
from eij_core.result import Change, best_of
from eij_core.trial import FAMILIES

from .feasibility import has_constraints, infeasible_rows


class Curve(NamedTuple):
    """A run that is drawn beside the one under study."""

    label: str
    rows: NDArray[Any]
    kind: str = "static"
    """What it is: "static", "uniform", or "past" for an earlier run of the session."""


class Tally(NamedTuple):
    """Where a run stands, beyond its recorded rows; taken by its own thread between chunks."""

    decisions: int
    seconds: float
    progress: float
    histogram: NDArray[np.int64]
    """Applications by operator and Joules, see `eij_core.engine.histogram`."""
    next: Any
    """The decision that comes next, laid open by the selector; None when the run is over."""
    tip: NDArray[Any]
    """One row that describes this very moment, which the recorded grid may not."""
    feasible: bool = True
    """Whether the best solution keeps the problem's constraints."""
    changes: tuple[Change, ...] = ()
    """Parameters that were changed while the run was on."""
    best_x: Any = None
    """The best solution so far, a copy; a Scheduler's is what its loop has told."""


class Snapshot(NamedTuple):
    """A run as far as it has come, with what every plot must say about it."""

    rows: NDArray[Any]
    names: tuple[str, ...]
    budget: Budget
    problem: str
    algorithm: str
    selector: str
    meter: str
    provenance: str
    optimum: float = math.nan
    tally: Tally | None = None
    others: tuple[Curve, ...] = ()
    info: EnergyInfo | None = None
    """How far the Joules can be trusted; None where a recording does not say."""
    constrained: bool = False
    """Whether the problem has infeasible solutions, whose fitness is penalised."""
    instance: Callable[[], Any] = lambda: None
    """Returns the problem, which knows what a solution looks like; None where it was not kept."""

    @property
    def components(self) -> tuple[str, str, str]:
        """The names of problem, algorithm and rule."""
        return self.problem, self.algorithm, self.selector

    @property
    def energy(self) -> str:
        """How the Joules are known, for titles: no figure goes without it."""
        return f"{self.provenance} Joules, meter {self.meter}"

    @property
    def used(self) -> tuple[NDArray[np.float64], str, float | None]:
        """The share of the budget used at each row, the axis' label, and its end if it has one."""
        if math.isfinite(self.budget.joules):
            return 100.0 * self.rows["spent"] / self.budget.joules, "Budget used (%)", 100.0
        if math.isfinite(self.budget.evaluations):
            used = 100.0 * self.rows["evaluations"] / self.budget.evaluations
            return used, "Budget used (% of evaluations)", 100.0
        return self.rows["spent"], "Joules spent (J)", None

    @property
    def best_x(self) -> Any:
        """The best solution at this moment; None before a run, and at moments of the past."""
        return None if self.tally is None else self.tally.best_x

    @property
    def used_share(self) -> float:
        """How much of the budget is used, 0 to 1; of seconds only what a tally knows."""
        last, budget = self.latest[0], self.budget
        seconds = self.tally.seconds if self.tally is not None else 0.0
        used = (
            last["spent"] / budget.joules,
            last["evaluations"] / budget.evaluations,
            seconds / budget.seconds,
        )
        return float(min(1.0, max(used)))

    @property
    def latest(self) -> NDArray[Any]:
        """One row that describes this moment; none before the first row."""
        return self.rows[-1:] if self.tally is None else self.tally.tip

    @property
    def infeasible(self) -> int:
        """How many of its rows come before the first feasible solution."""
        if self.tally is not None and not self.tally.feasible:
            return len(self.rows)
        return infeasible_rows(self.rows, self.constrained)

    @property
    def is_infeasible(self) -> bool:
        """Whether no feasible solution has been found up to this moment."""
        return 0 < len(self.rows) == self.infeasible

    def infeasible_of(self, curve: Curve) -> int:
        """How many rows of a run beside this one come before its first feasible solution."""
        return infeasible_rows(curve.rows, self.constrained)

    @property
    def never_applied(self) -> list[str]:
        """The operators that have not been applied so far: what a rule says of them is a guess."""
        applied = self.latest["applications"].sum(axis=0)
        return [name for name, times in zip(self.names, applied, strict=True) if not times]

    def belief(self, field: str) -> NDArray[np.float64]:
        """Return one field of `Belief`, rows × operators; nan until an operator is applied."""
        values = self.rows["beliefs"][:, :, Belief._fields.index(field)]
        return np.where(self.rows["applications"] > 0, values, math.nan)

    @property
    def beliefs_now(self) -> list[Belief]:
        """What the rule believes of each operator at this moment; nan before the first row."""
        if not len(self.latest):
            return [Belief(*[math.nan] * 5)] * len(self.names)
        return [Belief(*values) for values in self.latest["beliefs"][0]]

    def until(self, share: float) -> Snapshot:
        """Return the snapshot as it was when this share (0 to 1) of its rows was recorded."""
        end = max(1, round(share * len(self.rows)))
        if end >= len(self.rows):
            return self
        spent = self.rows["spent"][end - 1]
        others = tuple(o._replace(rows=o.rows[o.rows["spent"] <= spent]) for o in self.others)
        return self._replace(rows=self.rows[:end], others=others, tally=None)


def tally_of(run: Run, before: Tally | None = None) -> Tally:
    """Describe where a run stands. Call it from the thread that drives the run, or at rest.

    Parameters
    ----------
    before : Tally, optional
        The one before of this run: a solution that is no better is not copied again.
    """
    ledger = run.ledger
    beliefs = [run.selector.belief(run.stats, o) for o in range(len(run.names))]
    decisions = ledger.decisions[0].item()
    standing = (ledger.joules[0], ledger.evaluations[0], best_of(run))
    totals = (ledger.applications, ledger.operator_joules)
    row = (decisions, -1, math.nan, math.nan, *standing, *totals, beliefs)
    return Tally(
        decisions=decisions,
        seconds=run.seconds,
        progress=run.progress,
        histogram=ledger.histogram.copy(),
        next=None if run.done else run.explain(),
        tip=np.array([row], row_dtype(len(run.names))),
        best_x=_solution_of(run, before),
        feasible=_is_feasible(run),
        changes=tuple(run.changes),
    )


def _is_feasible(run: Run) -> bool:
    test = getattr(run.problem, "feasible", None)
    return test is None or bool(test(getattr(run, "solution", run.state.best_x)))


def _solution_of(run: Run, before: Tally | None) -> Any:
    """Return the best solution, copied if it is new since the tally before."""
    if before is not None and before.tip["best"][0] == run.state.best_f[0]:
        return before.best_x
    return copy(getattr(run, "solution", run.state.best_x))


def final_tally(ended: Result | Record) -> Tally:
    """Describe where a run ended."""
    return Tally(
        decisions=ended.spent.decisions,
        seconds=ended.spent.seconds,
        progress=1.0,
        histogram=np.array([total.histogram for total in ended.operators]),
        next=None,
        tip=ended.rows[-1:],
        feasible=ended.best.feasible,
        changes=tuple(ended.changes),
        best_x=ended.best.x,
    )


def snapshot_of_run(run: Run, rows: NDArray[Any], tally: Tally | None) -> Snapshot:
    """Return the snapshot of a run in progress, with these of its rows."""
    optimum = float(getattr(run.problem, "optimum", math.nan))
    snapshot = _snapshot_of(run.trial, rows, run.names, run.meter.info, optimum, tally)
    return snapshot._replace(instance=lambda: run.problem)


def snapshot_of_result(result: Result, others: tuple[Curve, ...] = ()) -> Snapshot:
    """Return the snapshot of a result of `eij_core.solve`.

    Examples
    --------
    >>> from eij_core import Trial, solve
    >>> result = solve(Trial("nk:n=20,k=3", "ils", budget="20 J", seed=7), compiled=False)
    >>> snapshot_of_result(result).energy
    'simulated Joules, meter paper'
    """
    names = tuple(total.name for total in result.operators)
    known = (result.best.optimum, final_tally(result), others)
    snapshot = _snapshot_of(result.trial, result.rows, names, result.meter, *known)
    return snapshot._replace(instance=partial(instance_of, result.trial))


def empty_snapshot(trial: Trial, info: EnergyInfo | None = None) -> Snapshot:
    """Return the snapshot of a run that has not begun; `info`: what its meter will give."""
    names = tuple(operator.name for operator in trial.make("algorithm").operators)
    return _snapshot_of(trial, np.zeros(0, row_dtype(len(names))), names, info)


def instance_of(trial: Trial) -> Any:
    """Return a trial's problem; None where it cannot be built, as of a file that is gone."""
    if not isinstance(trial.problem, Spec):
        return trial.problem
    try:
        return _built(trial.problem)
    except EijError:
        return None


@lru_cache(maxsize=4)
def _built(problem: Spec) -> Any:
    return problems.make(problem)


def _snapshot_of(
    trial: Trial, rows: NDArray[Any], names: tuple[str, ...], info: EnergyInfo | None, *known: Any
) -> Snapshot:
    """Return a snapshot; `known`: its optimum, tally and others, as far as they are known."""
    problem, algorithm, selector, meter = map(trial.name_of, FAMILIES)
    energy = (info.name, str(info.provenance)) if info else (meter, "no")
    described = (rows, names, trial.budget, problem, algorithm, selector, *energy)
    constrained = has_constraints(trial.problem)
    return Snapshot(*described, *known)._replace(info=info, constrained=constrained)
