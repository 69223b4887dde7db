"""A store as tables: one line per trial, one per operator, and curves on a common axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..campaigns.reader import Reader, Row
from ..registry import Spec
from ..result import real
from ..trial import Trial
from .anytime import resample

SHARES = np.linspace(0.0, 1.0, 201)
"""Shares of the budget at which curves are kept."""
CELL = ["problem", "algorithm", "budget", "source"]
"""What trials must have in common to be compared: energy of different sources is never mixed."""

Namer = Callable[[Trial], tuple[str, str]]
"""Names a trial's method within its cell, and the role under which it is ranked across cells."""


@dataclass
class Dataset:
    """The trials of a campaign, ready for statistics.

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
        Trials that are not in the tables, and trials in them whose trace is damaged.
    """

    name: str
    folder: Path
    trials: pd.DataFrame
    operators: pd.DataFrame
    curves: dict[str, NDArray[Any]] = field(default_factory=dict)
    choices: dict[str, NDArray[Any]] = field(default_factory=dict)
    failed: int = 0

    @property
    def without_curves(self) -> int:
        """How many trials have lost their trace."""
        return len(self.trials) - len(self.curves)

    def cells(self) -> Iterable[tuple[tuple[str, ...], pd.DataFrame]]:
        """Yield each cell: its names, and its trials."""
        return self.trials.groupby(CELL, sort=False, observed=True)  # type: ignore[return-value]

    def stack(self, keys: Iterable[str]) -> NDArray[Any]:
        """Return the curves of these trials as rows; trials without a curve are left out."""
        found = [self.curves[key] for key in keys if key in self.curves]
        return np.array(found) if found else np.empty((0, SHARES.size))

    def trace(self, key: str) -> Any:
        """Read the recorded rows of one trial; None if they are lost."""
        with Reader(self.folder, verify=False) as reader:
            return next((rows for _, rows in reader.traces([key])), None)


class StoredRun(NamedTuple):
    """A trial that is done, with its recorded rows."""

    row: Row
    trial: Trial
    trace: NDArray[Any]


def stored_runs(folder: str | Path) -> Iterator[StoredRun]:
    """Yield the trials of a store that are done and have a trace."""
    with Reader(folder) as reader:
        done = {row.key: row for row in reader.rows() if row.state == "done"}
        for key, trace in reader.traces():
            yield StoredRun(done[key], Trial.from_json(done[key].spec_json, stored=True), trace)


def sources_of(trials: pd.DataFrame) -> str:
    """Return where the Joules of a table come from, for its caption."""
    return "; ".join(dict.fromkeys(trials["source"]))


def short_names(specs: Iterable[Spec]) -> dict[Spec, str]:
    """Return the shortest names that tell components apart; static rules name their operator.

    Examples
    --------
    >>> specs = [Spec.parse(t) for t in ("nk:n=9,k=1", "nk:n=9,k=2", "ecc:words=4")]
    >>> list(short_names(specs).values())
    ['nk k=1', 'nk k=2', 'ecc']
    >>> list(short_names([Spec.parse("static:operator=flip-5")]).values())
    ['static flip-5']
    """
    found = dict.fromkeys(specs, "")
    for spec in found:
        alike = [other.parameters for other in found if other.name == spec.name]
        differing = [
            f"{key}={value}"
            for key, value in spec.parameters.items()
            if any(parameters.get(key) != value for parameters in alike)
        ]
        if spec.name == "static" and "operator" in spec.parameters:
            differing = [str(spec.parameters["operator"])]
        found[spec] = " ".join([spec.name, *differing])
    return found


def read_dataset(
    folder: str | Path,
    *,
    namer: Namer | None = None,
    curves: bool = True,
    only: Callable[[Trial], bool] = lambda trial: True,
) -> Dataset:
    """Read a store; another process may still write to it.

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
        pairs = [(Trial.from_json(row.spec_json, stored=True), row) for row in done]
        pairs = sorted((pair for pair in pairs if only(pair[0])), key=_order(spec))
        name = str(spec.get("name") or Path(folder).name)
        dataset = Dataset(name, Path(folder), *_tables(pairs, namer), failed=len(rows) - len(done))
        if curves:
            budgets = {row.key: trial.budget for trial, row in pairs}
            for key, trace in reader.traces():
                if key in budgets:
                    dataset.curves[key], dataset.choices[key] = _curve(trace, budgets[key])
    return dataset


def _order(spec: dict[str, Any]) -> Callable[[tuple[Trial, Row]], Any]:
    """Return a key that sorts trials as the campaign's file lists them, Joule budgets first."""
    grids = spec.get("grid", [])
    places: dict[str, dict[str, int]] = {}
    for family in ("problem", "algorithm", "budget", "selector"):
        listed = dict.fromkeys(text for grid in grids for text in grid[f"{family}s"])
        places[family] = {text: i for i, text in enumerate(listed)}

    def place(pair: tuple[Trial, Row]) -> Any:
        trial = pair[0]
        at = (known.get(str(getattr(trial, f)), len(known)) for f, known in places.items())
        return math.isinf(trial.budget.joules), *at, trial.seed, trial.repetition

    return place


def _curve(trace: Any, budget: Any) -> tuple[Any, Any]:
    by_joules = math.isfinite(budget.joules)
    position = trace["spent"] if by_joules else trace["evaluations"].astype(float)
    whole = budget.joules if by_joules else budget.evaluations
    whole = whole if math.isfinite(whole) else max(float(position[-1]), 1e-300)
    points = SHARES * whole
    # The last application may exceed the budget; its result counts as the budget's end.
    points[-1] = max(points[-1], float(position[-1]))
    return (
        resample(position, trace["best"], points),
        resample(position, trace["applications"], points),
    )


def _tables(
    pairs: list[tuple[Trial, Row]], namer: Namer | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    names = {
        family: short_names(getattr(trial, family) for trial, _ in pairs)
        for family in ("problem", "algorithm", "selector")
    }
    lines, operators = [], []
    for trial, row in pairs:
        result = row.result
        best = result["best"]
        selector = names["selector"][trial.selector]
        method, role = namer(trial) if namer else (selector, selector)
        if method == "static first":
            method = f"static {result['operators'][0]['name']}"
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
                "sign": -1.0 if result.get("sense") == "min" else 1.0,  # of what is maximised
                "feasible": bool(best["feasible"]),
                "optimum": real(best["optimum"]),
                "gap": real(best["gap"]),
                **result["spent"],
                "source": row.energy_source,
                "provenance": result["meter"]["provenance"],
                "uncertainty": result["meter"].get("rel_uncertainty", 0.0),
                "reason": result["reason"],
                "target": real(result.get("target", {}).get("fitness")),
                "target_joules": real(result.get("target", {}).get("joules")),
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
