"""The table of runs as a component of the page."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import panel as pn
import param

from eij_core.records import Summary

from ...text.escape import label
from ...text.numbers import number

HERE = Path(__file__).parent
MOST = 1000
"""Runs that are sent to a browser: the newest."""


class RunsTable(pn.custom.JSComponent):
    """Runs in lines, which the browser sorts and filters; what is chosen there comes back."""

    rows = param.List([])
    """Plain data for each run, see `row_of`."""
    selected = param.List([])
    """The names of the runs that are ticked."""
    asked = param.List([])
    """The name that was clicked last, and when."""

    _esm = HERE.joinpath("table.js").read_text("utf-8")
    _stylesheets = [HERE.joinpath("table.css").read_text("utf-8")]  # noqa: RUF012


def row_of(run: Summary) -> dict[str, Any]:
    """Return what the table shows of a run; texts of strangers are shown as they are, as text."""
    shown = {name: label(getattr(run, name), 60) for name in ("problem", "algorithm")}
    return {
        "name": run.name,
        "state": run.state,
        "reason": label(run.reason, 120),
        **shown,
        "rule": label(run.selector, 60),
        "task": label(run.task, 200),
        "sense": run.sense,
        "best": _plain(run.best),
        "best_text": number(run.best, 6) if run.feasible else "none feasible",
        "joules": _plain(run.joules),
        "joules_text": f"{number(run.joules)} J",
        "provenance": run.provenance,
        "progress": _plain(run.progress),
        "date": run.date,
        "points": [[_plain(x), _plain(y)] for x, y in run.points],
    }


def _plain(value: float) -> float | None:
    """Return a number that JSON has; None for the others."""
    return value if math.isfinite(value) else None
