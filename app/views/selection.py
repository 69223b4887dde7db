"""Which operators the rule chose, and where the Joules went."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import panel_material_ui as pmui

from eij_core.selectors import eij as core
from eij_core.selectors.eij import EijStats

from ..text.escape import text
from ..text.labels import labels_of
from ..text.numbers import number
from ..text.theme import RULE, colour_of, dash_of
from .layer import Layer, Line
from .plot import Plot
from .snapshot import Snapshot
from .view import SMALL, View, course

METRICS = {
    "choices": "Share of choices so far (%)",
    "recent": "Share of choices, last 5 % of the budget (%)",
    "Joules": "Share of Joules so far (%)",
}
WINDOW = 5.0
STRIDE = 8
"""P(o1) is computed at every so many rows."""


@dataclass(frozen=True)
class SelectionPlot(Plot):
    """The share of each operator; for two operators under the paper's rule, its P(o1) too."""

    name = "selection"
    metric: str = "choices"

    def layers(self, snapshot: Snapshot) -> dict[str, Layer]:
        """Return a line for each operator, and P(o1)."""
        used, _, _ = snapshot.used
        share = _share(snapshot, self.metric)
        found: dict[str, Layer] = {
            f"line {o}": Line(
                {"used": used, "share": share[:, o]}, colour_of(o), name, dash_of(o), 2.2
            )
            for o, name in enumerate(snapshot.names)
        }
        if has_probability(snapshot):
            chances = 100.0 * probability_of_first(snapshot.rows["beliefs"][::STRIDE])
            columns = {"used": used[::STRIDE], "share": chances}
            found["chance"] = Line(columns, RULE, f"P({snapshot.names[0]}), Eq. (15)", "dotted")
        return found

    def options(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return the axes."""
        _, used, end = snapshot.used
        axes = {"xlabel": used, "ylabel": METRICS[self.metric]}
        return {**axes, "xlim": (0.0, end), "ylim": (-3.0, 103.0)}


class SelectionView(View):
    """Which operators were chosen, and where the Joules went."""

    key, title, plot = "selection", "What was chosen", SelectionPlot

    def _options(self) -> list[Any]:
        return [pmui.RadioButtonGroup(options=list(METRICS), value="choices", **SMALL)]

    def table(self, snapshot: Snapshot) -> str:
        """Return the shares of choices and of Joules as the run went on."""
        shares = {f"% of {metric}": _share(snapshot, metric) for metric in ("choices", "Joules")}
        latest = zip(map(text, snapshot.names), shares["% of choices"][-1], strict=True)
        ends = ", ".join(f"{name} {number(share, 3)} %" for name, share in latest)
        return course(f"Choices so far: {ends}.", snapshot, 3, **shares)


def _share(snapshot: Snapshot, metric: str) -> Any:
    """Return the operators' shares of a total in percent, rows × operators."""
    totals = snapshot.rows["operator_joules" if metric == "Joules" else "applications"]
    totals = totals.astype(float)
    used, _, end = snapshot.used
    if metric == "recent":
        width = WINDOW if end is not None else 0.05 * float(used[-1])
        start = np.searchsorted(used, used - width)
        # A window with nothing in it reaches back to the row before.
        start = np.minimum(start, np.maximum(np.arange(len(used)) - 1, 0))
        totals = totals - totals[start]
    with np.errstate(divide="ignore", invalid="ignore"):
        return 100.0 * totals / totals.sum(axis=1, keepdims=True)


def has_probability(snapshot: Snapshot) -> bool:
    """Tell whether the paper's P(o1) describes this run: its own rule, and two operators."""
    return labels_of(snapshot.selector).rule == "eij" and len(snapshot.names) == 2


def probability_of_first(beliefs: Any) -> Any:
    """Return the paper's P(o1) at each row: the chance that the first draws the larger EI/J."""
    return np.array([_probability(np.ascontiguousarray(row[:2]).tobytes()) for row in beliefs])


@functools.lru_cache(maxsize=20_000)
def _probability(beliefs: bytes) -> float:
    """Compute P(o1) once for each pair of beliefs: it takes most of a millisecond."""
    gain, gain_sd, joules, joules_sd, _ = np.frombuffer(beliefs).reshape(2, 5).T
    if not np.isfinite(gain + joules).all():
        return math.nan
    tries = np.ones(2, np.int64)
    stats = EijStats(tries, gain, gain_sd**2, *log_normal(joules, joules_sd), joules)
    return core.probability_of_first(stats)


def log_normal(mean: Any, sd: Any) -> tuple[Any, Any]:
    """Return mean and variance of a logarithm, given mean and deviation of the value itself."""
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.log1p(np.square(np.divide(sd, mean)))
        return np.log(mean) - 0.5 * variance, variance
