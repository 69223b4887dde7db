"""The layers of a plot: columns of numbers, before anything is drawn."""

from __future__ import annotations

import base64
import math
from typing import Any, NamedTuple

import holoviews as hv
import holoviews.plotting.bokeh  # the backend registers itself; no notebook extension is loaded
import numpy as np
from bokeh.models import CustomAction, CustomJS, CustomJSTickFormatter, SaveTool, WheelZoomTool
from numpy.typing import NDArray

from app.frame import Frame

__all__ = [
    *("Layer", "areas", "common", "furnish", "lines", "polygon", "save_as_svg", "span", "stepped"),
    *("thinned", "title_of", "window"),
]

Floats = NDArray[np.float64]

_ = holoviews.plotting.bokeh

_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"><text x="1" y="16" '
    'font-family="sans-serif" font-size="10" font-weight="bold" fill="#8A8F98">SVG</text></svg>'
)
ICON = f"data:image/svg+xml;base64,{base64.b64encode(_SVG.encode()).decode()}"


class Layer(NamedTuple):
    """One line, band or set of points: the columns of its data source, and its looks."""

    label: str
    columns: dict[str, Any]
    colour: str
    dash: str = "solid"
    width: float = 2.0
    alpha: float = 1.0
    marker: str = ""
    grows: bool = True
    """Whether rows are only ever appended, so that the new ones can be streamed."""


def lines(layers: dict[str, Layer], x: hv.Dimension, y: hv.Dimension) -> dict[str, hv.Curve]:
    """Draw layers as lines."""
    return {
        key: hv.Curve(layer.columns, x, y, label=layer.label).opts(
            color=layer.colour,
            line_dash=layer.dash,
            line_width=layer.width,
            alpha=layer.alpha,
        )
        for key, layer in layers.items()
    }


def areas(layers: dict[str, Layer], x: str, low: str, high: str) -> dict[str, hv.Area]:
    """Draw layers as bands between two columns; without labels, the lines have them."""
    return {
        key: hv.Area(layer.columns, x, [low, high]).opts(
            fill_color=layer.colour,
            fill_alpha=layer.alpha,
            line_alpha=0.0,
        )
        for key, layer in layers.items()
    }


def polygon(xs: Floats, low: Floats, high: Floats) -> dict[str, Floats]:
    """Return what the data source of a band holds: there and back again."""
    good = np.isfinite(xs) & np.isfinite(low) & np.isfinite(high)
    xs, low, high = xs[good], low[good], high[good]
    along = np.concatenate([xs, xs[::-1]])
    across = np.concatenate([high, low[::-1]])
    return {"x": along, "y": across}


def stepped(xs: Floats, ys: Floats) -> tuple[Floats, Floats]:
    """Put a corner before each change: the value holds until the next one comes.

    Only there, since a line of many tiny pieces loses its dashes.

    Examples
    --------
    >>> stepped(np.array([0.0, 1.0, 2.0]), np.array([5.0, 5.0, 6.0]))
    (array([0., 1., 2., 2.]), array([5., 5., 5., 6.]))
    """
    corners = np.flatnonzero(np.diff(ys)) + 1
    return np.insert(xs, corners, xs[corners]), np.insert(ys, corners, ys[corners - 1])


def thinned(size: int, most: int) -> Any:
    """Return the index of at most `most` rows, the last one among them."""
    if size <= most:
        return slice(None)
    return np.unique(np.linspace(0, size - 1, most).astype(int))


def window(low: float, high: float) -> tuple[float, float]:
    """Return limits of an axis with some air around what it must show.

    Examples
    --------
    >>> window(0.0, 100.0)
    (-6.0, 106.0)
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return 0.0, 1.0
    air = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return low - air, high + air


def save_as_svg(plot: Any, element: Any) -> None:
    """Put a second way of saving beside the toolbar's PNG."""
    figure = plot.state
    if any(isinstance(tool, CustomAction) for tool in figure.tools):
        return
    code = """
    Bokeh.index.find_one_by_id(figure.id).export("svg").to_blob().then(blob => {
        const link = document.createElement("a")
        link.href = URL.createObjectURL(blob)
        link.download = "eij-" + figure.name + ".svg"
        link.click()
        URL.revokeObjectURL(link.href)
    })
    """
    callback = CustomJS(args={"figure": figure}, code=code)
    figure.add_tools(CustomAction(icon=ICON, description="Save as SVG", callback=callback))


# Bokeh writes −1.500e+7; people write −1.5×10⁷.
NUMBERS = """
    if (tick == 0) return "0"
    const size = Math.abs(tick)
    if (size >= 1e-3 && size < 1e5) return String(Number(tick.toPrecision(4))).replace("-", "−")
    const [mantissa, exponent] = tick.toExponential(2).split("e")
    const raise = c => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]
    const raised = String(Number(exponent)).replace(/./g, raise)
    return (Number(mantissa) + "×10" + raised).replace("-", "−")
"""


def title_of(frame: Frame) -> str:
    """Say what is drawn, and how its Joules are known."""
    return f"{frame.problem} · {frame.algorithm} · {frame.selector}\n{frame.energy}"


def furnish(figure: Any, name: str) -> None:
    """Give a figure its name, also for files, and a toolbar that hides until it is wanted."""
    figure.name = name
    # A thousand points need no WebGL, which draws no dashes and is slow without a GPU.
    figure.output_backend = "canvas"
    figure.outline_line_color = None  # the card around it is frame enough
    figure.toolbar.logo = None
    figure.toolbar.autohide = True
    for tool in figure.select(SaveTool):
        tool.filename = f"eij-{name}"  # else the browser asks for one


def common(name: str, frame: Frame, height: int = 300, **options: Any) -> dict[str, Any]:
    """Return the options that every figure has; the title says how its Joules are known."""

    def identify(plot: Any, element: Any) -> None:
        furnish(plot.state, name)
        # HoloViews takes the default tools of the parts, too; this one takes the page's wheel.
        plot.state.tools = [t for t in plot.state.tools if not isinstance(t, WheelZoomTool)]
        for axis in plot.state.axis:
            if not axis.major_label_overrides:
                axis.formatter = CustomJSTickFormatter(code=NUMBERS)

    hooks = [identify, save_as_svg, *options.pop("hooks", [])]
    return {
        "title": title_of(frame),
        "height": height,
        "responsive": True,
        "show_grid": True,
        "toolbar": "above",
        "default_tools": ["save", "pan", "box_zoom", "reset"],
        "active_tools": [],
        "fontsize": {"title": "9pt", "labels": "9.5pt", "ticks": "8.5pt", "legend": "9pt"},
        "legend_position": "bottom",
        "legend_cols": 3,
        "legend_opts": {
            "border_line_alpha": 0.0,
            "background_fill_alpha": 0.0,
            "padding": 0,
            "margin": 2,
            "spacing": 16,
        },
        "hooks": hooks,
        **options,
    }


def span(low: float, high: float) -> tuple[float | None, float | None]:
    """Return limits of an axis; open where they are not known."""
    return low, (high if math.isfinite(high) else None)
