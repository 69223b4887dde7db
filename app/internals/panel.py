"""What `app` uses of Panel 1.9 and its pyviz_comms 3 that they do not promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import panel as pn
from panel.template import EditableTemplate


class Page(NamedTuple):
    """A place where a view is shown."""

    root: Any
    document: Any
    comm: Any
    """The connection to a notebook's page; None on a server."""

    @property
    def listens(self) -> bool:
        """Whether the page has opened its connection: what is sent before is lost."""
        return self.comm is None or getattr(self.comm, "_comm", True) is not None


def pages_of(view: Any) -> Iterator[Page]:
    """Yield where a view is shown."""
    for ref in view._models:
        if ref in pn.state._views:
            _, root, document, comm = pn.state._views[ref]
            yield Page(root, document, comm)


def style_sheets(document: Any) -> dict[str, Any]:
    """Return the style sheets that the components of a document share, by address."""
    sheets: dict[str, Any] = pn.state._stylesheets.setdefault(document, {})
    return sheets


def share_style_sheets(document: Any, other: Any) -> None:
    """Let a second document use the style sheets of the first, if it has none."""
    pn.state._stylesheets.setdefault(other, style_sheets(document))


def add_hook(view: Any, hook: Callable[[Any, Any], None]) -> None:
    """Have a hook called on the models of a view whenever it is rendered."""
    if hook not in view._hooks:
        view._hooks.append(hook)


def hear_through(view: Any, do: Callable[[Callable[[], Any]], Any]) -> None:
    """Have messages from the browser handled as tasks of `do` instead of in the thread they reach.

    Called again, it replaces what it did before.
    """
    hear = type(view)._on_msg.__get__(view)
    view._on_msg = lambda *message: do(lambda: hear(*message))


def ask_for_no_font() -> None:
    """Keep the page that `panel serve` makes of a notebook from fetching a font."""
    EditableTemplate._resources.get("css", {}).pop("lato", None)


def allow_no_choice(widget: Any) -> None:
    """Let a group of buttons have none pressed; else the first one counts as pressed."""
    widget._allows_none = True


class EchoComponent(pn.custom.JSComponent):
    """A component whose changes from the browser may be heard at once.

    Panel would wait 50 ms, and then take as long as for a third of a frame.
    """

    def hear(self, name: str, value: Any) -> bool:
        """Take a change from the browser; return whether that was all there is to do."""
        return False

    def _server_change(
        self, doc: Any, ref: str, subpath: str | None, attr: str, old: Any, new: Any
    ) -> None:
        if not self.hear(attr, new):
            super()._server_change(doc, ref, subpath, attr, old, new)


class CheckedInput:
    """Part of a widget whose value is checked before it counts; goes before the widget's class.

    A refused value is taken out of the field, which then shows the value before and why.
    """

    def refusal(self, value: Any) -> str:
        """Say why a value cannot be used; "" if it can."""
        return ""

    def _process_events(self: Any, events: dict[str, Any]) -> None:
        words = self.refusal(events["value"]) if "value" in events else None
        known = {name: value for name, value in events.items() if name != "value" or not words}
        super()._process_events(known)  # type: ignore[misc]
        if words is not None:
            self.param.update(error_state=bool(words), helper_text=words)
        if words:
            self.param.trigger("value")  # sends the value before, which the browser does not show
