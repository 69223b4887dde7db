"""Which operators the scheduler chose, and where the Joules went."""

from __future__ import annotations

from typing import Any

import holoviews as hv
import numpy as np

from app.frame import Frame
from app.plots.estimates import GAIN, GAIN_SD, JOULES, JOULES_SD
from app.plots.layer import Layer, common, lines, span
from app.theme import RULE, colour_of, dash_of

__all__ = ["METRICS", "element", "layers", "probability_of_first"]

METRICS = {
    "choices": "Share of choices so far (%)",
    "recent": "Share of choices, last 5 % of the budget (%)",
    "Joules": "Share of Joules so far (%)",
}
WINDOW = 5.0
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
        columns = {"used": used, Y: 100.0 * probability_of_first(frame.rows["beliefs"])}
        found["chance"] = Layer(f"P({frame.names[0]}), Eq. (15)", columns, RULE, "dotted", 1.2, 0.8)
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


def probability_of_first(beliefs: Any, nodes: int = 32) -> Any:
    """Return P(o1) of the paper at each row: the chance that the first draws the larger EI/J.

    ln R is normal, so the expectation over R is a Gauss-Hermite quadrature.
    """
    from scipy.special import ndtr

    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    gain, gain_sd = beliefs[:, :2, GAIN, None], beliefs[:, :2, GAIN_SD, None]
    joules = beliefs[:, :2, JOULES, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        log_var = np.log1p((beliefs[:, :2, JOULES_SD, None] / joules) ** 2)
        log_mean = np.log(joules) - 0.5 * log_var
        mean = log_mean[:, 0] - log_mean[:, 1]
        ratio = np.exp(mean + np.sqrt(log_var[:, 0] + log_var[:, 1]) * points)
        lead = gain[:, 0] - ratio * gain[:, 1]
        spread = np.hypot(gain_sd[:, 0], ratio * gain_sd[:, 1])
        z = np.where(spread > 0.0, lead / spread, np.sign(lead) * 40.0)
        return (ndtr(z) * weights).sum(axis=1) / weights.sum()
