"""A plot: a pure function from a snapshot to layers of numbers and the element that draws them."""

from __future__ import annotations

import base64
import functools
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import holoviews as hv
from bokeh.models import CustomAction, CustomJS, CustomJSTickFormatter, SaveTool, WheelZoomTool

from .layer import Layer
from .snapshot import Snapshot

AxisLimits = dict[str, tuple[float, float]]


def _icon(word: str) -> str:
    """Return a word as the icon of a tool."""
    drawn = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"><text x="1" y="16" '
        f'font-family="sans-serif" font-size="10" font-weight="bold" fill="#8A8F98">{word}</text>'
        "</svg>"
    )
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()}"


OPTIONS: dict[str, Any] = {
    "height": 300,
    "responsive": True,
    "show_grid": True,
    "toolbar": "above",
    "default_tools": ["pan", "box_zoom", "reset"],
    "active_tools": [],
    "fontsize": {"title": "9pt", "labels": "9.5pt", "ticks": "8.5pt", "legend": "9pt"},
    "legend_position": "bottom",
    "legend_cols": 3,
    "legend_opts": {
        **{"border_line_alpha": 0.0, "background_fill_alpha": 0.0},
        **{"padding": 0, "margin": 2, "spacing": 16},
    },
}


@dataclass(frozen=True)
class Plot:
    """What one figure shows; its fields are what a reader can choose."""

    name: ClassVar[str] = ""

    def layers(self, snapshot: Snapshot) -> dict[str, Layer]:
        """Return the layers by key, the lowest first."""
        raise NotImplementedError

    def options(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return the labels of the axes, and HoloViews' options beyond those of every plot."""
        raise NotImplementedError

    def limits(self, snapshot: Snapshot) -> AxisLimits:
        """Return what "x" or "y" must show; a live figure follows until the reader zooms."""
        return {}

    def title(self, snapshot: Snapshot) -> str:
        """Say what is drawn, and how its Joules are known."""
        return f"{' · '.join(snapshot.components)}\n{snapshot.energy}"

    def unit(self, snapshot: Snapshot) -> float:
        """Return where the logarithm of the y axis starts; 0: the axis is linear."""
        return 0.0

    def shape(self, snapshot: Snapshot) -> Any:
        """Return what cannot change without building the element anew, such as axis labels."""
        return self, snapshot.names, snapshot.selector, snapshot.used[1]

    def element(self, snapshot: Snapshot) -> tuple[hv.Overlay, dict[str, hv.Element]]:
        """Return the element and its parts by layer."""
        parts = {key: layer.element() for key, layer in self.layers(snapshot).items()}
        options = {**OPTIONS, "title": self.title(snapshot), **self.options(snapshot)}
        hooks = [partial(_identify, name=self.name), save_as_file, *options.pop("hooks", [])]
        return hv.Overlay(list(parts.values())).opts(**options, hooks=hooks), parts


@functools.cache
def script(name: str) -> str:
    """Return a script that the browser runs for a figure, by its name in `scripts`."""
    return Path(__file__).with_name("scripts").joinpath(f"{name}.js").read_text("utf-8")


def save_as_file(plot: Any, element: Any) -> None:
    """Put buttons that save PNG and SVG into the toolbar: a hook of HoloViews."""
    figure = plot.state
    if any(isinstance(tool, CustomAction) for tool in figure.tools):
        return
    for kind in ("png", "svg"):
        callback = CustomJS(args={"figure": figure, "kind": kind}, code=script("save"))
        words = f"Save as {kind.upper()}"
        figure.add_tools(
            CustomAction(icon=_icon(kind.upper()), description=words, callback=callback)
        )


def furnish(figure: Any, name: str) -> None:
    """Give a figure its name, also for files, and a toolbar that hides until it is wanted."""
    figure.name = name
    # A thousand points need no WebGL, which draws no dashes and is slow without a GPU.
    figure.output_backend = "canvas"
    figure.outline_line_color = None  # the card around it is frame enough
    figure.toolbar.logo = None
    figure.toolbar.autohide = True


def _identify(plot: Any, element: Any, name: str) -> None:
    furnish(plot.state, name)
    # HoloViews adds the default tools of the parts; these take the wheel, or save without a title.
    plot.state.tools = [
        tool for tool in plot.state.tools if not isinstance(tool, WheelZoomTool | SaveTool)
    ]
    fit = CustomJS(code=script("fit_legend"))
    plot.state.js_on_change("inner_width", fit)  # its lines are cut where it is too wide
    for axis in plot.state.axis:
        if not axis.major_label_overrides:
            axis.formatter = CustomJSTickFormatter(code=script("number_ticks"))
