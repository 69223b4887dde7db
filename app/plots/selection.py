"""Which operators the scheduler chose, and where the Joules went."""

from __future__ import annotations

import functools
import math
from typing import Any

import holoviews as hv
import numpy as np

from app.frame import Frame
from app.plots.layer import Layer, common, lines, span
from app.theme import RULE, colour_of, dash_of
from eij_core.selectors import eij as core
from eij_core.selectors.eij import EijStats

__all__ = ["METRICS", "element", "layers", "probability_of_first"]

METRICS = {
    "choices": "Share of choices so far (%)",
    "recent": "Share of choices, last 5 % of the budget (%)",
    "Joules": "Share of Joules so far (%)",
}
WINDOW = 5.0
STRIDE = 8
"""P(o1) is worked out at every so many rows."""
Y = "share"


def layers(frame: Frame, metric: str = "choices", chance: bool = False) -> dict[str, Layer]:
    """Return the share of each operator; with `chance`, the paper's P(o1) for two operators."""
    used, _, _ = frame.used
    share = _share(frame, metric, used)
    found = {
        f"line {o}": Layer(
            name, {"used": used, Y: share[:, o]}, colour_of(o), dash_of(o), width=2.2
        )
        for o, name in enumerate(frame.names)
    }
    if chance and len(frame.names) == 2:
        chances = probability_of_first(frame.rows["beliefs"][::STRIDE])
        columns = {"used": used[::STRIDE], Y: 100.0 * chances}
        found["chance"] = Layer(f"P({frame.names[0]}), Eq. (15)", columns, RULE, "dotted", 2.0)
    return found


def element(
    frame: Frame, metric: str = "choices", chance: bool = False
) -> tuple[hv.Overlay, dict[str, hv.Element]]:
    """Draw the view; also return its parts by layer."""
    _, label, end = frame.used
    x, y = hv.Dimension("used", label=label), hv.Dimension(Y, label=METRICS[metric])
    parts: dict[str, hv.Element] = dict(lines(layers(frame, metric, chance), x, y))
    options: dict[str, Any] = common("selection", frame, xlim=span(0.0, end), ylim=(-3.0, 103.0))
    return hv.Overlay(list(parts.values())).opts(**options), parts


def _share(frame: Frame, metric: str, used: Any) -> Any:
    rows = frame.rows
    totals = rows["operator_joules" if metric == "Joules" else "applications"].astype(float)
    if metric == "recent":
        end = frame.used[2]
        width = WINDOW if np.isfinite(end) else 0.05 * float(used[-1])
        start = np.searchsorted(used, used - width)
        # A window with nothing in it reaches back to the row before.
        start = np.minimum(start, np.maximum(np.arange(len(used)) - 1, 0))
        totals = totals - totals[start]
    sums = totals.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return 100.0 * totals / sums


def probability_of_first(beliefs: Any) -> Any:
    """Return the paper's P(o1) at each row: the chance that the first draws the larger EI/J."""
    return np.array([_chance(np.ascontiguousarray(row[:2]).tobytes()) for row in beliefs])


@functools.lru_cache(maxsize=20_000)
def _chance(beliefs: bytes) -> float:
    """Ask the core, once for each pair of beliefs: it takes most of a millisecond."""
    gain, gain_sd, joules, joules_sd, _ = np.frombuffer(beliefs).reshape(2, 5).T
    if not np.isfinite(gain + joules).all():
        return math.nan
    log_var = np.log1p((joules_sd / joules) ** 2)
    tries = np.ones(2, np.int64)
    stats = EijStats(tries, gain, gain_sd**2, np.log(joules) - 0.5 * log_var, log_var, joules)
    return core.probability_of_first(stats)
