"""Views and runs in the cells of a notebook: what a cell shows, with all that its page needs."""

from __future__ import annotations

import base64
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import panel as pn
from bokeh.core.serialization import Serializer
from bokeh.models.css import ImportedStyleSheet
from panel.io.resources import CDN_DIST, DIST_DIR, LOCAL_DIST
from panel.models.esm import ReactiveESM

from ..internals.jupyter import is_shown, talk_through
from ..internals.panel import add_hook, hear_through, pages_of, share_style_sheets, style_sheets
from ..text.theme import THEME
from ..views.view import Screen, View
from . import jupyter
from .painter import painter

WIDGETS = ("ipywidgets", "vscode")
"""Ways to talk to the kernel that go over ipywidgets and jupyter_bokeh."""

_widgets: weakref.WeakKeyDictionary[Any, weakref.WeakSet[Any]] = weakref.WeakKeyDictionary()
"""The ipywidgets that show a card."""


class NotebookScreen(Screen):
    """Draws by the painter, and only when every page that was sent a view is connected.

    Outside a notebook it draws at once, like a served page.
    """

    has_titles = True

    def draw(self, task: Callable[[], None]) -> None:
        """Let the painter draw what a cell asks for, and wait for it."""
        if jupyter.kernel() is None or painter.is_current:
            task()
        else:
            painter.do(task).result()

    def is_connected(self, card: Any) -> bool:
        """Tell whether every page that was sent this card listens: what is sent before is lost."""
        if not all(is_shown(widget) for widget in _widgets.get(card, ())):
            return False
        return all(page.listens for page in pages_of(card))

    def update(self, view: View) -> None:
        """Bring a view up to date, later if some page does not listen yet."""
        if view.catch_up():
            painter.watch(view.catch_up)

    def bundle(self, viewer: Any, include: Any = None, exclude: Any = None) -> Any:
        """Return what a cell shows."""
        jupyter.prepare()
        with painter.lock:
            card = viewer.__panel__()
            card.theme_config = THEME
            add_hook(card, _bring_along)
            if pn.config.comms in WIDGETS:
                return _widget_bundle(card)
            # The painter takes what the browser sends: this thread must not wait for it, since
            # whatever any cell prints meanwhile would be taken for the widget's output.
            hear_through(card, painter.do)
            bundle = card._repr_mimebundle_(include, exclude)
            _keep_styles(card)
            return bundle


def _widget_bundle(card: Any) -> Any:
    widget = pn.ipywidget(card)
    _keep_styles(card)
    widget.combine_events = False  # combined ones wait until no cell runs
    talk_through(widget, painter.do)
    _widgets.setdefault(card, weakref.WeakSet()).add(widget)
    bundle = widget._repr_mimebundle_()
    if pn.config.comms != "vscode":
        return bundle, {}
    from IPython.display import display

    display(bundle, raw=True)
    return {"text/html": '<div style="display: none"></div>'}, {}


def _bring_along(_: Any, root: Any) -> None:
    """Put the styles into all that is drawn: Panel's links lead to the network."""
    for model in root.references():
        # Panel keeps one sheet per address and document, and uses it again when a pane changes.
        if isinstance(model, ImportedStyleSheet) and model.url.startswith(CDN_DIST):
            path = DIST_DIR / model.url.removeprefix(CDN_DIST).partition("?")[0]
            model.url = f"data:text/css;base64,{base64.b64encode(path.read_bytes()).decode()}"
        if isinstance(model, ReactiveESM) and jupyter.ICONS not in model.stylesheets:
            model.stylesheets = [*model.stylesheets, jupyter.ICONS]
    _send_code_once(root)


def _send_code_once(root: Any) -> None:
    """Leave a bundle of code, a megabyte and more, with the first component that has it.

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


def _keep_styles(card: Any) -> None:
    """Let panes that change later find these styles, under Panel's other address of each."""
    for page in pages_of(card):
        if page.root.document is not None:  # ipywidgets have moved it to one of their own
            share_style_sheets(page.document, page.root.document)
        sheets = style_sheets(page.document)
        for address, sheet in tuple(sheets.items()):
            if address.startswith(CDN_DIST):
                sheets[LOCAL_DIST + address.removeprefix(CDN_DIST)] = sheet
