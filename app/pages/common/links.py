"""Links: the choices of a page in its address, read strictly and written briefly.

A link never starts a run. A value that the page could not have had is left at its default, and one
notice names it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from eij_core import EijError, InputError

from ...server.limits import LINK_BYTES

Reader = Callable[[str], Any]
"""Returns the value of a text, or raises ValueError or EijError."""
LONGEST = 200
"""Characters of a text field."""


def read_link(query: str, readers: Mapping[str, Reader]) -> tuple[dict[str, Any], str]:
    """Return the values of a link, and a notice about those that cannot be used.

    Examples
    --------
    >>> read_link("?seed=7&trials=x&theme=dark", {"seed": number_in(int), "trials": number_in(int)})
    ({'seed': 7}, 'This link held values that cannot be used, so defaults stand: trials.')
    """
    try:
        pairs = _pairs(query)
    except ValueError as error:
        return {}, f"This link {error}, so defaults stand."
    values: dict[str, Any] = {}
    bad = set()
    for name, written in pairs:
        if name not in readers:
            continue  # other pages and tools have their own
        if name in values:  # twice: neither counts
            bad.add(name)
        try:
            values[name] = readers[name](written)
        except (EijError, ValueError):
            bad.add(name)
    names = ", ".join(sorted(bad))
    notice = f"This link held values that cannot be used, so defaults stand: {names}."
    return {name: values[name] for name in values if name not in bad}, notice if bad else ""


def write_link(values: Mapping[str, Any]) -> str:
    """Return the query that holds these values.

    Examples
    --------
    >>> write_link({"page": "zoo", "rules": ["eij", "ucb1"], "all": True})
    '?page=zoo&rules=eij,ucb1&all=true'
    """
    written = {name: _text(value) for name, value in values.items()}
    return "?" + urlencode(written, quote_via=quote, safe=":,=") if written else ""


def page_of(query: str, pages: Iterable[str]) -> str:
    """Return the page that a link names, the first of them if it names none.

    Examples
    --------
    >>> page_of("?page=zoo&seed=7", ["run", "zoo"]), page_of("?page=nowhere", ["run", "zoo"])
    ('zoo', 'run')
    """
    names = list(pages)
    return str(read_link(query, {"page": one_of(names)})[0].get("page", names[0]))


class Choices:
    """Widgets whose values live in the address.

    Parameters
    ----------
    page : str
        The page's own name in the link.
    widgets : dict
        By their name in the link: a widget, or another object with a `value` and its `reader`.
    query : str
        The link, as it came.

    Attributes
    ----------
    notice : str
        What to show a visitor about the link; "" if all of it was used.

    Examples
    --------
    >>> import panel as pn
    >>> widgets = {"trials": pn.widgets.IntInput(value=20, start=1, end=100)}
    >>> choices = Choices("zoo", widgets, "?page=zoo&trials=7")
    >>> widgets["trials"].value, choices.link()
    (7, '?page=zoo&trials=7')
    """

    def __init__(self, page: str, widgets: dict[str, Any], query: str = "") -> None:
        self.page, self.widgets = page, widgets
        self._defaults = {name: widget.value for name, widget in widgets.items()}
        readers = {name: reader_of(widget) for name, widget in widgets.items()}
        values, self.notice = read_link(query, readers)
        for name, value in values.items():
            widgets[name].value = value

    def link(self) -> str:
        """Return the query that holds the page and what differs from the defaults."""
        changed = {
            name: widget.value
            for name, widget in self.widgets.items()
            if widget.value != self._defaults[name] and widget.value is not None
        }
        written = write_link({"page": self.page, **changed})
        return written if len(written.encode()) <= LINK_BYTES else f"?page={self.page}"


def reader_of(widget: Any) -> Reader:
    """Return the reader that takes what the widget could have: an option, a number in bounds."""
    if hasattr(widget, "reader"):
        reader: Reader = widget.reader
        return reader
    options, value = getattr(widget, "options", None), widget.value
    if options is not None:
        values = options.values() if isinstance(options, dict) else options
        return several_of(list(values)) if isinstance(value, list) else one_of(list(values))
    if isinstance(value, bool):
        return flag
    if isinstance(value, int | float):
        low, high = getattr(widget, "start", None), getattr(widget, "end", None)
        return number_in(
            type(value), -math.inf if low is None else low, math.inf if high is None else high
        )
    return short_text


def number_in(kind: type, low: float = -math.inf, high: float = math.inf) -> Reader:
    """Return a reader of numbers within bounds, written in plain digits."""

    def read(written: str) -> Any:
        value = kind(written) if re.fullmatch(r"[-+.eE0-9]+", written, re.ASCII) else math.nan
        if not (math.isfinite(value) and low <= value <= high):
            raise ValueError(written)
        return value

    return read


def one_of(options: Collection[Any]) -> Reader:
    """Return a reader of one of the options."""
    named = {str(option): option for option in options}

    def read(written: str) -> Any:
        if written not in named:
            raise InputError("link", written, f"one of {', '.join(named)}")
        return named[written]

    return read


def several_of(options: Collection[Any]) -> Reader:
    """Return a reader of one or more options, with commas between them."""
    each = one_of(options)
    return lambda written: [each(part) for part in written.split(",")]


def flag(written: str) -> bool:
    """Read true or false."""
    return bool(one_of([True, False])(written.capitalize()))


def short_text(written: str) -> str:
    """Read a text that is not too long."""
    if len(written) > LONGEST:
        raise ValueError(f"{len(written)} characters")
    return written


def _pairs(query: str) -> list[tuple[str, str]]:
    if len(query.encode()) > LINK_BYTES:
        raise ValueError(f"is longer than {LINK_BYTES} bytes")
    try:
        return parse_qsl(query.lstrip("?"), keep_blank_values=True, max_num_fields=40)
    except ValueError:
        raise ValueError("cannot be read") from None


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
