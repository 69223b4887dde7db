"""Joules per application of each operator, as violins from the run's own histogram."""

from __future__ import annotations

import math
from typing import Any

import holoviews as hv
import numpy as np
from bokeh.models import CustomJSTickFormatter

from app.frame import Frame
from app.plots.layer import Layer, common, window
from app.theme import colour_of
from eij_core.records import bin_edges

__all__ = ["element", "layers", "limits", "outline", "quantiles"]

HALF = 0.42
"""Half the width of the widest violin; operators stand one apart."""
POINTS = 72
FAINT = 0.01
"""Densities below this share of the peak do not widen the axis: on a busy machine one application
in a thousand is interrupted, and takes ten times as long."""

# An application takes a microjoule here and ten Joules there: the unit follows the largest tick.
WITH_UNIT = """
    const largest = Math.max(...ticks.map(Math.abs))
    const [unit, size] = [["J", 1], ["mJ", 1e-3], ["µJ", 1e-6]].find(([, size]) => largest >= size)
        ?? ["nJ", 1e-9]
    return tick == 0 ? "0" : `${Number((tick / size).toPrecision(4))} ${unit}`
"""


def write_units(plot: Any, element: Any) -> None:
    """Write Joules with the unit that suits them: a hook of HoloViews."""
    plot.state.yaxis.formatter = CustomJSTickFormatter(code=WITH_UNIT)


def layers(frame: Frame) -> dict[str, Layer]:
    """Return a violin and a median for each operator."""
    histogram = _histogram(frame)
    found: dict[str, Layer] = {}
    for o in range(len(frame.names)):
        joules, density = _density(histogram[o])
        columns = {"joules": joules, "low": o - HALF * density, "high": o + HALF * density}
        found[f"violin {o}"] = Layer("", columns, colour_of(o), alpha=0.45, grows=False)
    for o in range(len(frame.names)):
        low, middle, high = quantiles(histogram[o], (0.25, 0.5, 0.75))
        box = {"place": np.array([o, o, o]), "joules": np.array([low, middle, high])}
        found[f"median {o}"] = Layer("", box, colour_of(o), grows=False)
    return found


def element(frame: Frame) -> tuple[hv.Overlay, dict[str, hv.Element]]:
    """Draw the view; also return its parts by layer."""
    found = layers(frame)
    parts: dict[str, hv.Element] = {}
    for key, layer in found.items():
        if key.startswith("violin"):
            shape = hv.Polygons([outline(layer.columns)], ["place", "joules"])
            parts[key] = shape.opts(
                fill_color=layer.colour, fill_alpha=layer.alpha, line_color=layer.colour
            )
        else:
            points = hv.Scatter(layer.columns, "place", "joules")
            parts[key] = points.opts(
                color=layer.colour, marker="dash", size=26, line_width=3.0, line_color=layer.colour
            )
    count = len(frame.names)
    options: dict[str, Any] = common(
        "energy",
        frame,
        title=frame.energy,
        height=300,
        xlim=(-0.7, count - 0.3),
        xticks=[(o, name) for o, name in enumerate(frame.names)],
        xlabel="Operator",
        ylabel="Energy per application",
        show_legend=False,
        hooks=[write_units],
    )
    return hv.Overlay(list(parts.values())).opts(**options), parts


def outline(columns: dict[str, Any]) -> dict[str, Any]:
    """Go up one side of a violin and down the other; a speck where there is none."""
    joules, low, high = (columns[name] for name in ("joules", "low", "high"))
    if not len(joules):
        return {"place": np.zeros(3), "joules": np.zeros(3)}
    return {
        "place": np.concatenate([high, low[::-1]]),
        "joules": np.concatenate([joules, joules[::-1]]),
    }


def quantiles(counts: Any, shares: tuple[float, ...]) -> list[float]:
    """Read quantiles off the histogram, in Joules.

    Examples
    --------
    >>> counts = np.zeros(bin_edges().size - 1)
    >>> bool(np.isnan(quantiles(counts, (0.5,))[0]))
    True
    """
    total = counts.sum()
    if total == 0:
        return [math.nan] * len(shares)
    centres = _centres()
    running = np.cumsum(counts)
    return [float(centres[np.searchsorted(running, share * total)]) for share in shares]


def limits(frame: Frame) -> dict[str, tuple[float, float]]:
    """Return what y must show: every violin, without the threads of a few applications in it."""
    shown = []
    for counts in _histogram(frame):
        joules, density = _density(counts)
        shown += joules[density > FAINT].tolist()
    if not shown:
        return {"y": window(np.nan, np.nan)}
    return {"y": window(0.95 * min(shown), 1.05 * max(shown))}


def _histogram(frame: Frame) -> Any:
    if frame.tally is not None:
        return frame.tally.histogram
    return np.zeros((len(frame.names), bin_edges().size - 1))


def _centres() -> Any:
    edges = bin_edges()
    return np.sqrt(edges[:-1] * edges[1:])


def _density(counts: Any) -> tuple[Any, Any]:
    """Smooth the logarithmic histogram, and return Joules and density with its peak at 1."""
    seen = np.flatnonzero(counts)
    if seen.size == 0:
        return np.zeros(0), np.zeros(0)
    at = np.log(_centres()[seen])
    weight = counts[seen] / counts[seen].sum()
    mean = float((weight * at).sum())
    sd = math.sqrt(float((weight * (at - mean) ** 2).sum()))
    # Silverman's rule, but never below the width of a bin.
    width = max(0.9 * sd * float(counts.sum()) ** -0.2, 0.03)
    grid = np.linspace(at[0] - 3 * width, at[-1] + 3 * width, POINTS)
    density = np.exp(-0.5 * ((grid[:, None] - at) / width) ** 2) @ weight
    return np.exp(grid), density / density.max()
