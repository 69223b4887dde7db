"""One decision laid open: the two posteriors of every operator, and what was drawn from them."""

from __future__ import annotations

from typing import Any

import holoviews as hv
import numpy as np

from app.frame import Frame
from app.plots.estimates import GAIN, GAIN_SD, JOULES, JOULES_SD
from app.plots.layer import Layer, common, lines, window
from app.theme import MARKERS, colour_of, dash_of

__all__ = ["element", "layers", "limits"]

SIDES = {
    "gain": ("posterior-gain", "Improvement Δf of one application"),
    "joules": ("posterior-joules", "Energy E of one application (J)"),
}
WIDTH = 4.0
"""How many standard deviations a posterior is drawn to."""


def layers(frame: Frame, side: str) -> dict[str, Layer]:
    """Return the posterior of each operator and, where the rule draws, the draw on it."""
    beliefs = np.full((len(frame.names), 5), np.nan)
    if frame.tally is not None:
        beliefs = frame.tally.tip["beliefs"][0]
    elif len(frame.rows):
        beliefs = frame.rows["beliefs"][-1]
    draws = getattr(getattr(frame.tally, "next", None), "draws", ())
    density = _normal if side == "gain" else _log_normal
    middle, spread = (GAIN, GAIN_SD) if side == "gain" else (JOULES, JOULES_SD)
    found: dict[str, Layer] = {}
    for o, name in enumerate(frame.names):
        grid, height = density(
            beliefs[o, middle], beliefs[o, spread], np.linspace(-WIDTH, WIDTH, 81)
        )
        found[f"line {o}"] = Layer(
            name, {"value": grid, "density": height}, colour_of(o), dash_of(o), grows=False
        )
    for o in range(len(frame.names)):
        value = float(getattr(draws[o], side, np.nan)) if o < len(draws) else np.nan
        height = np.array([_height(value, beliefs[o, middle], beliefs[o, spread], side)])
        found[f"draw {o}"] = Layer(
            "",
            {"value": np.array([value]), "density": height},
            colour_of(o),
            marker=MARKERS[o % len(MARKERS)],
            grows=False,
        )
    return found


def element(frame: Frame, side: str) -> tuple[hv.Overlay, dict[str, hv.Element]]:
    """Draw one side of the view; also return its parts by layer."""
    name, label = SIDES[side]
    x = hv.Dimension("value", label=label)
    y = hv.Dimension("density", label="Density (peak = 1)")
    found = layers(frame, side)
    curves = {key: layer for key, layer in found.items() if key.startswith("line")}
    parts: dict[str, hv.Element] = dict(lines(curves, x, y))
    for key, layer in found.items():
        if key.startswith("draw"):
            points = hv.Scatter(layer.columns, x, y)
            parts[key] = points.opts(
                color=layer.colour, marker=layer.marker, size=13, line_color="white"
            )
    options: dict[str, Any] = common(
        name,
        frame,
        title=frame.energy,
        height=240,
        ylim=(0.0, 1.12),
        xticks=3,
    )
    return hv.Overlay(list(parts.values())).opts(**options), parts


def limits(frame: Frame, side: str) -> dict[str, tuple[float, float]]:
    """Return what x must show: every posterior and every draw."""
    values = np.concatenate([layer.columns["value"] for layer in layers(frame, side).values()])
    values = values[np.isfinite(values)]
    if values.size == 0:
        return {"x": window(np.nan, np.nan)}
    return {"x": window(float(values.min()), float(values.max()))}


def _normal(mean: float, sd: float, z: Any) -> tuple[Any, Any]:
    if not np.isfinite(mean + sd):
        return np.zeros(0), np.zeros(0)
    return mean + max(sd, 1e-12 * abs(mean)) * z, np.exp(-0.5 * z * z)


def _log_parameters(mean: float, sd: float) -> tuple[float, float]:
    variance = np.log1p((sd / mean) ** 2)
    return np.log(mean) - 0.5 * variance, np.sqrt(variance)


def _log_normal(mean: float, sd: float, z: Any) -> tuple[Any, Any]:
    if not np.isfinite(mean + sd) or mean <= 0.0:
        return np.zeros(0), np.zeros(0)
    centre, width = _log_parameters(mean, sd)
    return np.exp(centre + max(width, 1e-9) * z), np.exp(-0.5 * z * z)


def _height(value: float, mean: float, sd: float, side: str) -> float:
    """Return where on the curve a draw lies; on the floor if the curve is a spike."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if side == "joules" and mean > 0.0 and value > 0.0:
            centre, width = _log_parameters(mean, sd)
            z = (np.log(value) - centre) / width
        else:
            z = (value - mean) / sd
        return float(np.nan_to_num(np.exp(-0.5 * z * z), nan=0.0))
