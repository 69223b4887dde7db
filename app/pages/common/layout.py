"""Parts that every page is laid out with: columns, boxes, alerts, folds, fields for files."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import panel_material_ui as pmui

from ...server.limits import UPLOAD_BYTES
from ...text.escape import text

__all__ = [
    *(
        "FIELD",
        "WIDE",
        "Quiet",
        "alert_box",
        "box",
        "button_row",
        "column",
        "download",
        "file_field",
    ),
    *("fold", "middle", "set_changed", "show_alert"),
]

WIDE: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": (6, 6)}
"""Of a widget at the side of a page."""
FIELD: dict[str, Any] = {"size": "small", **WIDE}


def column(*parts: Any, **params: Any) -> Any:
    """Return parts one below the other, as wide as their place."""
    return pmui.Column(*parts, **{"sizing_mode": "stretch_width", "margin": 0, **params})


def button_row(*buttons: Any) -> Any:
    """Return buttons side by side, in several lines where the window is narrow."""
    return pmui.FlexBox(*buttons, align_items="center", sizing_mode="stretch_width")


def box(*parts: Any, **style: Any) -> Any:
    """Return parts of the page in one box."""
    return pmui.Paper(
        *parts, elevation=0, variant="outlined", sizing_mode="stretch_width", margin=0,
        sx={"p": "8px", **style},
    )  # fmt: skip


def middle(*parts: Any) -> Any:
    """Return parts that fill the middle of a page, one below the other."""
    return column(*parts, sx={"p": {"xs": "8px", "sm": "16px"}, "gap": "14px"})


def alert_box(**params: Any) -> Any:
    """Return an alert, hidden until it has something to say."""
    shown = {"object": "", "severity": "error", "visible": False, **WIDE, **params}
    return pmui.Alert(**shown)


def show_alert(alert: Any, message: object = "", **params: Any) -> None:
    """Show a message, escaped line by line; without one, hide the alert."""
    lines = "<br>".join(map(text, str(message or "").splitlines()))
    alert.param.update(object=lines, visible=bool(lines), **params)


def file_field(label: str, css_class: str, accept: str, **params: Any) -> Any:
    """Return a field for one file of the visitor's."""
    return pmui.FileInput(
        label=label, css_classes=[css_class], accept=accept, multiple=False, size="small",
        variant="outlined", max_file_size=UPLOAD_BYTES, **params,
    )  # fmt: skip


def download(label: str, name: str, content: Callable[[], io.BytesIO], **params: Any) -> Any:
    """Return a button that makes its file when it is pressed."""
    return pmui.FileDownload(
        label=label, filename=name, callback=content, embed=False, size="small", margin=(4, 4),
        **params,
    )  # fmt: skip


class Quiet:
    """True inside its `with` block: what changes there was not changed by the visitor."""

    def __init__(self) -> None:
        self._inside = False

    def __bool__(self) -> bool:
        return self._inside

    def __enter__(self) -> None:
        self._inside = True

    def __exit__(self, *_: object) -> None:
        self._inside = False


def set_changed(widget: Any, **values: Any) -> None:
    """Set those parameters of a widget that differ.

    The page calls it ten times a second; Panel's own update looks at all parameters each time.
    """
    changed = {name: value for name, value in values.items() if getattr(widget, name) != value}
    if len(changed) == 1:
        setattr(widget, *changed.popitem())
    elif changed:
        widget.param.update(**changed)


def fold(title: str, content: Callable[[], list[Any]] = list, margin: Any = 0) -> Any:
    """Return a part that is folded up; it gets its content when it is first opened.

    Few visitors open one, so the page opens faster.
    """
    folded = pmui.Details(
        title=title,
        collapsed=True,
        fully_expanded=True,
        elevation=0,
        sx={"borderRadius": "10px", "& > *:first-of-type": {"backgroundColor": "transparent"}},
        sizing_mode="stretch_width",
        margin=margin,
    )

    def fill(event: Any) -> None:
        if not event.new and not folded.objects:
            folded.objects = content()

    folded.param.watch(fill, "collapsed")
    return folded
