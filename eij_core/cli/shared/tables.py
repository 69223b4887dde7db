"""Tables on a terminal, in one style."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDE = 160
"""Columns where the output goes to a pipe or a file."""

Styled = str | tuple[str, str]
"""Text, or text with a style such as "bold"."""


def print_table(
    title: str,
    left: Sequence[str],
    right: Sequence[str],
    rows: Iterable[Sequence[Styled]],
) -> None:
    """Print a table.

    Parameters
    ----------
    title : str
    left, right : sequence of str
        Headings of the columns with text, then of those with numbers.
    rows : iterable of sequences
        The cells of each row: text, or a pair of text and style. No cells draw a line.
    """
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in left:
        table.add_column(heading, overflow="fold")
    for heading in right:
        table.add_column(heading, justify="right", overflow="fold")
    for row in rows:
        if row:
            table.add_row(*(Text(cell) if isinstance(cell, str) else Text(*cell) for cell in row))
        else:
            table.add_section()
    _console().print(table)


def print_lines(*lines: str, style: str = "") -> None:
    """Print text, each line folded to the width of the terminal."""
    for line in lines:
        _console().print(Text(line, style=style))


def _console() -> Console:
    watched = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if watched else WIDE)
