"""How a figure looks that stands alone: without a page, without a style sheet, on a white card."""

from __future__ import annotations

import html
import re

__all__ = ["COLOURS", "card"]

# Okabe and Ito's colours on a white card: a picture does not know the page's theme.
COLOURS = ("#0072b2", "#d55e00", "#008f68", "#b8578f", "#b07c00", "#2f8fc4", "#6b6b6b", "#7a5195")
INK, SOFT = "#1d2126", "#5c6570"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
# Looks are attributes, not a style sheet: sanitizers drop <style>, and with it every colour.
LOOKS = {
    "head": {"font-size": "14", "font-weight": "600"},
    "title": {"font-weight": "600"},
    "label": {"fill": SOFT},
    "tick": {"fill": SOFT},
    "soft": {"fill": SOFT},
    "mark": {},
    "band": {"fill-opacity": "0.45"},
    "shape": {},
    "dot": {},
    "grid": {"stroke": "#e9ecef", "fill": "none"},
    "line": {"fill": "none", "stroke-width": "1.9", "stroke-linejoin": "round"},
    "thin": {"stroke-width": "1.1"},
    "note": {"font-weight": "600", "paint-order": "stroke", "stroke": "#fff", "stroke-width": "3"},
}


def card(size: tuple[float, float], drawn: str, words: str) -> str:
    """Return an SVG that needs nothing else, of what `svg.Axes` and its like have drawn.

    Parameters
    ----------
    size : (width, height)
        In pixels; a narrower page shrinks it.
    drawn : str
        Elements with classes: each is replaced by what it looks like.
    words : str
        What a screen reader says; plain text.
    """
    width, height = size
    body = re.sub(r'class="([^"]*)"', lambda found: _look(found[1].split()), drawn)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" style="max-width: 100%; height: auto" role="img" '
        f'fill="{INK}" font-family="{FONT}" font-size="11" '
        f'aria-label="{html.escape(words, quote=True)}">'
        f'<rect width="100%" height="100%" rx="8" fill="#fff"/>{body}</svg>'
    )


def _look(kinds: list[str]) -> str:
    look: dict[str, str] = {}
    for kind in kinds:
        if kind in LOOKS:
            look |= LOOKS[kind]
        else:  # s0, s1, …: the colour of a series
            look["stroke" if "line" in kinds else "fill"] = COLOURS[int(kind[1:])]
    return " ".join(f'{name}="{value}"' for name, value in look.items())
