"""What a run found and what it cost."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .display import picture, sentence
from .meters.meter import SourceInfo
from .records import Belief
from .trial import Trial

if TYPE_CHECKING:
    import pandas as pd

    from .run import Run

__all__ = [
    "Best",
    "Change",
    "OperatorTotal",
    "Result",
    "Spent",
    "digest_of_run",
    "finite",
    "frame_of",
    "result_of",
]


class Best(NamedTuple):
    """The best solution found."""

    x: NDArray[np.uint8]
    fitness: float
    feasible: bool
    gap: float
    """Optimum − fitness; nan where the optimum is unknown."""
    optimum: float


class Spent(NamedTuple):
    """What the run took."""

    joules: float
    evaluations: int
    decisions: int
    seconds: float
    overshoot: float
    """Joules that the last application took beyond the budget."""
    start_joules: float
    """Joules of the initial population, part of `joules`."""


class OperatorTotal(NamedTuple):
    """What one operator did over the run."""

    name: str
    applications: int
    evaluations: int
    joules: float
    gain: float
    belief: Belief
    """What the selector thinks of it at the end."""
    histogram: NDArray[np.int64]
    """Applications by Joules, see `records.bin_edges`."""


class Change(NamedTuple):
    """A parameter changed while the run was on."""

    decision: int
    name: str
    value: Any


@dataclass(frozen=True, repr=False)
class Result:
    """A run's outcome: the solution, the account, and the rows recorded on the way."""

    trial: Trial
    best: Best
    spent: Spent
    operators: tuple[OperatorTotal, ...]
    meter: SourceInfo
    reason: str
    """Why the run ended, in words."""
    rows: NDArray[Any]
    changes: tuple[Change, ...] = ()
    energy: dict[str, Any] = field(default_factory=dict)
    """How a real counter was settled: accounts, overhead, quality, uncertainty; empty: a model."""

    @property
    def frame(self) -> pd.DataFrame:
        """The recorded rows as a table, see `frame_of`."""
        return frame_of(self.rows, tuple(total.name for total in self.operators))

    @property
    def digest(self) -> str:
        """A digest of all that happened, wall clock excluded: equal runs, equal digests."""
        histograms = (total.histogram for total in self.operators)
        return digest_of_run(self.rows, self.best.x, histograms)

    def __repr__(self) -> str:
        return f"<{sentence(self)}>"

    def _repr_svg_(self) -> str:
        return picture(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data; what is not a number is None."""
        joules = max(self.spent.joules - self.spent.start_joules, 1e-300)
        data = {
            "trial": self.trial.to_dict() if self.trial.is_data else None,
            "best": {
                "fitness": self.best.fitness,
                "feasible": self.best.feasible,
                "gap": self.best.gap,
                "optimum": self.best.optimum,
                "x": "".join(map(str, self.best.x.tolist())),
            },
            "spent": self.spent._asdict(),
            "operators": [
                {
                    "name": total.name,
                    "applications": total.applications,
                    "evaluations": total.evaluations,
                    "joules": total.joules,
                    "share": total.joules / joules,
                    "gain": total.gain,
                    "eij": total.belief.score,
                }
                for total in self.operators
            ],
            "meter": {
                "name": self.meter.name,
                "provenance": str(self.meter.provenance),
                **({"settlement": self.energy} if self.energy else {}),
            },
            "reason": self.reason,
            "changes": [change._asdict() for change in self.changes],
            "digest": self.digest,
        }
        return {key: finite(value) for key, value in data.items()}


def result_of(run: Run) -> Result:
    """Return where a run stands."""
    ledger, spent = run.ledger, float(run.ledger.joules[0])
    fitness, x = float(run.state.best_f[0]), run.state.best_x.copy()
    optimum = float(getattr(run.problem, "optimum", math.nan))
    feasible = bool(run.problem.feasible(x)) if hasattr(run.problem, "feasible") else True
    totals = tuple(
        OperatorTotal(
            name,
            int(ledger.applications[o]),
            int(ledger.operator_evaluations[o]),
            float(ledger.operator_joules[o]),
            float(ledger.operator_gain[o]),
            run.selector.belief(run.stats, o),
            ledger.histogram[o].copy(),
        )
        for o, name in enumerate(run.names)
    )
    return Result(
        trial=run.trial,
        best=Best(x, fitness, feasible, optimum - fitness, optimum),
        spent=Spent(
            spent,
            int(ledger.evaluations[0]),
            int(ledger.decisions[0]),
            run.seconds,
            max(0.0, spent - run.trial.budget.joules),
            run.start_joules,
        ),
        operators=totals,
        meter=run.source.info,
        reason=run.reason or "running",
        rows=run.rows(),
        changes=tuple(run.changes),
        energy=run.source.summary() if run.meter.clocked else {},
    )


def digest_of_run(
    rows: NDArray[Any], x: NDArray[np.uint8], histograms: Iterable[NDArray[np.int64]]
) -> str:
    """Digest what happened: the rows, the best solution, the Joules of every application."""
    rows = rows.copy()
    for name in rows.dtype.names or ():
        column = rows[name]
        if column.dtype.kind == "f":
            column[np.isnan(column)] = np.nan  # one form of nan: its sign means nothing
    hasher = hashlib.blake2b(digest_size=16)
    hasher.update(rows.tobytes())
    hasher.update(x.tobytes())
    for histogram in histograms:
        hasher.update(histogram.tobytes())
    return hasher.hexdigest()


def frame_of(rows: NDArray[Any], names: tuple[str, ...]) -> pd.DataFrame:
    """Turn recorded rows into a table.

    Columns `decision, operator, gain, joules, spent, evaluations, best`, then for each operator
    `applications`, `joules`, and the belief's `gain`, `gain_sd`, `cost`, `cost_sd`, `score`, each
    followed by a colon and the operator's name.
    """
    import pandas as pd  # here, because half of the time of `import eij_core` would be pandas

    labels = np.array([*names, ""], object)
    table: dict[str, Any] = {
        name: rows[name]
        for name in ("decision", "operator", "gain", "joules", "spent", "evaluations", "best")
    }
    table["operator"] = labels[rows["operator"]]
    for o, name in enumerate(names):
        table[f"applications:{name}"] = rows["applications"][:, o]
        table[f"joules:{name}"] = rows["operator_joules"][:, o]
        for b, belief in enumerate(("gain", "gain_sd", "cost", "cost_sd", "score")):
            table[f"{belief}:{name}"] = rows["beliefs"][:, o, b]
    return pd.DataFrame(table)


def finite(value: Any) -> Any:
    """Return plain data with None for every number that JSON does not have.

    Examples
    --------
    >>> finite({"gap": math.nan, "x": [1.5, math.inf]})
    {'gap': None, 'x': [1.5, None]}
    """
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
