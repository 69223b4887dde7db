"""Panes and their arrangement in the style of the page."""

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui

from ..text.theme import PAGE_CSS

HALVES = "repeat(auto-fit, minmax(min(100%, 420px), 1fr))"
"""Columns of a grid: two, or one where there is no room for two."""


def html_pane(margin: Any, html: str = "", **params: Any) -> Any:
    """Return a pane for HTML, as wide as its place unless `sizing_mode` says otherwise."""
    sheets = [PAGE_CSS, *params.pop("stylesheets", ())]
    params = {"sizing_mode": "stretch_width", "stylesheets": sheets, **params}
    return pn.pane.HTML(html, margin=margin, **params)


def figure_place(pane: Any, **params: Any) -> Any:
    """Return the place of a figure that may be built anew while the page is open.

    It is a column of Bokeh's own: Material's would measure the new figure before it has a layout.
    """
    return pn.Column(pane, sizing_mode="stretch_width", **params)


def grid(*parts: Any, columns: Any = HALVES, gap: str = "14px") -> Any:
    """Return parts in the columns of a CSS grid."""
    style = {"display": "grid", "gridTemplateColumns": columns, "gap": gap}
    return pmui.FlexBox(*parts, sizing_mode="stretch_width", sx=style)
