"""Colours, dashes and sizes of the pages: readable for colour-blind eyes, on light and on dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eij_core.figures.colours import EITHER

RULE = EITHER["c0"]
"""The rule under study, wherever runs are compared."""
OPERATORS = tuple(EITHER[f"c{i}"] for i in range(1, 6))
UNIFORM = OPTIMUM = EITHER["c6"]
HISTORY = ("#7E8794", "#A0A7B2", "#5F6875", "#B8BEC7", "#4C5460")

# Operators differ in dash and marker too: colour alone would not reach every reader.
DASHES = ("solid", "dashed", "dotdash", "dotted", "dashdot")
MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle")


def colour_of(operator: int) -> str:
    """Return the colour of an operator, by its place in the portfolio."""
    return OPERATORS[operator % len(OPERATORS)]


def dash_of(operator: int) -> str:
    """Return the dash of an operator, by its place in the portfolio."""
    return DASHES[operator % len(DASHES)]


FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def _theme(primary: str, secondary: str, success: str, page: str, card: str) -> dict[str, Any]:
    return {
        "chart_style": "minimal",  # a card surrounds every plot, so a plot has no frame of its own
        "palette": {
            "primary": {"main": primary},
            "secondary": {"main": secondary},
            "success": {"main": success},
            "background": {"default": page, "paper": card},
        },
        "typography": {"fontFamily": FONT, "button": {"textTransform": "none"}},
        "shape": {"borderRadius": 10},
    }


APP_BAR = {"styleOverrides": {"colorPrimary": {"backgroundColor": "#0D2F45", "color": "#FFF"}}}
THEME: dict[str, Any] = {
    "light": _theme("#0B5C8E", "#B34700", "#00795A", "#F4F6F8", "#FFFFFF"),
    "dark": {
        **_theme("#6CB8E6", "#F0904D", "#3DBE96", "#12161B", "#191F26"),
        "components": {"MuiAppBar": APP_BAR},
    },
}

PAGE_CSS = Path(__file__).with_name("page.css").read_text("utf-8")
