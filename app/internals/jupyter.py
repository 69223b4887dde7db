"""What `app` uses of jupyter_bokeh 4.1, ipywidgets 8 and ipykernel 7 that they do not promise.

jupyter_bokeh answers messages in the thread of the shell, which a cell may keep busy, and takes
three messages for each change and two for each column, more than a busy page reads.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

from panel.io.model import diff

log = logging.getLogger(__name__)

WIDGET = ("_document", "_document_patched", "_model", "_model_to_traits", "_sync_model")
"""The attributes of a widget of jupyter_bokeh that are used or replaced here."""

Do = Callable[[Callable[[], Any]], Any]


def talk_through(widget: Any, do: Do) -> None:
    """Let a widget send and receive by tasks of `do`; one of another version keeps its ways."""
    missing = [name for name in WIDGET if not hasattr(widget, name)]
    if missing:
        log.warning(
            "this jupyter_bokeh has no %s: widgets work, but may be slow while a cell is busy",
            ", ".join(missing),
        )
        return
    hear = widget._sync_model
    widget.on_msg(hear, remove=True)
    widget.on_msg(lambda *message: do(partial(hear, *message)))
    # ipykernel (7.4) would answer the page through the subshell that spoke to it last, such as one
    # that a cell keeps busy, instead of the one that the page asks for.
    widget.comm._reply_subshell_for = lambda _, asked_for: asked_for
    _send_in_bulk(widget, do)
    widget.observe(partial(_on_view_count, weakref.ref(widget), do), "_view_count")


def is_shown(widget: Any) -> bool:
    """Tell whether some page shows a widget."""
    return bool(widget._view_count)


def _send_in_bulk(widget: Any, do: Do) -> None:
    """Let a widget send all that is new in three messages."""
    news: list[Any] = []

    def gather(event: Any) -> None:
        if event.setter is not widget:
            news.append(event)
            if len(news) == 1:
                do(send)

    def send() -> None:
        events = [event for event in news if event.document is widget._document]
        news.clear()
        message = diff(widget._document, binary=False, events=events)
        if message is not None:
            for part in (message.header_json, message.metadata_json, message.content_json):
                widget.send({"msg": "patch", "payload": part})

    widget._document_patched = gather


def _on_view_count(known: weakref.ref[Any], do: Do, change: Any) -> None:
    """Send a page that shows the widget once more, such as one reloaded, its present state."""
    widget = known()
    if widget is not None and 0 < change["old"] < change["new"]:
        do(lambda: setattr(widget, "render_bundle", widget._model_to_traits(widget._model)))
