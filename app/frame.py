"""A frame: all that can be drawn of a run at one moment. Plots are functions of it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eij_core import Budget, Result, Run
from eij_core.meters.meter import SourceInfo
from eij_core.records import row_dtype

__all__ = ["Frame", "Lane", "Tally", "frame_of_result", "tally_of"]


class Lane(NamedTuple):
    """A run that is drawn beside the one under study."""

    label: str
    rows: NDArray[Any]
    kind: str = "static"
    """What it is: "static", "uniform", or "past" for an earlier run of the session."""


class Tally(NamedTuple):
    """Where a run stands, beyond its recorded rows; taken by its own thread between chunks."""

    decisions: int
    evaluations: int
    joules: float
    seconds: float
    best: float
    progress: float
    histogram: NDArray[np.int64]
    """Applications by operator and Joules, see `eij_core.records.bin_edges`."""
    next: Any
    """The decision that comes next, laid open by the selector; None when the run is over."""
    tip: NDArray[Any]
    """One row that describes this very moment, which the recorded grid may not."""


class Frame(NamedTuple):
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
    others: tuple[Lane, ...] = ()
    source: SourceInfo | None = None
    """How far the Joules can be trusted; None where a recording does not say."""

    @property
    def energy(self) -> str:
        """How the Joules are known, for titles: no figure goes without it."""
        return f"{self.provenance} Joules, meter {self.meter}"

    @property
    def used(self) -> tuple[NDArray[np.float64], str, float]:
        """The share of the budget used at each row, the axis label, and the axis' end."""
        if math.isfinite(self.budget.joules):
            return 100.0 * self.rows["spent"] / self.budget.joules, "Budget used (%)", 100.0
        if math.isfinite(self.budget.evaluations):
            used = 100.0 * self.rows["evaluations"] / self.budget.evaluations
            return used, "Budget used (% of evaluations)", 100.0
        return self.rows["spent"], "Joules spent (J)", math.nan

    def belief(self, field: int) -> NDArray[np.float64]:
        """One field of the beliefs, rows × operators."""
        return self.rows["beliefs"][:, :, field]

    def until(self, share: float) -> Frame:
        """Return the frame as it was when this share (0 to 1) of its rows was recorded."""
        end = max(1, round(share * len(self.rows)))
        if end >= len(self.rows):
            return self
        spent = self.rows["spent"][end - 1]
        others = tuple(o._replace(rows=o.rows[o.rows["spent"] <= spent]) for o in self.others)
        return self._replace(rows=self.rows[:end], others=others, tally=None)


def tally_of(run: Run) -> Tally:
    """Describe where a run stands. Call it from the thread that drives the run, or at rest."""
    ledger = run.ledger
    tip = np.empty(1, row_dtype(len(run.names)))
    tip["decision"] = ledger.decisions[0]
    tip["operator"] = -1
    tip["gain"] = tip["joules"] = math.nan
    tip["spent"] = ledger.joules[0]
    tip["evaluations"] = ledger.evaluations[0]
    tip["best"] = run.state.best_f[0]
    tip["applications"] = ledger.applications
    tip["operator_joules"] = ledger.operator_joules
    for o in range(len(run.names)):
        tip["beliefs"][0, o] = tuple(run.selector.belief(run.stats, o))
    return Tally(
        decisions=int(ledger.decisions[0]),
        evaluations=int(ledger.evaluations[0]),
        joules=float(ledger.joules[0]),
        seconds=run.seconds,
        best=float(run.state.best_f[0]),
        progress=run.progress,
        histogram=ledger.histogram.copy(),
        next=None if run.done else run.explain(),
        tip=tip,
    )


def frame_of_run(run: Run, rows: NDArray[Any], tally: Tally | None) -> Frame:
    """Draw a run in progress from these rows."""
    trial = run.trial
    return Frame(
        rows,
        run.names,
        trial.budget,
        trial.name_of("problem"),
        trial.name_of("algorithm"),
        trial.name_of("selector"),
        run.source.info.name,
        str(run.source.info.provenance),
        float(getattr(run.problem, "optimum", math.nan)),
        tally,
        source=run.source.info,
    )


def frame_of_result(result: Result, others: tuple[Lane, ...] = ()) -> Frame:
    """Draw a result of `eij_core.solve`.

    Examples
    --------
    >>> from eij_core import Trial, solve
    >>> result = solve(Trial("nk:n=20,k=3", "ils", budget="20 J", seed=7), compiled=False)
    >>> frame_of_result(result).energy
    'simulated Joules, meter paper'
    """
    spent = result.spent
    tally = Tally(
        spent.decisions,
        spent.evaluations,
        spent.joules,
        spent.seconds,
        result.best.fitness,
        1.0,
        np.array([total.histogram for total in result.operators]),
        None,
        result.rows[-1:],
    )
    return Frame(
        result.rows,
        tuple(total.name for total in result.operators),
        result.trial.budget,
        result.trial.name_of("problem"),
        result.trial.name_of("algorithm"),
        result.trial.name_of("selector"),
        result.meter.name,
        str(result.meter.provenance),
        result.best.optimum,
        tally,
        others,
        result.meter,
    )
