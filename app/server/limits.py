"""Limits of a server on its visitors and their runs; a private server has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eij_core import InputError, Trial
from eij_core.imports import is_public as is_public

__all__ = [
    *(
        "LINK_BYTES",
        "QUEUE",
        "ROWS",
        "UPLOAD_BYTES",
        "VisitorLimits",
        "check_trial",
        "check_upload",
    ),
    *("check_trial", "check_upload", "is_public", "limits"),
]

UPLOAD_BYTES = 5_000_000
LINK_BYTES = 4096
ROWS = 4000
"""Rows of one run that the page keeps and draws."""
QUEUE = 50
"""Runs that may wait for a turn."""


@dataclass(frozen=True)
class VisitorLimits:
    """Bounds on visitors and their runs. Infinite on a private server."""

    sessions: float = float("inf")
    """Pages that may be open."""
    runs_of_page: float = float("inf")
    """Runs and other work of one page at once; the rest waits."""
    runs_of_user: float = float("inf")
    """The same for all pages of one address."""
    seconds: float = float("inf")
    size: float = float("inf")
    table: float = float("inf")
    joules: float = float("inf")
    evaluations: float = float("inf")


PUBLIC = VisitorLimits(
    sessions=100,
    runs_of_page=2,
    runs_of_user=4,
    seconds=600.0,
    size=10_000,
    table=2**22,
    joules=10_000.0,
    evaluations=1e7,
)


def limits() -> VisitorLimits:
    """Return the limits in force."""
    return PUBLIC if is_public() else VisitorLimits()


def check_trial(trial: Trial, bounds: VisitorLimits | None = None) -> Trial:
    """Raise `InputError` for a trial beyond the limits, before anything is allocated."""
    bounds = bounds or limits()
    problem: dict[str, Any] = dict(getattr(trial.problem, "parameters", {}))
    name = trial.name_of("problem")
    size = problem.get("n", getattr(trial.problem, "n", 1))
    if "words" in problem:
        size = problem["words"] * problem.get("length", 1)
    _at_most(f"{name}:n", size, bounds.size)
    if "k" in problem:
        _at_most(f"{name}:k", size * 2 ** (problem["k"] + 1), bounds.table)
    budget = trial.budget
    if not (budget.joules <= bounds.joules or budget.evaluations <= bounds.evaluations):
        wanted = f"at most {bounds.joules:g} J or {bounds.evaluations:g} evaluations here"
        raise InputError("budget", budget, wanted)
    return trial


def check_upload(data: bytes) -> None:
    """Raise `InputError` for a file beyond `UPLOAD_BYTES`."""
    if len(data) > UPLOAD_BYTES:
        size = f"{len(data) / 1e6:.1f} MB"
        raise InputError("file", size, f"at most {UPLOAD_BYTES / 1e6:g} MB")


def _at_most(field: str, value: float, bound: float) -> None:
    if value > bound:
        raise InputError(field, value, f"at most {bound:g} on this server")
