"""Violins of Joules per application, from the ledger's histograms."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .painted import COLOURS, card
from .png import png_of
from .records import BINS, bin_edges
from .svg import Axes, number

if TYPE_CHECKING:
    from .profiles import Profile

__all__ = ["PICTURES", "profile_picture", "violins", "write_picture"]

PICTURES = (".svg", ".html", ".png")
WIDTH = 560.0

FAINT = 0.003
"""Densities below this share of the peak do not widen the axis."""


def violins(
    title: str,
    shapes: Sequence[tuple[str, Any]],
    *,
    size: float = 380.0,
    colour: Callable[[int], int] = lambda i: i,
) -> list[str]:
    """Draw one panel of violins; none where no operator was applied.

    Parameters
    ----------
    title : str
    shapes : sequence of (name, counts)
        Applications by bin of `records.bin_edges`.
    size : float
        Width in pixels.
    colour : callable
        The colour of the i-th violin.
    """
    edges = np.log(bin_edges())
    widths, centres = np.diff(edges), np.exp((edges[1:] + edges[:-1]) / 2)
    drawn = [(name, np.asarray(counts) / widths) for name, counts in shapes if np.any(counts)]
    if not drawn:
        return []
    reach = [centres[np.flatnonzero(density > FAINT * density.max())] for _, density in drawn]
    low = min(float(r[0]) for r in reach) / 1.3
    high = max(float(r[-1]) for r in reach) * 1.3
    inside = (centres >= low) & (centres <= high)
    places = [(len(drawn) - 1 - i, name) for i, (name, _) in enumerate(drawn)]
    axes = Axes(
        title,
        "J per application",
        "",
        (low, high),
        (-0.6, len(drawn) - 0.4),
        size=(size, _height(len(drawn))),
        log_x=True,
        y_ticks=places,
    )
    for i, (name, density) in enumerate(drawn):
        # Three bins together: the bins are finer than the eye.
        smooth = np.convolve(density, [0.25, 0.5, 0.25], "same")[inside]
        half = 0.42 * smooth / smooth.max()
        px, row = axes.x(centres[inside]), len(drawn) - 1 - i
        below = np.cumsum(density * widths)
        median = float(centres[np.searchsorted(below, 0.5 * below[-1])])
        hint = f"{name}: median {number(median)} J"
        axes.polygon(
            np.concatenate([px, px[::-1]]),
            np.concatenate([axes.y(row + half), axes.y(row - half)[::-1]]),
            colour(i),
            hint,
        )
        axes.dot(median, row, colour(i), hint)
    return [axes.render()]


def profile_picture(profile: Profile, *, page: bool = False) -> str:
    """Draw a profile as an SVG that stands alone, or as a page with it inside."""
    applied = sum(1 for operator in profile.operators if operator.histogram)
    drawn = card((WIDTH, _height(applied)), _panel(profile), profile.title)
    if not page:
        return drawn + "\n"
    name = html.escape(profile.title)
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{name}</title>'
    return f"{head}<body>{drawn}</body></html>\n"


def write_picture(profile: Profile, path: Path) -> None:
    """Draw a profile into a file: .svg, .html or .png, by its name."""
    if path.suffix == ".png":
        path.write_bytes(png_of(_panel(profile), COLOURS))
    else:
        path.write_text(profile_picture(profile, page=path.suffix == ".html"), "utf-8")


def _panel(profile: Profile) -> str:
    return "".join(violins(profile.title, _shapes(profile), size=WIDTH))


def _shapes(profile: Profile) -> list[tuple[str, Any]]:
    shapes = []
    for operator in profile.operators:
        counts = np.zeros(BINS)
        for place, count in operator.histogram:
            counts[place] = count
        shapes.append((operator.name, counts))
    return shapes


def _height(count: int) -> float:
    return 74.0 + 30.0 * count
