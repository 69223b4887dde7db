"""Folded parts are built when they are opened: few visitors do, and the page opens faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel_material_ui as pmui

__all__ = ["fill_when_opened", "folded"]


def folded(title: str, margin: Any = 0) -> Any:
    """Return an empty part that is folded up, in the colours of what is around it."""
    return pmui.Details(
        title=title,
        collapsed=True,
        fully_expanded=True,
        elevation=0,
        sx={"borderRadius": "10px", "& > *:first-of-type": {"backgroundColor": "transparent"}},
        sizing_mode="stretch_width",
        margin=margin,
    )


def fill_when_opened(fold: Any, content: Callable[[], list[Any]]) -> None:
    """Give a `pmui.Details` its content the first time it is opened."""

    def fill(event: Any) -> None:
        if not event.new and not fold.objects:
            fold.objects = content()

    fold.param.watch(fill, "collapsed")
