"""IOHprofiler's format: one dataset by evaluations, and one in which Joules take their place.

IOH's tools take only a column named `evaluations` for a cost; under any other name energy would be
silently read as a target. So the second dataset has whole mJ (or µJ) in that column and the true
count in `n_evals`: its expected running time *is* the expected energy.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..atomic_files import slug, write_atomically
from .dataset import StoredRun, short_names, stored_runs

LONGEST = 200
"""Letters of a file name; file systems take 255."""


def write(store: str | Path, folder: Path) -> list[Path]:
    """Write both datasets; return their files."""
    runs = list(stored_runs(store))
    # mJ where they tell steps apart, else µJ.
    most = max((float(run.trace["spent"][-1]) for run in runs), default=0.0)
    unit, scale = ("mJ", 1e3) if most >= 100 else ("uJ", 1e6)
    datasets: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
        ("by-evaluations", "evaluations", lambda trace: trace["evaluations"]),
        (f"by-{unit}", unit, lambda trace: np.round(trace["spent"] * scale).astype(np.int64)),
    )
    return [
        path
        for name, what, position in datasets
        for path in _dataset(folder / name, runs, what, position)
    ]


def axis(position: Any) -> Any:
    """Return a cost axis as the tools need it: its first row is 1 and no other row is.

    Examples
    --------
    >>> axis(np.array([100, 100, 250])).tolist()
    [1, 100, 250]
    """
    cost = np.maximum(np.asarray(position, np.int64), 2)
    cost[0] = 1
    return cost


def _dataset(
    folder: Path, runs: list[StoredRun], what: str, position: Callable[[Any], Any]
) -> Iterator[Path]:
    problems = short_names(run.trial.problem for run in runs)
    algorithms = short_names(run.trial.algorithm for run in runs)
    selectors = short_names(run.trial.selector for run in runs)
    groups: dict[tuple[str, str], list[StoredRun]] = {}
    for run in runs:
        trial = run.trial
        method = f"{algorithms[trial.algorithm]} {selectors[trial.selector]}"
        method = f"{method} {trial.budget} {run.row.energy_source}"
        groups.setdefault((method, problems[trial.problem]), []).append(run)
    numbers = {name: i for i, name in enumerate(dict.fromkeys(problems.values()), 1)}
    for (method, problem), members in groups.items():
        name = f"f{numbers[problem]}_{slug(problem, LONGEST)}"
        place = folder / slug(method, LONGEST)
        data = place / f"data_{name}"
        data.mkdir(parents=True, exist_ok=True)
        dimension = len(members[0].row.result["best"]["x"])
        path = data / f"IOHprofiler_{name}_DIM{dimension}.dat"
        write_atomically(path, _rows(members, position).encode())
        yield path
        scenario = {
            "dimension": dimension,
            "path": f"data_{name}/{path.name}",
            "runs": [_described(run, position) for run in members],
        }
        head = {
            "version": "0.3.18",
            "suite": "EIJ",
            "function_id": numbers[problem],
            "function_name": problem,
            "maximization": True,
            "algorithm": {"name": method, "info": f"EI/J {__version__}"},
            "experiment_attributes": [{"cost": what}, {"joules": members[0].row.energy_source}],
            "attributes": ["evaluations", "raw_y", "n_evals", "joules"],
            "scenarios": [scenario],
        }
        path = place / f"IOHprofiler_{name}.json"
        write_atomically(path, json.dumps(head, indent=1, ensure_ascii=False).encode())
        yield path


def _rows(runs: list[StoredRun], position: Callable[[Any], Any]) -> str:
    lines = ["evaluations raw_y n_evals joules"]
    for run in runs:
        trace = run.trace
        columns = (axis(position(trace)), trace["best"], trace["evaluations"], trace["spent"])
        lines += [
            f"{c} {y!r} {n} {j!r}"
            for c, y, n, j in zip(*(c.tolist() for c in columns), strict=True)
        ]
    return "\n".join(lines) + "\n"


def _described(run: StoredRun, position: Callable[[Any], Any]) -> dict[str, Any]:
    cost = axis(position(run.trace))
    best = run.row.result["best"]
    first = int(np.searchsorted(run.trace["best"], run.trace["best"][-1]))
    instance = run.trial.problem.parameters.get("instance", 1)
    return {
        "instance": int(instance) % 2**16,
        "evals": int(cost[-1]),
        "best": {
            "evals": int(cost[first]),
            "y": best["fitness"],
            "x": [int(bit) for bit in best["x"]],
        },
    }
