"""The choices of a page in its link: read strictly, written briefly."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from app.limits import LINK_BYTES

__all__ = ["Choices"]


class Choices:
    """Widgets whose values live in the address.

    A value from a link must be one that the widget could have: an option, a number within bounds,
    a text that is not too long. Others are left at their defaults and named in `refused`.

    Parameters
    ----------
    widgets : dict
        By their name in the link.
    query : str
        The link, as it came.

    Examples
    --------
    >>> import panel as pn
    >>> widgets = {"trials": pn.widgets.IntInput(value=20, start=1, end=100)}
    >>> choices = Choices(widgets, "?page=zoo&trials=7")
    >>> widgets["trials"].value, choices.query("zoo")
    (7, '?page=zoo&trials=7')
    >>> Choices(widgets, "?trials=1000").refused
    ('trials',)
    """

    def __init__(self, widgets: dict[str, Any], query: str = "") -> None:
        self.widgets = widgets
        self._defaults = {name: widget.value for name, widget in widgets.items()}
        self.refused = tuple(self._read(query))

    def query(self, page: str) -> str:
        """Return the query that holds the page and what differs from the defaults."""
        changed = {
            name: _text(widget.value)
            for name, widget in self.widgets.items()
            if widget.value != self._defaults[name] and widget.value is not None
        }
        written = "?" + urlencode({"page": page, **changed}, quote_via=quote, safe=":,=+")
        return written if len(written.encode()) <= LINK_BYTES else f"?page={page}"

    @property
    def notice(self) -> str:
        """What to tell a visitor about the link, "" if it was good."""
        if not self.refused:
            return ""
        names = ", ".join(self.refused)
        return f"This link held values that cannot be used, so defaults stand: {names}."

    def _read(self, query: str) -> list[str]:
        if len(query.encode()) > LINK_BYTES:
            return ["all of them, since it is too long"]
        try:
            pairs = parse_qsl(query.lstrip("?"), keep_blank_values=True, max_num_fields=40)
        except ValueError:
            return ["all of them, since it cannot be read"]
        refused = []
        for name, text in pairs:
            if name not in self.widgets:
                continue  # other pages and tools have their own
            try:
                self.widgets[name].value = _value(self.widgets[name], text)
            except (TypeError, ValueError):
                refused.append(name)
        return refused


def _value(widget: Any, text: str) -> Any:
    """Return the value that a text stands for; ValueError if the widget cannot have it."""
    options = getattr(widget, "options", None)
    if options is not None:
        values = list(options.values()) if isinstance(options, dict) else list(options)
        named = {str(value): value for value in values}
        if isinstance(widget.value, list):
            wanted = [part for part in text.split(",") if part]
            if not wanted or any(part not in named for part in wanted):
                raise ValueError(text)
            return [named[part] for part in wanted]
        if text not in named:
            raise ValueError(text)
        return named[text]
    if isinstance(widget.value, bool):
        if text not in ("true", "false"):
            raise ValueError(text)
        return text == "true"
    if isinstance(widget.value, int | float):
        number = type(widget.value)(text)
        low, high = getattr(widget, "start", None), getattr(widget, "end", None)
        if not (low is None or number >= low) or not (high is None or number <= high):
            raise ValueError(text)
        return number
    if len(text) > 200:
        raise ValueError(text[:20])
    return text


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(str(part) for part in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
