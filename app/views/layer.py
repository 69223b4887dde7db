"""The layers of a plot: columns of numbers, how they look, and what Bokeh holds of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import holoviews as hv
import numpy as np
from numpy.typing import NDArray

from ..internals.holoviews import bokeh_backend

Floats = NDArray[np.float64]
Columns = dict[str, Any]

AS_DICT = {"datatype": ["dictionary"]}
"""How HoloViews keeps columns; left to choose, it would import pandas to ask whether they fit."""

bokeh_backend()  # it registers itself; no notebook extension is loaded


@dataclass(frozen=True)
class Layer:
    """One part of a plot. The first column is x, the second y."""

    columns: Columns
    colour: str
    label: str = ""
    """What the legend says; a layer without a label is not in it."""
    grows: bool = field(default=False, kw_only=True)
    """Whether rows are only ever appended, so that the new ones can be streamed."""

    def element(self) -> hv.Element:
        """Return what HoloViews draws."""
        raise NotImplementedError

    def source(self) -> Columns:
        """Return the columns of the data source that Bokeh draws the element from."""
        return {name: np.asarray(values) for name, values in self.columns.items()}


@dataclass(frozen=True)
class Line(Layer):
    """A line; it grows unless something else is said."""

    dash: str = "solid"
    width: float = 2.0
    alpha: float = 1.0
    grows: bool = field(default=True, kw_only=True)

    def element(self) -> hv.Element:
        """Return a curve."""
        looks = {"line_dash": self.dash, "line_width": self.width, "alpha": self.alpha}
        return hv.Curve(self.columns, *self.columns, label=self.label, **AS_DICT).opts(
            color=self.colour, **looks
        )


@dataclass(frozen=True)
class Band(Layer):
    """An area between the columns `low` and `high`."""

    def element(self) -> hv.Element:
        """Return an area without an edge."""
        along, *sides = self.columns
        return hv.Area(self.columns, along, sides, **AS_DICT).opts(
            fill_color=self.colour, fill_alpha=0.13, line_alpha=0.0
        )

    def source(self) -> Columns:
        """Return the corners of the area."""
        along, low, high = self.columns.values()
        good = np.isfinite(along) & np.isfinite(low) & np.isfinite(high)
        xs, ys = _there_and_back(along[good], low[good], high[good])
        return {"x": xs, "y": ys}


@dataclass(frozen=True)
class Marks(Layer):
    """Points."""

    marker: str = "circle"
    size: int = 13
    edge: str = "white"
    edge_width: float = 1.0
    fill: float = 1.0
    """Opacity within the edge."""

    def element(self) -> hv.Element:
        """Return points."""
        edges = {"line_color": self.edge, "line_width": self.edge_width, "fill_alpha": self.fill}
        return hv.Scatter(self.columns, *self.columns, label=self.label, **AS_DICT).opts(
            color=self.colour, marker=self.marker, size=self.size, **edges
        )


@dataclass(frozen=True)
class Rectangles(Layer):
    """Rectangles between the columns `left`, `bottom`, `right` and `top`; `shade`: opacity."""

    def element(self) -> hv.Element:
        """Return rectangles without edges."""
        corners, shade = list(self.columns)[:4], "shade"
        return hv.Rectangles(self.columns, corners, [shade], label=self.label, **AS_DICT).opts(
            fill_color=self.colour, fill_alpha=shade, line_alpha=0.0
        )

    def source(self) -> Columns:
        """Return the columns, the opacity under the name that HoloViews gives it."""
        columns = super().source()
        return {**columns, "fill_alpha": columns.pop("shade")}


@dataclass(frozen=True)
class Words(Layer):
    """Words at places: the columns x, y and `words`."""

    align: str = "center"

    def element(self) -> hv.Element:
        """Return labels."""
        return hv.Labels(self.columns, ["x", "y"], "words", **AS_DICT).opts(
            text_color=self.colour, text_align=self.align, text_font_size="9pt"
        )


@dataclass(frozen=True)
class Violin(Layer):
    """A shape that stands upright between the columns `low` and `high`, along `joules`."""

    def element(self) -> hv.Element:
        """Return a polygon."""
        return hv.Polygons([self._outline()], ["place", "joules"]).opts(
            fill_color=self.colour, fill_alpha=0.45, line_color=self.colour
        )

    def source(self) -> Columns:
        """Return the outline, nested as Bokeh nests polygons."""
        outline = self._outline()
        return {"xs": [[[outline["place"]]]], "ys": [[[outline["joules"]]]]}

    def _outline(self) -> Columns:
        joules, low, high = self.columns.values()
        if not len(joules):
            return {"place": np.zeros(3), "joules": np.zeros(3)}  # HoloViews draws no empty polygon
        along, across = _there_and_back(joules, low, high)
        return {"place": across, "joules": along}


def _there_and_back(along: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Go along the upper side of a shape and back along the lower one."""
    return np.concatenate([along, along[::-1]]), np.concatenate([high, low[::-1]])


def stepped(xs: Floats, ys: Floats) -> tuple[Floats, Floats]:
    """Put a corner before each change, so that a value holds until the next one comes.

    Elsewhere there is none: a line of many tiny pieces loses its dashes.

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
