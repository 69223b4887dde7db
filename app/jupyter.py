"""Between a kernel and the page of a notebook: what is loaded, shown, said and heard."""

from __future__ import annotations

import base64
import logging
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import holoviews as hv
import panel as pn
import panel_material_ui as pmui
from bokeh.core.serialization import Serializer
from bokeh.models.css import ImportedStyleSheet
from panel.io.model import diff
from panel.io.resources import CDN_DIST, DIST_DIR, LOCAL_DIST
from panel.models.esm import ReactiveESM
from panel.template import EditableTemplate

from app.page_scripts import FOCUS, ICONS, MESSAGES
from app.painter import painter
from app.theme import THEME

log = logging.getLogger(__name__)

__all__ = ["Shown", "connected", "draw", "extension", "kernel", "replace_in_cell"]

WIDGETS = ("ipywidgets", "vscode")
"""Ways to talk to the kernel that go over ipywidgets and jupyter_bokeh."""

INSIDES = ("_document", "_document_patched", "_model", "_model_to_traits", "_sync_model")
"""What of a widget of jupyter_bokeh is changed here, though it promises none of it."""


def kernel() -> Any:
    """Return the shell of the notebook we are in, if any."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell if getattr(shell, "kernel", None) is not None else None


_prepared: dict[int, tuple[str, Any]] = {}
"""By shell, the cell and the execution of it that have loaded what widgets need."""


def prepare() -> None:
    """Load what widgets need, unless that was done and is kept in the output of another cell."""
    _ask_for_no_font()
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


def _ask_for_no_font() -> None:
    """Keep the page that `panel serve` makes of a notebook from asking the network for a font."""
    EditableTemplate._resources.get("css", {}).pop("lato", None)


def extension(comms: str = "") -> None:
    """Prepare this notebook for plots and widgets, without the network; once is enough.

    Parameters
    ----------
    comms : str
        How widgets talk to the kernel: "default", "ipywidgets", "vscode" or "colab"; found out by
        default.
    """
    _ask_for_no_font()
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
    """Return the fonts of the icons as a style: outside a page of pmui nobody brings them."""
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


# --- showing -------------------------------------------------------------------------------------


class Shown(pn.viewable.Viewer):
    """Something that a cell can show and the painter keeps up to date."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        prepare()
        with painter.lock:
            view = self._create_view()
            view.theme_config = THEME
            if _bring_along not in view._hooks:
                view._hooks.append(_bring_along)
            if pn.config.comms in WIDGETS:
                return _widget_bundle(view)
            # What the browser says is heard by the painter: this thread must not wait for it, since
            # whatever is printed meanwhile, by any cell, would be taken for the widget's.
            hear = type(view)._on_msg.__get__(view)
            view._on_msg = lambda *message: painter.do(partial(hear, *message))
            bundle = view._repr_mimebundle_(include, exclude)
            _keep_styles(view)
            return bundle


def draw(task: Callable[[], None]) -> None:
    """Draw what a cell asks for, in a notebook by the painter, who alone talks to the page."""
    if kernel() is None or painter.mine:
        task()
    else:
        painter.do(task).result()


_widgets: weakref.WeakKeyDictionary[Any, weakref.WeakSet[Any]] = weakref.WeakKeyDictionary()


def _widget_bundle(view: Any) -> Any:
    widget = pn.ipywidget(view)
    _keep_styles(view)
    widget.combine_events = False  # combined ones wait until no cell runs
    _mend(widget)
    _widgets.setdefault(view, weakref.WeakSet()).add(widget)
    bundle = widget._repr_mimebundle_()
    if pn.config.comms != "vscode":
        return bundle, {}
    from IPython.display import display

    display(bundle, raw=True)
    return {"text/html": '<div style="display: none"></div>'}, {}


def _mend(widget: Any) -> None:
    """Let a widget talk through the painter, unless it is another than this was written for."""
    missing = [name for name in INSIDES if not hasattr(widget, name)]
    if missing:
        log.warning(
            "this jupyter_bokeh has no %s: widgets work, but may be slow while a cell is busy",
            ", ".join(missing),
        )
        return
    hear = widget._sync_model
    widget.on_msg(hear, remove=True)
    widget.on_msg(lambda *message: painter.do(partial(hear, *message)))
    # ipykernel (7.4) would have the page heard by the shell of whoever spoke to it last, such as
    # one that a cell keeps busy, instead of the one that the page asks for.
    widget.comm._reply_subshell_for = lambda _, asked_for: asked_for
    _say_at_once(widget)
    widget.observe(partial(_on_views, weakref.ref(widget)), "_view_count")


