"""What the scheduler believes of each operator: EI/J, expected improvement, expected energy."""

from __future__ import annotations

from typing import Any

import holoviews as hv
import numpy as np

from app.frame import Frame
from app.plots.layer import Layer, areas, common, lines, span, thinned, window
from app.plots.scale import symlog, threshold, ticks
from app.rules import rule_of
from app.theme import colour_of, dash_of

__all__ = ["METRICS", "element", "layers", "limits", "unit_of"]

GAIN, GAIN_SD, JOULES, JOULES_SD, SCORE = range(5)
METRICS = ("EI/J", "E[Δf]", "E[E]")
BAND = 160
"""Corners of a band's side: it is redrawn whole, so it is kept coarse."""


def layers(frame: Frame, metric: str = "EI/J", log: bool = False) -> dict[str, Layer]:
    """Return a line and a band of one standard deviation for each operator."""
    used, _, _ = frame.used
    middle, sd = _estimate(frame, metric)
    unit = unit_of(frame, metric) if log else 0.0
    keep = thinned(len(used), BAND)
    found: dict[str, Layer] = {}
    for o in range(len(frame.names)):
        low, high = middle[keep, o] - sd[keep, o], middle[keep, o] + sd[keep, o]
        columns = {"used": used[keep], "low": _on(low, unit), "high": _on(high, unit)}
        found[f"band {o}"] = Layer("", columns, colour_of(o), alpha=0.13, grows=False)
    for o, name in enumerate(frame.names):
        columns = {"used": used, "value": _on(middle[:, o], unit)}
        found[f"line {o}"] = Layer(name, columns, colour_of(o), dash_of(o), 2.2)
    return found


def element(
    frame: Frame, metric: str = "EI/J", log: bool = False
) -> tuple[hv.Overlay, dict[str, hv.Element]]:
    """Draw the view; also return its parts by layer."""
    _, label, end = frame.used
    x = hv.Dimension("used", label=label)
    y = hv.Dimension("value", label=label_of(frame, metric))
    found = layers(frame, metric, log)
    bands = {key: layer for key, layer in found.items() if key.startswith("band")}
    curves = {key: layer for key, layer in found.items() if key.startswith("line")}
    parts: dict[str, hv.Element] = {**areas(bands, "used", "low", "high"), **lines(curves, x, y)}
    options: dict[str, Any] = common(
        "estimates",
        frame,
        xlim=span(0.0, end),
        xlabel=label,
        ylabel=label_of(frame, metric),
    )
    if log:
        options["yticks"] = ticks(unit_of(frame, metric))
    return hv.Overlay(list(parts.values())).opts(**options), parts


def limits(frame: Frame, metric: str = "EI/J", log: bool = False) -> dict[str, tuple[float, float]]:
    """Return what y must show: the lines, without the leaps of the very first tries."""
    middle, _ = _estimate(frame, metric)
    seen = middle[np.isfinite(middle)]
    if seen.size == 0:
        return {"y": window(np.nan, np.nan)}
    if log:
        seen = symlog(seen, unit_of(frame, metric))
        return {"y": window(float(seen.min()), float(seen.max()))}
    low, high = np.quantile(seen, (0.02, 0.98))
    latest = middle[-1][np.isfinite(middle[-1])]
    return {"y": window(float(min(low, *latest, 0.0)), float(max(high, *latest, 0.0)))}


def label_of(frame: Frame, metric: str) -> str:
    """Return the axis of a metric, in the terms of the rule that believes it."""
    rule = rule_of(frame.selector)
    return {"EI/J": rule.score, "E[Δf]": rule.gain}.get(metric, "E[E]: Joules per application (J)")


def unit_of(frame: Frame, metric: str) -> float:
    """Return where the logarithm of this metric starts."""
    return threshold(_estimate(frame, metric)[0])


def _on(values: Any, unit: float) -> Any:
    return symlog(values, unit) if unit else values


def _estimate(frame: Frame, metric: str) -> tuple[Any, Any]:
    gain, gain_sd = frame.belief(GAIN), frame.belief(GAIN_SD)
    joules, joules_sd = frame.belief(JOULES), frame.belief(JOULES_SD)
    if metric == "E[Δf]":
        return gain, gain_sd
    if metric == "E[E]":
        return joules, joules_sd
    with np.errstate(divide="ignore", invalid="ignore"):
        # The spread of a ratio, to first order.
        sd = np.hypot(gain_sd / joules, gain * joules_sd / joules**2)
    return frame.belief(SCORE), sd
