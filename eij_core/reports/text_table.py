"""A table of text, and its three forms: HTML, Markdown, LaTeX."""

from __future__ import annotations

import math
from typing import NamedTuple

from .templating import part, render


class Cell(NamedTuple):
    """One entry; `bold` as in the paper's tables, `mark` for a remark in colour."""

    text: str
    bold: bool = False
    mark: str = ""


class Table(NamedTuple):
    """A table with a title, and a caption that says what the numbers are."""

    title: str
    caption: str
    headings: list[str]
    rows: list[list[Cell]]
    text_columns: int = 1
    """How many columns, from the left, are text; the others are numbers."""

    def html(self) -> str:
        """Return the table for the page."""
        return part("grid", self)

    def markdown(self) -> str:
        """Return the table for a README or an issue."""
        return render("table.md", table=self)

    def latex(self) -> str:
        """Return the table for an article; it needs the package booktabs."""
        return render("table.tex", table=self)


def mean_sd(mean: float, sd: float) -> str:
    """Write mean ± sd with the digits that the sd allows.

    Examples
    --------
    >>> mean_sd(8818.56, 261.56), mean_sd(0.06293, 0.00031), mean_sd(math.nan, 1)
    ('8818.6 ± 261.6', '0.06293 ± 0.00031', '–')
    """
    if math.isnan(mean):
        return "–"
    if math.isnan(sd) or sd == 0:
        return f"{mean:.6g}".replace("-", "−")
    digits = max(0, 1 - math.floor(math.log10(sd)))
    digits = max(digits, 1) if abs(mean) < 1e5 else digits
    return f"{mean:.{digits}f} ± {sd:.{digits}f}".replace("-", "−")


def p_value(p: float) -> str:
    """Write a p-value.

    Examples
    --------
    >>> p_value(0.0003), p_value(0.041), p_value(math.nan)
    ('<0.001', '0.041', '–')
    """
    if math.isnan(p):
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
