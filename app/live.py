"""A live figure: the element is rendered once, then rows go straight to Bokeh's data sources.

HoloViews decides how things look, Bokeh carries the numbers: streaming new rows costs about 6 ms of
CPU a frame, rendering the element anew 50 to 650. So title, legend and ticks change in place, too,
and a figure outlives the run that it was built for.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import holoviews as hv
import numpy as np
import panel as pn
from bokeh.core.property.vectorization import Value
from bokeh.models import ColumnDataSource, Range1d

from app.frame import Frame
from app.plots.energy import outline
from app.plots.layer import Layer, polygon, title_of
from app.plots.scale import relabel

__all__ = ["LiveFigure"]

Layers = dict[str, Layer]
Ranges = weakref.WeakKeyDictionary[Range1d, tuple[str, float, float]]
Drawn = tuple[hv.Overlay, dict[str, hv.Element]]


class LiveFigure:
    """A pane with one plot, kept up to date.

    Parameters
    ----------
    layers : callable
        From a frame to its layers, see `app.plots`.
    element : callable
        From a frame to the element and its parts by layer.
    limits : callable, optional
        From a frame to what "x" or "y" must show. The axis follows, until the reader zooms.
    title : callable
        From a frame to the figure's title.
    unit : callable, optional
        From a frame to where the logarithm of the y axis starts; 0: the axis is linear.
    """

    def __init__(
        self,
        layers: Callable[[Frame], Layers],
        element: Callable[[Frame], Drawn],
        limits: Callable[[Frame], dict[str, tuple[float, float]]] | None = None,
        title: Callable[[Frame], str] = title_of,
        unit: Callable[[Frame], float] | None = None,
        **options: Any,
    ) -> None:
        self._layers, self._element, self._limits = layers, element, limits
        self._title, self._unit = title, unit
        self._plots: weakref.WeakSet[Any] = weakref.WeakSet()
        self._worn: Any = None
        self._ranges: Ranges = weakref.WeakKeyDictionary()
        self._sources: dict[str, weakref.WeakSet[ColumnDataSource]] = {}
        self._shape: Any = None
        self._story: Any = None
        self.pane = pn.pane.HoloViews(
            None, sizing_mode="stretch_width", linked_axes=False, **options
        )

    def show(self, frame: Frame, story: Any, shape: Any = None) -> None:
        """Bring the figure up to this frame.

        Parameters
        ----------
        story : hashable
            Which telling of which run this is. As long as it stays, rows are only appended.
        shape : hashable
            What cannot change without building the element anew, such as axis labels.
        """
        shape = (_shape_of(frame), shape)
        unit = self._unit(frame) if self._unit is not None else 0.0
        story = (story, unit)  # on another logarithm every row lies elsewhere
        if shape != self._shape:
            self._build(frame)
            self._shape = shape
        else:
            anew = story != self._story
            layers = self._layers(frame)
            self._feed(layers, anew)
            self._dress(frame, layers, unit)
            if self._limits is not None:
                limits = self._limits(frame)
                for range_, (axis, *_) in tuple(self._ranges.items()):
                    self._follow(range_, axis, limits[axis], anew)
            if not pn.state.curdoc and self.pane._models:
                pn.io.push_notebook(self.pane)
        self._story = story

    def _build(self, frame: Frame) -> None:
        element, parts = self._element(frame)
        self._plots.clear()
        self._worn = None
        self._sources = {key: weakref.WeakSet() for key in parts}
        for key, part in parts.items():
            part.opts(hooks=[_Catch(self._sources[key])])
        self._ranges.clear()
        limits = self._limits(frame) if self._limits is not None else {}
        catch = _CatchPlot(self._plots, self._ranges, limits)
        self.pane.object = element.opts(hooks=[*_hooks_of(element), catch])

    def _dress(self, frame: Frame, layers: Layers, unit: float) -> None:
        """Change what the figure says: title, legend, ticks of a logarithmic axis."""
        labels = tuple(layer.label for layer in layers.values())
        worn = (self._title(frame), labels, unit)
        if worn == self._worn:
            return
        self._worn = worn
        for plot in tuple(self._plots):
            plot.title.text = worn[0]
            if unit:
                relabel(plot.yaxis[0], unit)
            for item in [item for legend in plot.legend for item in legend.items]:
                source = item.renderers[0].data_source
                for key, layer in layers.items():
                    if source in self._sources.get(key, ()) and layer.label:
                        item.label = Value(layer.label)

    def _follow(self, range_: Range1d, axis: str, limits: tuple[float, float], anew: bool) -> None:
        """Move the axis when the lines need it, unless the reader has zoomed."""
        low, high = limits
        _, start, end = self._ranges[range_]
        if (range_.start, range_.end) != (start, end) and not anew:
            return
        slack = 0.04 * (high - low)
        if anew or abs(low - start) > slack or abs(high - end) > slack:
            range_.update(start=low, end=high, reset_start=low, reset_end=high)
            self._ranges[range_] = (axis, low, high)

    def _feed(self, layers: Layers, anew: bool) -> None:
        for key, layer in layers.items():
            for source in tuple(self._sources.get(key, ())):
                _feed_source(source, layer, anew)


class _Catch:
    """A plot hook that keeps hold of the data source HoloViews made for a part."""

    def __init__(self, sources: weakref.WeakSet[ColumnDataSource]) -> None:
        self.sources = sources

    def __call__(self, plot: Any, element: Any) -> None:
        source = plot.handles.get("cds") or plot.handles.get("source")
        if source is not None:
            self.sources.add(source)


class _CatchPlot:
    """A plot hook that keeps hold of the figure, and gives its axes ranges of our own.

    Not a method of the figure: HoloViews keeps hooks in a global store as long as the element
    lives, and the figure keeps the element, so that neither would ever go.
    """

    def __init__(
        self, plots: weakref.WeakSet[Any], ranges: Ranges, limits: dict[str, tuple[float, float]]
    ) -> None:
        self.plots, self.ranges, self.limits = plots, ranges, limits

    def __call__(self, plot: Any, element: Any) -> None:
        self.plots.add(plot.state)
        for axis, (low, high) in self.limits.items():
            range_ = Range1d(start=low, end=high, reset_start=low, reset_end=high)
            setattr(plot.state, f"{axis}_range", range_)
            self.ranges[range_] = (axis, low, high)


def _hooks_of(element: hv.Overlay) -> list[Any]:
    return list(hv.Store.lookup_options("bokeh", element, "plot").kwargs.get("hooks", []))


def _shape_of(frame: Frame) -> Any:
    return frame.names, frame.selector, frame.used[1]


def _feed_source(source: ColumnDataSource, layer: Layer, anew: bool) -> None:
    columns = _as_drawn(layer)
    first = next(iter(columns.values()))
    have = len(next(iter(dict(source.data).values()), ()))
    served = source.document is not None and source.document.session_context is not None
    # Outside a server patches come back as echoes and corrupt the columns: replace them whole.
    if layer.grows and served and not anew and 0 < have <= len(first):
        if have < len(first):
            source.stream({name: values[have:] for name, values in columns.items()})
    else:
        source.data = columns


def _as_drawn(layer: Layer) -> dict[str, Any]:
    columns = layer.columns
    if "low" in columns:
        along = next(name for name in columns if name not in ("low", "high"))
        if along == "joules":
            return _nested(columns)
        return polygon(columns[along], columns["low"], columns["high"])
    return {name: np.asarray(values) for name, values in columns.items()}


def _nested(columns: dict[str, Any]) -> dict[str, Any]:
    shape = outline(columns)
    return {"xs": [[[shape["place"]]]], "ys": [[[shape["joules"]]]]}
