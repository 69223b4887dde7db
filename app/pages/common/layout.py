"""Parts that every page is laid out with: columns, boxes, alerts, folds, fields for files."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from ...server.limits import UPLOAD_BYTES
from ...text.escape import text

STAYING = """
:host { position: sticky; top: 52px; z-index: 20; }
@media (max-width: 599px) { :host { position: fixed; top: auto; bottom: 0; left: 0; right: 0; } }
"""
FOLDED: dict[str, Any] = {
    "borderRadius": "10px !important",
    "&::before": {"display": "none"},
    "& .MuiAccordionSummary-root": {"minHeight": "36px", "px": "10px"},
    "& .MuiAccordionSummary-content": {"my": "6px !important"},
}

__all__ = [
    *(
        "FIELD",
        "WIDE",
        "Fold",
        "Quiet",
        "alert_box",
        "box",
        "button_row",
        "column",
        "download",
        "file_field",
    ),
    *("middle", "set_changed", "show_alert", "staying"),
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


def staying(*parts: Any) -> Any:
    """Return a box that stays at the top of the window, on a phone at its bottom."""
    return pmui.Paper(
        *parts, elevation=0, variant="outlined", sizing_mode="stretch_width", margin=0,
        sx={"p": "4px 6px", "borderRadius": "12px"}, stylesheets=[STAYING],
    )  # fmt: skip


def middle(*parts: Any) -> Any:
    """Return parts that fill the middle of a page, one below the other."""
    padding = {"p": {"xs": "8px", "sm": "10px 16px"}, "pb": {"xs": "140px", "sm": "24px"}}
    return column(*parts, sx={**padding, "gap": "10px"})


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
        label=label, uploaded_label=label,  # whether a file can be used is not known yet
        css_classes=[css_class], accept=accept, multiple=False, size="small",
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


class Fold(pn.viewable.Viewer):
    """A part that is folded up, with a button above it; it is filled when it is first opened.

    Few visitors open one, so the page opens faster.

    Parameters
    ----------
    title : str
    content : callable, optional
        Returns what is inside.
    """

    title = param.String()
    collapsed = param.Boolean(True)

    def __init__(
        self, title: str, content: Callable[[], list[Any]] = list, margin: Any = 0
    ) -> None:
        super().__init__(title=title)
        self._content = content
        self._inside = column()
        self._outside = pmui.Accordion(
            (title, self._inside), active=[], elevation=0, variant="outlined", margin=margin,
            title_variant="body2", disable_gutters=True, sizing_mode="stretch_width", sx=FOLDED,
        )  # fmt: skip
        self._outside.param.watch(self._on_click, "active")

    def __panel__(self) -> Any:
        return self._outside

    def show(self, visible: bool) -> None:  # type: ignore[override]
        """Show the fold, or hide it with its button."""
        self._outside.visible = visible

    def refill(self) -> None:
        """Put in anew what is inside, if it is open; otherwise when it is opened."""
        self._inside.objects = [] if self.collapsed else self._content()

    @param.depends("title", watch=True)
    def _write(self) -> None:
        self._outside[0] = (self.title, self._inside)

    def _on_click(self, event: Any) -> None:
        if event.new and not self._inside.objects:
            self._inside.objects = self._content()
        self.collapsed = not event.new
