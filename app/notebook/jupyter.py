"""The kernel that we run in: which cell is running, what its page has loaded, what it started."""

from __future__ import annotations

import base64
import os
import sys
import weakref
from pathlib import Path
from typing import Any

import holoviews as hv
import panel as pn
import panel_material_ui as pmui

from ..internals.panel import ask_for_no_font

FOCUS, ICONS, MESSAGES = (
    Path(__file__).with_name(name).read_text("utf-8")
    for name in ("focus.js", "icons.css", "messages.js")
)
"""For the page of a notebook: repairs of focus and messages, and how icons look."""


def kernel() -> Any:
    """Return the shell of the notebook we are in, if any."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell if getattr(shell, "kernel", None) is not None else None


_prepared: dict[int, tuple[str, Any]] = {}
"""By shell, the cell and the execution of it that have loaded what widgets need."""


def prepare() -> None:
    """Load what widgets need, unless that was done and is kept in the output of another cell."""
    ask_for_no_font()
    shell = kernel()
    if shell is None:
        return
    known, now = _prepared.get(id(shell)), _cell_of(shell)
    if known is None or (known != now and known[0] == now[0]):
        extension()


def _cell_of(shell: Any) -> tuple[str, Any]:
    """Return which cell is running, and which execution of it this is."""
    parent = shell.get_parent()
    cell = parent.get("metadata", {}).get("cellId") or shell.user_ns.get("In", [""])[-1]
    return cell, parent.get("header", {}).get("msg_id")


def extension(comms: str = "") -> None:
    """Prepare this notebook for plots and widgets, without the network; once is enough.

    Parameters
    ----------
    comms : str
        How widgets talk to the kernel: "default", "ipywidgets", "vscode" or "colab"; found out by
        default.
    """
    ask_for_no_font()
    pn.config.inline = True  # type: ignore[misc]
    # In this order: HoloViews by itself would fetch Bokeh from the network.
    hv.extension("bokeh", inline=True, logo=False)
    pn.extension(inline=True, comms=comms or _place(), notifications=False)
    shell = kernel()
    if shell is not None:
        _prepared[id(shell)] = _cell_of(shell)
        from IPython.display import HTML, Javascript, display

        display(HTML(f"<style>{_icons()}</style>"), Javascript(MESSAGES + FOCUS))


def _place() -> str:
    if "google.colab" in sys.modules:
        return "colab"
    if "VSCODE_PID" in os.environ or "VSCODE_CWD" in os.environ:
        return "vscode"
    return "default"


def _icons() -> str:
    """Return the fonts of the icons as a style; only a page of panel_material_ui has them."""
    folder = Path(pmui.__file__).parent / "dist"
    rules = []
    for family, file in (
        ("Material Icons", "material-icons-[A-Z]*.woff2"),
        ("Material Icons Outlined", "material-icons-outlined-*.woff2"),
    ):
        for path in folder.glob(file):
            data = base64.b64encode(path.read_bytes()).decode()
            source = f"url(data:font/woff2;base64,{data}) format('woff2')"
            rules.append(f"@font-face {{ font-family: '{family}'; src: {source}; }}")
    return " ".join(rules)


_cells: dict[str, tuple[Any, weakref.WeakSet[Any]]] = {}
"""By cell, its latest execution and the runs that it started."""


def replace_in_cell(live: Any) -> None:
    """Stop what this cell started when it was run before; remember `live` as its own."""
    shell = kernel()
    if shell is None:
        return
    cell, execution = _cell_of(shell)
    known, started = _cells.get(cell, (None, weakref.WeakSet()))
    if known != execution:
        for old in started:
            old.stop()
        started = weakref.WeakSet()
    started.add(live)
    _cells[cell] = (execution, started)
