"""One decision laid open: the two posteriors of every operator, and what was drawn from them."""

from __future__ import annotations

from typing import Any, NamedTuple

import holoviews as hv
import numpy as np

from app.frame import Frame
from app.plots.estimates import GAIN, GAIN_SD, JOULES, JOULES_SD
from app.plots.layer import Layer, common, lines, window
from app.rules import rule_of
from app.theme import MARKERS, colour_of, dash_of

__all__ = ["SIDES", "element", "layers", "limits", "title"]

SIDES = {"gain": "posterior-gain", "joules": "posterior-joules"}
Z = np.linspace(-4.0, 4.0, 81)
"""Standard deviations at which a posterior is drawn."""


class Posterior(NamedTuple):
    """A normal belief about a value, or about its logarithm, and where the draw lies."""

    centre: float
    width: float
    logarithmic: bool
    drawn: float

    def curve(self) -> tuple[Any, Any]:
        """Return values and density; nothing where nothing is believed yet."""
        if not np.isfinite(self.centre + self.width):
            return np.zeros(0), np.zeros(0)
        width = max(self.width, 1e-9 if self.logarithmic else 1e-12 * abs(self.centre))
        values = self.centre + width * Z
        return (np.exp(values) if self.logarithmic else values), np.exp(-0.5 * Z * Z)

    def height(self) -> float:
        """Return where on the curve the draw lies; on the floor if the curve is a spike."""
        with np.errstate(divide="ignore", invalid="ignore"):
            place = np.log(self.drawn) if self.logarithmic else self.drawn
            z = (place - self.centre) / self.width
            return float(np.nan_to_num(np.exp(-0.5 * z * z), nan=0.0))


def layers(frame: Frame, side: str) -> dict[str, Layer]:
    """Return the posterior of each operator and, where the rule draws, the draw on it."""
    beliefs = np.full((len(frame.names), 5), np.nan)
    if frame.tally is not None:
        beliefs = frame.tally.tip["beliefs"][0]
    elif len(frame.rows):
        beliefs = frame.rows["beliefs"][-1]
    draws = getattr(getattr(frame.tally, "next", None), "draws", ())
    found: dict[str, Layer] = {}
    marks: dict[str, Layer] = {}
    for o, name in enumerate(frame.names):
        draw = draws[o] if o < len(draws) else None
        posterior = _posterior(frame, beliefs[o], draw, side)
        values, density = posterior.curve()
        found[f"line {o}"] = Layer(
            name, {"value": values, "density": density}, colour_of(o), dash_of(o), grows=False
        )
        point = {
            "value": np.array([posterior.drawn]),
            "density": np.array([posterior.height()]),
        }
        marker = MARKERS[o % len(MARKERS)]
        marks[f"draw {o}"] = Layer("", point, colour_of(o), marker=marker, grows=False)
    return {**found, **marks}


def title(frame: Frame) -> str:
    """Say how the Joules are known, in two lines where half of a notebook is too narrow for one."""
    return frame.energy if len(frame.energy) <= 34 else frame.energy.replace(", ", ",\n", 1)


def element(frame: Frame, side: str) -> tuple[hv.Overlay, dict[str, hv.Element]]:
    """Draw one side of the view; also return its parts by layer."""
    rule = rule_of(frame.selector)
    x = hv.Dimension("value", label=rule.gain_axis if side == "gain" else rule.joules_axis)
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
        SIDES[side], frame, title=title(frame), height=240, ylim=(0.0, 1.12), xticks=3
    )
    return hv.Overlay(list(parts.values())).opts(**options), parts


def limits(frame: Frame, side: str) -> dict[str, tuple[float, float]]:
    """Return what x must show: every posterior and every draw."""
    values = np.concatenate([layer.columns["value"] for layer in layers(frame, side).values()])
    values = values[np.isfinite(values)]
    if values.size == 0:
        return {"x": window(np.nan, np.nan)}
    return {"x": window(float(values.min()), float(values.max()))}


def _posterior(frame: Frame, belief: Any, draw: Any, side: str) -> Posterior:
    """Return what a rule believes of one operator, in the rule's own terms."""
    drawn = float(getattr(draw, side, np.nan))
    if side == "joules":
        return _log_normal(belief[JOULES], belief[JOULES_SD], drawn)
    if not rule_of(frame.selector).credits:
        return Posterior(belief[GAIN], belief[GAIN_SD], False, drawn)
    if draw is None:
        return _about_logarithm(belief[GAIN], belief[GAIN_SD], np.nan)
    # EI/J+ draws the logarithm of the credit; what may not be started draws nothing.
    luck = draw.luck if np.isfinite(draw.priority) else np.nan
    return _about_logarithm(
        draw.gain, draw.gain * draw.spread, draw.gain * np.exp(draw.spread * luck)
    )


def _log_normal(mean: float, sd: float, drawn: float) -> Posterior:
    """Return the belief about a logarithm, given mean and deviation of the value itself."""
    if not mean > 0.0:
        return Posterior(np.nan, np.nan, True, drawn)
    variance = np.log1p((sd / mean) ** 2)
    return Posterior(np.log(mean) - 0.5 * variance, np.sqrt(variance), True, drawn)


def _about_logarithm(middle: float, spread: float, drawn: float) -> Posterior:
    if not middle > 0.0:
        return Posterior(np.nan, np.nan, True, drawn)
    return Posterior(np.log(middle), spread / middle, True, drawn)
