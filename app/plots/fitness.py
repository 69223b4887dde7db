"""Best fitness against cumulative Joules: what the energy bought."""

from __future__ import annotations

import math
import warnings
from typing import Any

import holoviews as hv
import numpy as np

from app.frame import Frame, Lane
from app.plots.layer import Layer, common, lines, stepped, window
from app.theme import HISTORY, OPTIMUM, RULE, UNIFORM, colour_of

__all__ = ["element", "fit", "layers", "limits"]

X = hv.Dimension("spent", label="Joules spent (J)")
Y = hv.Dimension("best", label="Best fitness")


def layers(frame: Frame, fitted: bool = False) -> dict[str, Layer]:
    """Return the run's line, those of the runs beside it, and the fitted curve on demand."""
    found = {f"other {i}": _beside(frame, i, lane) for i, lane in enumerate(frame.others)}
    found["run"] = Layer(f"{frame.selector} (this run)", _steps(frame, frame.rows), RULE, width=3.0)
    columns = {"spent": np.array([0.0, _end(frame)]), "best": np.full(2, frame.optimum)}
    label = f"optimum {frame.optimum:.6g}" if math.isfinite(frame.optimum) else "optimum unknown"
    found["optimum"] = Layer(label, columns, OPTIMUM, "dotted", 1.5, grows=False)
    if fitted:
        columns, quality = fit(frame)
        label = f"fit f∞(1 − A·exp(−kB/Bmax)), {quality}"
        found["fit"] = Layer(label, columns, RULE, "dotted", 1.5, grows=False)
    return found


def element(frame: Frame, fitted: bool = False) -> tuple[hv.Overlay, dict[str, hv.Element]]:
    """Draw the view; also return its parts by layer."""
    parts: dict[str, hv.Element] = dict(lines(layers(frame, fitted), X, Y))
    options = common("fitness", frame, height=330)
    return hv.Overlay(list(parts.values())).opts(**options), parts


def limits(frame: Frame) -> dict[str, tuple[float, float]]:
    """Return what is shown: the budget; not the tumble out of the infeasible, but all after it."""
    low, high = _extent(frame, frame.rows)
    if math.isfinite(frame.optimum):
        high = max(high, frame.optimum)
    reach = 1.5 * (high - low)
    for lane in frame.others:
        start, end = _extent(frame, lane.rows)
        # A rival that never became feasible would press all other lines flat.
        low = min(low, start) if low - start < reach else low
        high = max(high, end) if end > low else high
    return {"x": (0.0, _end(frame)), "y": window(low, high)}


def _end(frame: Frame) -> float:
    """Return where the axis of Joules ends: at the budget, or as far as the run has come."""
    spent = float(frame.rows["spent"].max(initial=1.0))
    return frame.budget.joules if math.isfinite(frame.budget.joules) else spent


def _extent(frame: Frame, rows: Any) -> tuple[float, float]:
    if not len(rows):
        return math.nan, math.nan
    end = frame.budget.joules if math.isfinite(frame.budget.joules) else rows["spent"][-1]
    start = min(np.searchsorted(rows["spent"], 0.03 * end), len(rows) - 1)
    return float(rows["best"][start]), float(rows["best"][-1])


def _steps(frame: Frame, rows: Any) -> dict[str, Any]:
    best = rows["best"]
    if math.isfinite(frame.optimum):
        # Penalties reach millions of pixels below the plot, where browsers give up on dashes.
        best = np.maximum(best, frame.optimum - 20.0 * abs(frame.optimum))
    spent, best = stepped(rows["spent"], best)
    return {"spent": spent, "best": best}


def _beside(frame: Frame, index: int, lane: Lane) -> Layer:
    columns = _steps(frame, lane.rows)
    if lane.kind == "uniform":
        return Layer(lane.label, columns, UNIFORM, "dashed", 1.8)
    if lane.kind == "past":
        return Layer(lane.label, columns, HISTORY[index % len(HISTORY)], "dotdash", 1.5, 0.9)
    operator = next((o for o, name in enumerate(frame.names) if lane.label.endswith(name)), index)
    return Layer(lane.label, columns, colour_of(operator), "dotted", 1.8)


def fit(frame: Frame) -> tuple[dict[str, Any], str]:
    """Fit the paper's saturating exponential; return the curve and how well it fits."""
    from scipy.optimize import OptimizeWarning, curve_fit

    rows = frame.rows
    end = frame.budget.joules if math.isfinite(frame.budget.joules) else rows["spent"][-1]
    x, y = rows["spent"] / end, rows["best"]
    empty: dict[str, Any] = {"spent": np.zeros(0), "best": np.zeros(0)}
    if len(rows) < 8 or y[0] == y[-1]:
        return empty, "too few points"
    scale = abs(y[-1])

    def model(b: Any, top: float, drop: float, k: float) -> Any:
        return scale * top * (1.0 - drop * np.exp(-k * b))

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OptimizeWarning)
            found, _ = curve_fit(model, x, y, p0=(1.0, 0.5, 8.0), maxfev=2000)
    except (RuntimeError, ValueError):
        return empty, "no fit found"
    spread = float(((y - y.mean()) ** 2).sum())
    r2 = 1.0 - float(((y - model(x, *found)) ** 2).sum()) / spread
    grid = np.linspace(float(x[0]), 1.0, 120)
    return {"spent": grid * end, "best": model(grid, *found)}, f"k = {found[2]:.3g}, R² = {r2:.2f}"
