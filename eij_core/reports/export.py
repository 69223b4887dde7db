"""A campaign in other tools' formats: tables in Parquet or CSV, and IOHprofiler's."""

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
from ..campaigns.faults import writing
from ..campaigns.reader import Reader
from ..durable import write_durably
from ..errors import InputError
from ..record_files import safe_cell
from ..trial import Trial
from . import ioh
from .frames import frames_of

__all__ = ["FORMS", "steps_of", "write"]

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
    if form == "ioh":
        return [*ioh.write(Path(store), folder), _manifest(Path(store), folder)]
    frames = frames_of(store, curves=False)
    operators = frames.operators.drop(columns="histogram", errors="ignore")
    tables = {"trials": frames.trials, "operators": operators, "steps": steps_of(store)}
    written = []
    for name, table in tables.items():
        path = folder / f"{name}.{form}"
        with writing(folder):
            write_durably(path, _BYTES[form](table))
        written.append(path)
    return [*written, _manifest(Path(store), folder)]


def steps_of(store: str | Path) -> pd.DataFrame:
    """Return all recorded rows as one long table, energy in whole µJ.

    Columns `run_id, t, op, n_evals, evals_cum, delta, f_best, e_uJ, e_cum_uJ, e_src, b_left_uJ`;
    `n_evals` counts from the row before. What was not recorded (the last row of a run may stand
    for several decisions) is empty.
    """
    with Reader(store) as reader:
        rows = {row.key: row for row in reader.rows() if row.state == "done"}
        parts = list(_steps(reader, rows))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _steps(reader: Reader, rows: dict[str, Any]) -> Iterator[pd.DataFrame]:
    for key, trace in reader.traces():
        row = rows[key]
        budget = Trial.from_json(row.spec_json).budget
        names = np.array([*(entry["name"] for entry in row.result["operators"]), ""], object)
        yield pd.DataFrame(
            {
                "run_id": key,
                "t": trace["decision"],
                "op": names[trace["operator"]],
                "n_evals": np.diff(trace["evaluations"], prepend=0),
                "evals_cum": trace["evaluations"],
                "delta": trace["gain"],
                "f_best": trace["best"],
                "e_uJ": _micro(trace["joules"]),
                "e_cum_uJ": _micro(trace["spent"]),
                "e_src": row.energy_source,
                "b_left_uJ": _micro(budget.joules - trace["spent"]),
            }
        )


def _micro(joules: Any) -> pd.Series[Any]:
    scaled = np.round(np.asarray(joules, float) * 1e6)
    return pd.Series(np.where(np.isfinite(scaled), scaled, np.nan)).astype("Int64")


def _parquet(table: pd.DataFrame) -> bytes:
    return bytes(table.to_parquet(None, index=False))


def _csv(table: pd.DataFrame) -> bytes:
    safe = table.copy()
    for name in safe.columns:
        if not pd.api.types.is_numeric_dtype(safe[name]):
            safe[name] = [safe_cell(str(value)) for value in safe[name]]
    return safe.to_csv(index=False, lineterminator="\n").encode()


_BYTES: dict[str, Callable[[pd.DataFrame], bytes]] = {"parquet": _parquet, "csv": _csv}


def _manifest(store: Path, folder: Path) -> Path:
    """Write what the numbers come from: versions, machine, specification, seeds."""
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
    with writing(folder):
        write_durably(path, json.dumps(data, indent=2, ensure_ascii=False).encode())
    return path
