"""A table of shares as a picture: rows × columns, coloured, with the numbers in it."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["heat_map_svg"]

WIDTH, HEIGHT, HEAD = 62, 26, 96
# From white to a dark blue: one hue, so that it reads the same for all eyes and in grey.
LIGHT, DARK = (247, 251, 255), (8, 69, 148)


def heat_map_svg(table: pd.DataFrame, title: str) -> str:
    """Return rows × columns of shares, 0 to 1, as an SVG that stands alone.

    Examples
    --------
    >>> import pandas as pd
    >>> text = heat_map_svg(pd.DataFrame({"twin": [0.9]}, index=["eij"]), "wasted")
    >>> text.startswith("<svg"), "90 %" in text
    (True, True)
    """
    left = 20 + 7 * max(len(str(name)) for name in table.index)
    width = left + WIDTH * table.shape[1] + 16
    height = HEAD + HEIGHT * table.shape[0] + 16
    name = html.escape(title)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="system-ui, sans-serif" font-size="12" '
        f'role="img" aria-label="{name}"><rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="12" y="20" font-size="14" font-weight="600">{name}</text>'
    ]
    for c, column in enumerate(table.columns):
        at = left + WIDTH * c + WIDTH / 2
        parts.append(
            f'<text transform="translate({at:g} {HEAD - 8}) rotate(-35)">'
            f"{html.escape(str(column))}</text>"
        )
    for r, row in enumerate(table.index):
        y = HEAD + HEIGHT * r
        parts.append(
            f'<text x="{left - 8}" y="{y + 17}" text-anchor="end">{html.escape(str(row))}</text>'
        )
        for c, value in enumerate(table.iloc[r]):
            parts.append(_cell(left + WIDTH * c, y, float(value)))
    return "".join([*parts, "</svg>\n"])


def _cell(x: float, y: float, value: float) -> str:
    if math.isnan(value):
        fill, ink, text = "#eee", "#666", "–"
    else:
        share = min(max(value, 0.0), 1.0)
        red, green, blue = (round(a + share * (b - a)) for a, b in zip(LIGHT, DARK, strict=True))
        fill, ink, text = f"rgb({red},{green},{blue})", "#fff" if share > 0.5 else "#111", ""
        text = f"{share:.0%}".replace("%", " %")
    return (
        f'<rect x="{x + 1:g}" y="{y + 1:g}" width="{WIDTH - 2}" height="{HEIGHT - 2}" '
        f'fill="{fill}"/><text x="{x + WIDTH / 2:g}" y="{y + 17:g}" fill="{ink}" '
        f'text-anchor="middle">{text}</text>'
    )
