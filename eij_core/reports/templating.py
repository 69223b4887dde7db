"""The templates of the report: HTML, Markdown and LaTeX, each with its own escaping."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