def _say_at_once(widget: Any) -> None:
    """Let a widget say all that is new in three messages.

    By itself it takes three for each change and two for each column, more than a busy page reads.
    """
    news: list[Any] = []

    def gather(event: Any) -> None:
        if event.setter is not widget:
            news.append(event)
            if len(news) == 1:
                painter.do(say)

    def say() -> None:
        events = [event for event in news if event.document is widget._document]
        news.clear()
        message = diff(widget._document, binary=False, events=events)
        if message is not None:
            for part in (message.header_json, message.metadata_json, message.content_json):
                widget.send({"msg": "patch", "payload": part})

    widget._document_patched = gather


def _bring_along(_: Any, root: Any) -> None:
    """Give all that is drawn its style by itself: Panel's links lead to the network."""
    for model in root.references():
        # Panel keeps one sheet per address and document, and hands it out when a pane changes.
        if isinstance(model, ImportedStyleSheet) and model.url.startswith(CDN_DIST):
            path = DIST_DIR / model.url.removeprefix(CDN_DIST).partition("?")[0]
            model.url = f"data:text/css;base64,{base64.b64encode(path.read_bytes()).decode()}"
        if isinstance(model, ReactiveESM) and ICONS not in model.stylesheets:
            model.stylesheets = [*model.stylesheets, ICONS]
    _send_code_once(root)


def _send_code_once(root: Any) -> None:
    """Leave a bundle of code, a megabyte and more, with one component alone, the first made.

    Panel gives it to each, 50 MB in all; the page keeps it by the name of the bundle anyway.
    """
    coded = {
        str(model.id): model
        for model in root.references()
        if isinstance(model, ReactiveESM) and model.bundle and model.esm
    }
    if len(coded) < 2:
        return
    sent: set[Any] = set()
    for name in _in_order_of_making(Serializer().encode(root)):
        if name in coded:
            model = coded[name]
            if model.bundle in sent:
                model.esm = ""  # type: ignore[assignment]
            sent.add(model.bundle)


def _in_order_of_making(encoded: Any) -> Iterator[str]:
    """Yield the ids of models as the page makes them: parts before wholes, in written order."""
    if isinstance(encoded, dict):
        for part in encoded.values():
            yield from _in_order_of_making(part)
        if encoded.get("type") == "object" and "id" in encoded:
            yield encoded["id"]
    elif isinstance(encoded, list):
        for part in encoded:
            yield from _in_order_of_making(part)


def _keep_styles(view: Any) -> None:
    """Let panes that change later find these styles, under Panel's other address of each."""
    for ref in view._models:
        _, root, document, _ = pn.state._views[ref]
        sheets = pn.state._stylesheets.get(document, {})
        if root.document is not None:  # ipywidgets have moved it to one of their own
            pn.state._stylesheets.setdefault(root.document, sheets)
        for address, sheet in tuple(sheets.items()):
            if address.startswith(CDN_DIST):
                sheets[LOCAL_DIST + address.removeprefix(CDN_DIST)] = sheet


def _on_views(known: weakref.ref[Any], change: Any) -> None:
    """Send a page that shows the widget once more, such as one reloaded, how it looks by now."""
    widget = known()
    if widget is not None and 0 < change["old"] < change["new"]:
        painter.do(lambda: setattr(widget, "render_bundle", widget._model_to_traits(widget._model)))


def connected(view: Any) -> bool:
    """Tell whether every page that was sent this view listens: what is said before is lost."""
    if any(not widget._view_count for widget in _widgets.get(view, ())):
        return False
    shown = [pn.state._views[ref] for ref in view._models if ref in pn.state._views]
    comms = (comm for *_, comm in shown if comm is not None)
    return all(getattr(comm, "_comm", True) is not None for comm in comms)


# --- a cell that is run again stops what it started before ---------------------------------------

_cells: dict[str, tuple[Any, weakref.WeakSet[Any]]] = {}


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
