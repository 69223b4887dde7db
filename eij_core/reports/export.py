"""A campaign in other tools' formats: tables in Parquet or CSV, and IOHprofiler's.

IOHprofiler gets one dataset by evaluations, and one in which Joules take their place. Its tools
take only a column named `evaluations` for a cost; under any other name energy would be silently
read as a target. So the second dataset has whole mJ (or µJ) in that column and the true count in
`n_evals`: its expected running time *is* the expected energy.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import __version__
from ..atomic_files import slug, write_atomically
from ..campaigns.reader import Reader
from ..campaigns.store_errors import writing
from ..errors import InputError
from ..records.formats import safe_cell
from ..result import solution_of
from .dataset import StoredRun, read_dataset, short_names, stored_runs

FORMS = ("parquet", "csv", "ioh")
LONGEST = 200
"""Letters of a file name; file systems take 255."""


def export(store: str | Path, to: str | Path, form: str) -> list[Path]:
    """Export a store; return the files that were written.

    Parameters
    ----------
    store : path
        The campaign's folder; it is only read.
    to : path
        A new or empty folder.
    form : {"parquet", "csv", "ioh"}
    """
    folder = Path(to)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("--to", folder, "a new or empty folder")
    folder.mkdir(parents=True, exist_ok=True)
    with writing(folder):
        written = _write_ioh(store, folder) if form == "ioh" else _write_tables(store, folder, form)
        return [*written, _manifest(store, folder)]


def _write_tables(store: str | Path, folder: Path, form: str) -> list[Path]:
    dataset = read_dataset(store, curves=False)
    operators = dataset.operators.drop(columns="histogram", errors="ignore")
    tables = {"trials": dataset.trials, "operators": operators, "steps": steps_of(store)}
    paths = [folder / f"{name}.{form}" for name in tables]
    for path, table in zip(paths, tables.values(), strict=True):
        write_atomically(path, _csv(table) if form == "csv" else table.to_parquet(index=False))
    return paths


def steps_of(store: str | Path) -> pd.DataFrame:
    """Return all recorded rows as one long table, energy in whole µJ.

    Columns `run_id, t, op, n_evals, evals_cum, delta, f_best, e_uJ, e_cum_uJ, e_src, b_left_uJ`;
    `n_evals` counts from the row before. What was not recorded (the last row of a run may stand
    for several decisions) is empty.
    """
    parts = [_steps(run) for run in stored_runs(store)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _steps(run: StoredRun) -> pd.DataFrame:
    row, trial, trace = run
    names = np.array([*(entry["name"] for entry in row.result["operators"]), ""], object)
    return pd.DataFrame(
        {
            "run_id": row.key,
            "t": trace["decision"],
            "op": names[trace["operator"]],
            "n_evals": np.diff(trace["evaluations"], prepend=0),
            "evals_cum": trace["evaluations"],
            "delta": trace["gain"],
            "f_best": trace["best"],
            "e_uJ": _micro(trace["joules"]),
            "e_cum_uJ": _micro(trace["spent"]),
            "e_src": row.energy_source,
            "b_left_uJ": _micro(trial.budget.joules - trace["spent"]),
        }
    )


def _micro(joules: Any) -> pd.Series[Any]:
    scaled = np.round(np.asarray(joules, float) * 1e6)
    return pd.Series(np.where(np.isfinite(scaled), scaled, np.nan)).astype("Int64")


def _csv(table: pd.DataFrame) -> bytes:
    safe = table.copy()
    for name in safe.columns:
        if not pd.api.types.is_numeric_dtype(safe[name]):
            safe[name] = [safe_cell(str(value)) for value in safe[name]]
    return safe.to_csv(index=False, lineterminator="\n").encode()


def _manifest(store: str | Path, folder: Path) -> Path:
    """Write the origin of the numbers: versions, machine, specification, seeds."""
    with Reader(store, verify=False) as reader:
        spec, version = reader.spec(), reader.code_version()
        sources = sorted({row.energy_source for row in reader.rows() if row.energy_source})
        bad = reader.check_parts()
    data = {
        "campaign": spec,
        "eij": {"ran": version, "exported": __version__},
        "python": platform.python_version(),
        "machine": {
            "system": platform.system(),
            "cpu": platform.machine(),
            "cores": os.cpu_count(),
        },
        "energy_sources": sources,
        "seeds": "numpy.random.SeedSequence(seed, spawn_key=(repetition,)), one per repetition",
        "damaged_parts": bad,
    }
    path = folder / "manifest.json"
    write_atomically(path, json.dumps(data, indent=2, ensure_ascii=False).encode())
    return path


# --- IOHprofiler ----------------------------------------------------------------------------------


def _write_ioh(store: str | Path, folder: Path) -> list[Path]:
    """Write both datasets of IOHprofiler; return their files."""
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
        write_atomically(path, _ioh_rows(members, position).encode())
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
            "maximization": members[0].row.result.get("sense", "max") == "max",
            "algorithm": {"name": method, "info": f"EI/J {__version__}"},
            "experiment_attributes": [{"cost": what}, {"joules": members[0].row.energy_source}],
            "attributes": ["evaluations", "raw_y", "n_evals", "joules"],
            "scenarios": [scenario],
        }
        path = place / f"IOHprofiler_{name}.json"
        write_atomically(path, json.dumps(head, indent=1, ensure_ascii=False).encode())
        yield path


def _ioh_rows(runs: list[StoredRun], position: Callable[[Any], Any]) -> str:
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
    first = int(np.argmax(run.trace["best"] == run.trace["best"][-1]))
    instance = run.trial.problem.parameters.get("instance", 1)
    return {
        "instance": int(instance) % 2**16,
        "evals": int(cost[-1]),
        "best": {
            "evals": int(cost[first]),
            "y": best["fitness"],
            "x": solution_of(best["x"]).tolist(),
        },
    }
