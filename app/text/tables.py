"""Tables as HTML. Names from outside are escaped by whoever puts them into a cell."""

from __future__ import annotations

from collections.abc import Iterable

from .escape import text
from .theme import colour_of


def table(heads: Iterable[str], rows: Iterable[str], kind: str = "") -> str:
    """Return a table that a narrow screen can scroll.

    Parameters
    ----------
    heads : iterable of str
    rows : iterable of str
        Rows as HTML, see `row`.
    kind : str
        Which columns are aligned to the left: the first by default, the first two if "named", all
        if "facts".
    """
    head = "".join(f"<th scope='col'>{word}</th>" for word in heads)
    return (
        f"<div class='scroll'><table class='draws {kind}'><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def row(*cells: str, winner: bool = False) -> str:
    """Return a row of a table; the winner's is bold.

    Examples
    --------
    >>> row("a", "1")
    '<tr><td>a</td><td>1</td></tr>'
    """
    opening = "<tr class='winner'>" if winner else "<tr>"
    return f"{opening}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def swatch(colour: str) -> str:
    """Return a dot in the colour of a line."""
    return f"<span class='swatch' style='background:{colour}'></span>"


def operator_cell(place: int, name: str) -> str:
    """Return an operator's name, escaped, behind the dot in its colour."""
    return f"{swatch(colour_of(place))}{text(name)}"
