"""Tables and other parts of a report as text: HTML, Markdown and LaTeX, each with its escaping."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..figures.axes import dash_of
from ..figures.colours import DARK, LIGHT, variables

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).with_name("templates")
STYLE = (FOLDER / "report.css").read_text("utf-8")
# A table that goes on beyond the right edge fades out there, until it is scrolled to its end.
FADE = """@keyframes eij-more {
  from { mask-size: 100% 100%; } to { mask-size: calc(100% + 48px) 100%; } }
"""
LATEX = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": "$-$",
    "–": "--",
    "·": r"$\cdot$",
    "≥": r"$\ge$",
    "<": "$<$",
    ">": "$>$",
    "Δ": r"$\Delta$",
    "∞": r"$\infty$",
    "²": r"$^2$",
    "χ": r"$\chi$",
    "✓": r"\checkmark{}",
    "→": r"$\to$",
    "…": r"\dots{}",
}


def render(name: str, **content: Any) -> str:
    """Fill a template of the folder."""
    return _templates().get_template(name).render(**content)


def part(macro: str, content: Any) -> str:
    """Fill one macro of parts.html."""
    return str(getattr(_templates().get_template("parts.html").module, macro)(content))


@functools.cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    templates = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    templates.filters |= {"markdown": _markdown, "latex": _latex, "dashes": _dashes}
    templates.globals |= {
        "style": STYLE, "fade": FADE, "light": variables(LIGHT), "dark": variables(DARK),
    }  # fmt: skip
    return templates


def _dashes(series: int) -> str:
    return " ".join(map(str, dash_of(series)))


def _markdown(text: str) -> str:
    # Names come from users: none may become a table, a link or HTML.
    for character in "\\`*_[]<>|":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def _latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in " ".join(text.split()))


# --- tables ---------------------------------------------------------------------------------------


class Entry(NamedTuple):
    """One entry; `bold` as in the paper's tables, `mark` for a remark in colour."""

    text: str
    bold: bool = False
    mark: str = ""


class Table(NamedTuple):
    """A table with a title, and a caption that says what the numbers are."""

    title: str
    caption: str
    headings: list[str]
    rows: list[list[Entry]]
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
