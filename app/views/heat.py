"""A map of the zoo: one cell for each rule and case."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd
from bokeh.events import Tap
from bokeh.models import HoverTool, TapTool

from eij_core.zoo import CASES

from ..text.names import name_of
from .plot import furnish, save_as_file

VALUES = {
    "wasted_share": ("Share of the Joules wasted", (0.0, 1.0)),
    "behind": ("Short of the best single operator", (0.0, 0.05)),
}
AXES = ["case", "rule"]
ROW = 34
"""Pixels of a rule."""
LETTER = 4
"""Pixels that a letter of a case's slanted name takes below the map."""


def heat_map_of(
    frame: Any,
    value: str,
    chosen: Callable[[str, str], None] = lambda case, rule: None,
    awaited: Iterable[tuple[str, str]] = (),
) -> hv.Overlay:
    """Return a map with the mean of each cell.

    Parameters
    ----------
    frame : DataFrame
        Of `frame_of_cells`.
    value : str
        One of `VALUES`.
    chosen : callable
        Called with the case and the rule of a cell that is clicked.
    awaited : iterable of (case, rule)
        Cells that are not computed yet: their places stay empty.
    """
    title, limits = VALUES[value]
    light = limits[0] + 0.55 * (limits[1] - limits[0])
    known = frame.set_index(AXES)[[value]]
    known["label"] = known[value].map(_percent)
    places = pd.MultiIndex.from_tuples(dict.fromkeys([*known.index, *awaited]), names=AXES)
    data = known.reindex(places).fillna({"label": ""}).reset_index()
    data["ink"] = np.where(data[value] > light, "#fff", "#111")  # white where the cell is dark
    cases = [name for name in CASES if name in set(data["case"])]
    rules = list(data["rule"].unique())
    shown = {
        family: [name_of(family, name) for name in names]
        for family, names in (
            ("case", cases),
            ("selector", rules[::-1]),  # the first rule is on top
        )
    }
    data["case"] = [name_of("case", name) for name in data["case"]]
    data["rule"] = [name_of("selector", name) for name in data["rule"]]
    axes = [hv.Dimension("case", values=shown["case"])]
    axes += [hv.Dimension("rule", values=shown["selector"])]
    colour = hv.Dimension(value, label=title, range=limits)

    def listen(plot: Any, element: Any) -> None:
        furnish(plot.state, "zoo")
        plot.state.tools = [t for t in plot.state.tools if isinstance(t, HoverTool)]
        plot.state.xaxis.major_label_orientation = 0.7
        plot.state.add_tools(TapTool())

        def tapped(event: Any) -> None:
            column, row = _name_at(event.x, cases), _name_at(event.y, rules[::-1])
            if column and row:
                chosen(column, row)

        plot.state.on_event(Tap, tapped)

    cells = hv.HeatMap(data, axes, colour).opts(
        cmap="Blues", clim=limits, colorbar=False, line_color="white", line_width=2,
        nonselection_alpha=1.0, tools=["hover"], clipping_colors={"NaN": "transparent"},
    )  # fmt: skip
    labels = hv.Labels(data, axes, ["label", "ink"]).opts(
        text_color="ink", text_font_size="9pt", hooks=[_keep_legible]
    )
    return (cells * labels).opts(
        title=f"{title}\nsimulated Joules",
        responsive=True,
        height=60 + LETTER * max(map(len, shown["case"])) + ROW * len(rules),
        xlabel="",
        ylabel="",
        toolbar="above",
        default_tools=[],
        show_grid=False,
        fontsize={"title": "9pt", "ticks": "9pt"},
        hooks=[listen, save_as_file],
    )


def _keep_legible(plot: Any, element: Any) -> None:
    """Draw labels alike, whether their cell is chosen or another one: a hook of HoloViews."""
    renderer = plot.handles["glyph_renderer"]
    renderer.nonselection_glyph = renderer.selection_glyph = None


def _percent(share: float) -> str:
    return "–" if share != share else f"{share:.0%}" if abs(share) >= 0.1 else f"{share:.1%}"


def _name_at(place: float, names: list[str]) -> str:
    """Return the name at a place of a categorical axis; "" outside it."""
    return names[int(place)] if 0 <= place < len(names) else ""
