"""The palettes: Okabe and Ito's colours, safe for colour-blind readers, on light and dark."""

from __future__ import annotations

SERIES = 8
"""Colours of a palette; beyond them the dashes tell lines apart."""


def _palette(series: str, **roles: str) -> dict[str, str]:
    return {**{f"c{i}": colour for i, colour in enumerate(series.split())}, **roles}


LIGHT = _palette(
    "#0072b2 #d55e00 #008f68 #b8578f #b07c00 #2f8fc4 #6b6b6b #7a5195",
    paper="#fdfdfc", ink="#1d2126", soft="#5c6570", rule="#d9dde1", grid="#e9ecef", card="#ffffff",
    good="#0b6e4f", bad="#a8320b", warn="#8a5a00", accent="#0a5c91",
)  # fmt: skip
"""Darkened for a white ground. Pictures are drawn in these."""
DARK = _palette(
    "#5db4ec #ff8f4f #3fd0a2 #e79cc6 #efbb45 #8fd0f5 #b4b4b4 #c3a3dd",
    paper="#15181c", ink="#e7eaee", soft="#9aa5b1", rule="#333a42", grid="#272d34", card="#1b1f24",
    good="#57c79b", bad="#ff9166", warn="#e5b454", accent="#6cb8ee",
)  # fmt: skip
"""Lightened for a dark ground."""
EITHER = _palette(
    "#2386c4 #e0661c #0a9f78 #c76aa0 #c08c10 #56b4e9 #8a8f98 #9a72b8",
    good="#0f9d72", bad="#e0561c", warn="#c08400", accent="#2f8fc4",
)  # fmt: skip
"""Readable on both, where a picture cannot know its ground: the dashboard's plots."""


def variables(palette: dict[str, str]) -> str:
    """Return a palette as declarations of CSS: --c0, --ink and so on."""
    return " ".join(f"--{name}: {colour};" for name, colour in palette.items())
