"""A store as tables: one line per trial, one per operator, and curves on a common axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..campaigns.reader import Reader, Row
from ..registry import Spec
from ..trial import Trial
from .anytime import resample

__all__ = ["SHARES", "Frames", "frames_of", "labels"]

SHARES = np.linspace(0.0, 1.0, 201)
"""Shares of the budget at which curves are kept."""
CELL = ["problem", "algorithm", "budget", "source"]
"""What trials must have in common to be compared: energy of different sources is never mixed."""

Namer = Callable[[Trial], tuple[str, str]]
"""Names a trial's method within its cell, and the role under which it is ranked across cells."""


@dataclass
class Frames:
    """A campaign, ready for statistics.

    Attributes
    ----------
    trials : DataFrame
        One line per trial that is done; `method` is what is compared within a cell.
    operators : DataFrame
        One line per trial and operator.
    curves : dict
        Best fitness at `SHARES` of the budget, by key.
    choices : dict
        Applications of each operator up to there, by key.
    failed, without_curves : int
        Trials that are not in the tables, or have no curve because their part is bad.
    """

    name: str
    trials: pd.DataFrame
    operators: pd.DataFrame
    curves: dict[str, NDArray[Any]] = field(default_factory=dict)
    choices: dict[str, NDArray[Any]] = field(default_factory=dict)
    failed: int = 0
    planned: int = 0
    folder: Path | None = None

    @property
    def without_curves(self) -> int:
        """How many trials have lost their trace."""
        return len(self.trials) - len(self.curves)

    def cells(self) -> Iterable[tuple[tuple[str, ...], pd.DataFrame]]:
        """Yield each cell: its names, and its trials."""
        return self.trials.groupby(CELL, sort=False, observed=True)  # type: ignore[return-value]

    def stack(self, keys: Iterable[str]) -> NDArray[Any]:
        """Return the curves of these trials, one a line; those without are left out."""
        found = [self.curves[key] for key in keys if key in self.curves]
        return np.array(found) if found else np.empty((0, SHARES.size))

    def trace(self, key: str) -> Any:
        """Read the recorded rows of one trial; None if they are lost."""
        if self.folder is None:
            return None
        with Reader(self.folder, verify=False) as reader:
            return next((rows for _, rows in reader.traces([key])), None)


def labels(specs: Iterable[Spec]) -> dict[Spec, str]:
    """Name components as shortly as tells them apart.

    Examples
    --------
    >>> specs = [Spec.parse(t) for t in ("nk:n=9,k=1", "nk:n=9,k=2", "ecc:words=4")]
    >>> list(labels(specs).values())
    ['nk k=1', 'nk k=2', 'ecc']
    """
    unique = dict.fromkeys(specs)
    named: dict[str, list[Spec]] = {}
    for spec in unique:
        named.setdefault(spec.name, []).append(spec)
    found = {}
    for spec in unique:
        differing = [
            key
            for key, value in spec.parameters.items()
            if any(other.parameters.get(key) != value for other in named[spec.name])
        ]
        found[spec] = " ".join([spec.name, *(f"{key}={spec.parameters[key]}" for key in differing)])
    return found


def frames_of(
    folder: str | Path,
    *,
    namer: Namer | None = None,
    curves: bool = True,
    only: Callable[[Trial], bool] = lambda trial: True,
) -> Frames:
    """Read a store, also while it is being written.

    Parameters
    ----------
    folder : path
    namer : callable
        Names methods; by default a method is called by its selector's shortest name.
    curves : bool
        Whether to read the traces too.
    only : callable
        Which trials to take.
    """
    with Reader(folder) as reader:
        rows = reader.rows()
        spec = reader.spec()
        done = [row for row in rows if row.state == "done"]
        failed = len(rows) - len(done)
        read = ((Trial.from_json(row.spec_json), row) for row in done)
        pairs = sorted((pair for pair in read if only(pair[0])), key=_order(spec))
        trials, done = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        table, operators = _tables(done, trials, namer)
        frames = Frames(
            str(spec.get("name") or Path(folder).name),
            table,
            operators,
            failed=failed,
            planned=len(rows),
            folder=Path(folder),
        )
        if curves:
            budgets = {row.key: trial.budget for row, trial in zip(done, trials, strict=True)}
            for key, trace in reader.traces():
                if key in budgets:
                    frames.curves[key], frames.choices[key] = _curve(trace, budgets[key])
    return frames


def _order(spec: dict[str, Any]) -> Callable[[tuple[Trial, Row]], Any]:
    """Return a key that sorts trials as the campaign's file lists them, Joule budgets first."""
    grids = spec.get("grid", [])
    places = {
        family: {
            text: i for i, text in enumerate(dict.fromkeys(t for g in grids for t in g[plural]))
        }
        for family, plural in (
            ("problem", "problems"),
            ("algorithm", "algorithms"),
            ("selector", "selectors"),
            ("budget", "budgets"),
        )
    }

    def place(pair: tuple[Trial, Row]) -> Any:
        trial = pair[0]
        at = {f: known.get(str(getattr(trial, f)), len(known)) for f, known in places.items()}
        by_evaluations = math.isinf(trial.budget.joules)
        return (by_evaluations, at["problem"], at["algorithm"], at["budget"], at["selector"],
                trial.seed, trial.repetition)  # fmt: skip

    return place


def _curve(trace: Any, budget: Any) -> tuple[Any, Any]:
    by_joules = math.isfinite(budget.joules)
    position = trace["spent"] if by_joules else trace["evaluations"].astype(float)
    whole = budget.joules if by_joules else budget.evaluations
    whole = whole if math.isfinite(whole) else max(float(position[-1]), 1e-300)
    points = SHARES * whole
    # The last application may overshoot; what it found counts for the end of the budget.
    points[-1] = max(points[-1], float(position[-1]))
    return (
        resample(position, trace["best"], points),
        resample(position, trace["applications"], points),
    )


def _tables(
    rows: list[Row], trials: list[Trial], namer: Namer | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    names = {
        family: labels(getattr(trial, family) for trial in trials)
        for family in ("problem", "algorithm", "selector")
    }
    lines, operators = [], []
    for row, trial in zip(rows, trials, strict=True):
        result = row.result
        best, spent = result["best"], result["spent"]
        selector = names["selector"][trial.selector]
        method, role = namer(trial) if namer else (selector, selector)
        lines.append(
            {
                "key": row.key,
                "problem": names["problem"][trial.problem],
                "algorithm": names["algorithm"][trial.algorithm],
                "selector": selector,
                "method": method,
                "role": role,
                "budget": str(trial.budget),
                "by_joules": math.isfinite(trial.budget.joules),
                "seed": trial.seed,
                "repetition": trial.repetition,
                "fitness": best["fitness"],
                "feasible": bool(best["feasible"]),
                "optimum": _number(best["optimum"]),
                "gap": _number(best["gap"]),
                **{name: spent[name] for name in ("joules", "evaluations", "decisions")},
                **{name: spent[name] for name in ("seconds", "overshoot", "start_joules")},
                "source": row.energy_source,
                "provenance": result["meter"]["provenance"],
                "uncertainty": result["meter"].get("rel_uncertainty", 0.0),
                "reason": result["reason"],
                "digest": result["digest"],
                "host": row.host,
            }
        )
        operators += [
            {"key": row.key, "operator": entry["name"], **entry} for entry in result["operators"]
        ]
    table = pd.DataFrame(
        lines, columns=list(lines[0]) if lines else [*CELL, "method", "role", "key"]
    )
    return table, pd.DataFrame(operators).drop(columns="name", errors="ignore")


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
