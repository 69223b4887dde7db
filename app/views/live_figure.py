"""A live figure: the element is rendered once, then rows go straight to Bokeh's data sources.

HoloViews decides how things look, Bokeh carries the numbers: streaming new rows takes about 6 ms of
CPU a frame, rendering the element anew 50 to 650. Title, legend and ticks change in place for the
same reason, and a figure outlives the run that it was built for.
"""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

import holoviews as hv
import panel as pn
from bokeh.core.property.vectorization import Value
from bokeh.models import ColumnDataSource, Range1d

from .layer import Layer
from .plot import AxisLimits, Plot
from .scale import relabel
from .snapshot import Snapshot

Ranges = weakref.WeakKeyDictionary[Range1d, tuple[str, float, float]]
"""The axes by their ranges, with the limits that were last set."""


class LiveFigure:
    """A pane with one plot, kept up to date.

    Parameters
    ----------
    titled : bool
        Whether the title is shown; a file that is saved has it in any case.
    """

    def __init__(self, titled: bool = True) -> None:
        self._titled = titled
        self._figures: weakref.WeakSet[Any] = weakref.WeakSet()
        self._ranges: Ranges = weakref.WeakKeyDictionary()
        self._sources: dict[str, weakref.WeakSet[ColumnDataSource]] = {}
        self._shape: Any = None
        self._story: Any = None
        self._written: Any = None
        self.pane = pn.pane.HoloViews(None, sizing_mode="stretch_width", linked_axes=False)

    def show(self, plot: Plot, snapshot: Snapshot, story: Any) -> None:
        """Bring the figure up to this snapshot.

        Parameters
        ----------
        story : hashable
            Identifies the run and how it is shown. While it stays the same, rows are only
            appended.
        """
        unit = plot.unit(snapshot)
        story = (story, unit)  # on another logarithm every row lies elsewhere
        shape = plot.shape(snapshot)
        if shape != self._shape:
            self._build(plot, snapshot)
            self._shape = shape
        else:
            anew = story != self._story
            layers = plot.layers(snapshot)
            for key, layer in layers.items():
                for source in tuple(self._sources.get(key, ())):
                    _feed(source, layer, anew)
            self._write(plot.title(snapshot), layers, unit)
            self._follow(plot.limits(snapshot), anew)
            if not pn.state.curdoc:
                pn.io.push_notebook(self.pane)
        self._story = story

    def forget(self) -> None:
        """Build the element anew when the next snapshot is shown."""
        self._shape = None

    def _build(self, plot: Plot, snapshot: Snapshot) -> None:
        element, parts = plot.element(snapshot)
        self._figures.clear()
        self._ranges.clear()
        self._written = None
        self._sources = {key: weakref.WeakSet() for key in parts}
        for key, part in parts.items():
            part.opts(hooks=[partial(_catch_source, self._sources[key])])
        catch = partial(_catch_figure, self._figures, self._ranges, plot.limits(snapshot))
        known = hv.Store.lookup_options("bokeh", element, "plot").kwargs["hooks"]
        hooks = [*known, catch] if self._titled else [*known, catch, _hide_title]
        self.pane.object = element.opts(hooks=hooks)

    def _write(self, title: str, layers: dict[str, Layer], unit: float) -> None:
        """Change what the figure says: title, legend, ticks of a logarithmic axis."""
        written = (title, tuple(layer.label for layer in layers.values()), unit)
        if written == self._written:
            return
        self._written = written
        for figure in tuple(self._figures):
            figure.title.text = title
            if unit:
                relabel(figure.yaxis[0], unit)
            for item in [item for legend in figure.legend for item in legend.items]:
                source = item.renderers[0].data_source
                for key, layer in layers.items():
                    if source in self._sources.get(key, ()) and layer.label:
                        item.label = Value(layer.label)

    def _follow(self, limits: AxisLimits, anew: bool) -> None:
        """Move the axes when the lines need it, unless the reader has zoomed."""
        for range_, (axis, start, end) in tuple(self._ranges.items()):
            low, high = limits[axis]
            if (range_.start, range_.end) != (start, end) and not anew:
                continue
            slack = 0.04 * (high - low)
            if anew or abs(low - start) > slack or abs(high - end) > slack:
                range_.update(start=low, end=high, reset_start=low, reset_end=high)
                self._ranges[range_] = (axis, low, high)


# The hooks below are not methods of the figure: HoloViews keeps hooks in a global store as long as
# the element lives, and the figure keeps the element, so that neither would ever be freed.


def _catch_source(sources: weakref.WeakSet[ColumnDataSource], plot: Any, element: Any) -> None:
    """Keep the data source that HoloViews made for a part."""
    sources.add(plot.handles["source"])


def _hide_title(plot: Any, element: Any) -> None:
    plot.state.title.visible = False


def _catch_figure(
    figures: weakref.WeakSet[Any], ranges: Ranges, limits: AxisLimits, plot: Any, element: Any
) -> None:
    """Keep the figure, and give its axes ranges whose limits are known here."""
    figures.add(plot.state)
    for axis, (low, high) in limits.items():
        range_ = Range1d(start=low, end=high, reset_start=low, reset_end=high)
        setattr(plot.state, f"{axis}_range", range_)
        ranges[range_] = (axis, low, high)


def _feed(source: ColumnDataSource, layer: Layer, anew: bool) -> None:
    columns = layer.source()
    size = len(next(iter(columns.values())))
    have = len(next(iter(dict(source.data).values()), ()))
    served = source.document is not None and source.document.session_context is not None
    # Outside a server patches come back as echoes and corrupt the columns: replace them whole.
    if layer.grows and served and not anew and 0 < have <= size:
        if have < size:
            source.stream({name: values[have:] for name, values in columns.items()})
    else:
        source.data = columns
