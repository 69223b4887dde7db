"""A campaign in other tools' formats: tables in Parquet or CSV, and IOHprofiler's."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import __version__
from ..atomic_files import write_atomically
from ..campaigns.reader import Reader
from ..campaigns.store_errors import writing
from ..errors import InputError
from ..records.formats import safe_cell
from . import ioh
from .dataset import StoredRun, read_dataset, stored_runs

FORMS = ("parquet", "csv", "ioh")


def write(store: str | Path, to: str | Path, form: str) -> list[Path]:
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
        written = ioh.write(store, folder) if form == "ioh" else _write_tables(store, folder, form)
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
