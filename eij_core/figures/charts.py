"""The charts: curves with bands, violins, intervals, ranks, a heat map."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..engine.histogram import FAINT, dense, density, quantiles
from .axes import GRID, INK, SOFT, Limits, Panel, colour_of, dash_of, put_text
from .canvas import Picture
from .numbers import number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..profiles.profile import Profile

SIZE = (380.0, 250.0)
LONGEST = 14
"""Letters of a name beside its line; the rest is cut."""
POINTS = 1000
"""Points of a curve; more would not be seen."""


class Curve(NamedTuple):
    """A line, with a band around it if `low` and `high` are given."""

    x: ArrayLike
    y: ArrayLike
    series: int
    name: str = ""
    """Written where the line ends, if given."""
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    thin: bool = False


class Whiskers(NamedTuple):
    """A dot with whiskers in one row."""

    low: float
    value: float
    high: float
    series: int
    hint: str


def curves(panel: Panel, drawn: Sequence[Curve], size: tuple[float, float] = SIZE) -> Picture:
    """Draw curves into one panel."""
    return Picture(panel.words, size, lambda figure: draw_curves(figure, panel, drawn))


def curves_beside(
    words: str, panels: Sequence[tuple[Panel, Sequence[Curve]]], size: tuple[float, float]
) -> Picture:
    """Draw curves into panels side by side, each of the given size."""
    width, height = size

    def paint(figure: Figure) -> None:
        for i, (panel, drawn) in enumerate(panels):
            draw_curves(figure, panel, drawn, (i * width, 0.0, width, height))

    return Picture(words, (len(panels) * width, height), paint)


def draw_curves(
    figure: Figure, panel: Panel, drawn: Sequence[Curve], box: Sequence[float] | None = None
) -> None:
    """Draw the bands, the lines over them, and the names at the right of the axes."""
    longest = max((len(_short(curve.name)) for curve in drawn), default=0)
    ax = panel.axes(figure, box, 18.0 + 6.6 * longest)
    for curve in drawn:
        if curve.low is not None and curve.high is not None:
            x, low, high = (np.asarray(v, float) for v in (curve.x, curve.low, curve.high))
            known = np.isfinite(low) & np.isfinite(high)
            ax.fill_between(x[known], low[known], high[known], color=colour_of(curve.series),
                            alpha=0.17, linewidth=0)  # fmt: skip
    ends = []
    for curve in drawn:
        x, y = np.asarray(curve.x, float), np.asarray(curve.y, float)
        step = max(1, math.ceil(x.size / POINTS))
        kept = np.append(np.arange(0, x.size - 1, step), x.size - 1)
        dash = (3, 3) if curve.thin else dash_of(curve.series)
        width = 1.1 if curve.thin else 1.9
        line = ax.plot(x[kept], y[kept], color=colour_of(curve.series), linewidth=width)[0]
        if dash:
            line.set_linestyle((0, [length / width for length in dash]))
        found = y[np.isfinite(y)]
        if curve.name and found.size:
            at = float(ax.transData.transform((panel.x[1], found[-1]))[1])
            ends.append((at, curve.name, curve.series))
    _name_ends(figure, ax.bbox, ends)


def _name_ends(figure: Figure, box: Any, ends: list[tuple[float, str, int]]) -> None:
    """Write names beside the ends of their lines, at least a line of text apart."""
    room, placed = 13.0, math.inf
    for i, (wanted, name, series) in enumerate(sorted(ends, reverse=True)):
        lowest = box.y0 - 4 + room * (len(ends) - 1 - i)  # room for the names still to come
        placed = max(min(wanted - 4, placed - room, box.y1 - 4), lowest)
        put_text(
            figure, box.x1 + 6, placed, _short(name), color=colour_of(series), fontweight="bold"
        )


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def violins(
    title: str,
    shapes: Iterable[tuple[str, Any]],
    *,
    width: float = SIZE[0],
    colour: Callable[[int], int] = lambda i: i,
) -> Picture | None:
    """Draw Joules per application, one violin a row; None where no operator was applied.

    Parameters
    ----------
    title : str
    shapes : sequence of (name, counts)
        Applications by bin of `engine.histogram`.
    width : float
        In pixels.
    colour : callable
        The series of the i-th violin.
    """
    shown = [(name, counts) for name, counts in shapes if np.any(counts)]
    if not shown:
        return None
    outlines = [density(counts) for _, counts in shown]
    wide = np.concatenate([joules[height > FAINT] for joules, height in outlines])
    limits = float(wide.min()) / 1.1, float(wide.max()) * 1.1
    panel = Panel.of_rows(title, "J per application", limits, [name for name, _ in shown])

    def paint(figure: Figure) -> None:
        ax = panel.axes(figure)
        for i, ((name, counts), (joules, height)) in enumerate(zip(shown, outlines, strict=True)):
            median = quantiles(counts, [0.5])[0]
            hint = f"{name}: median {number(float(f'{median:.4g}'))} J"
            ax.fill_between(joules, 0.42 * height - i, -0.42 * height - i, linewidth=0,
                            color=colour_of(colour(i)), alpha=0.45, gid=hint)  # fmt: skip
            _dot(ax, median, -i, colour(i), hint)

    return Picture(panel.words, (width, 74.0 + 30.0 * len(shown)), paint)


def profile_picture(profile: Profile) -> Picture:
    """Draw a profile: a violin for each operator that was applied."""
    shapes = [(operator.name, dense(operator.histogram)) for operator in profile.operators]
    drawn = violins(profile.title, shapes, width=560.0)
    return drawn or Picture(f"{profile.title}: no application", (560.0, 74.0), lambda figure: None)


def intervals(panel: Panel, drawn: Sequence[Whiskers], missing: str) -> Picture:
    """Draw values with whiskers, one a row; `missing` is written where a value is not finite."""

    def paint(figure: Figure) -> None:
        ax = panel.axes(figure)
        for i, each in enumerate(drawn):
            if math.isfinite(each.value):
                ends = (each.low, min(each.high, ax.get_xlim()[1]))
                ax.plot(ends, (-i, -i), color=colour_of(each.series), linewidth=1.9)
                _dot(ax, each.value, -i, each.series, each.hint)
            else:
                ax.text(0.02, -i - 0.1, missing, transform=ax.get_yaxis_transform(),
                        fontsize=11, color=SOFT)  # fmt: skip

    return Picture(panel.words, (SIZE[0], 80.0 + 28.0 * len(drawn)), paint)


def _dot(ax: Axes, x: float, y: float, series: int, hint: str) -> None:
    ax.plot([x], [y], "o", markersize=8, markeredgewidth=0, color=colour_of(series), gid=hint)


def rank_diagram(
    ranks: Sequence[tuple[str, float]], control: str, critical: float, joined: Sequence[Limits]
) -> Picture:
    """Draw mean ranks, the best on the left, and bars over ranks that are not told apart.

    Parameters
    ----------
    ranks : sequence of (name, rank)
        Sorted, the best first.
    control : str
        The name that is written bold.
    critical : float
        The critical difference.
    joined : sequence of (rank, rank)
        From where to where the bars go.
    """
    count, row = len(ranks), 22.0
    half = math.ceil(count / 2)
    size = (760.0, 78.0 + row * half + 8.0 * len(joined))
    left, right = 190.0, size[0] - 190.0

    def at(rank: float) -> float:
        return left + (rank - 1) / max(count - 1, 1) * (right - left)

    def paint(figure: Figure) -> None:
        ax = figure.add_axes((0, 0, 1, 1), xlim=(0, size[0]), ylim=(size[1], 0))
        ax.axis("off")

        def line(x: Sequence[float], y: Sequence[float], width: float = 1.0) -> None:
            ax.plot(x, y, color=INK if width > 1 else SOFT, linewidth=width, solid_capstyle="round")

        line((left, right), (46, 46))
        for tick in range(1, count + 1):
            line((at(tick), at(tick)), (42, 50))
            ax.text(at(tick), 37, str(tick), ha="center", fontsize=11, color=SOFT)
        reach = at(1 + min(critical, count - 1))
        line((left, left, left, reach, reach, reach), (10, 18, 14, 14, 10, 18))
        ax.text(reach + 8, 18, f"critical difference {critical:.2f}", fontsize=11, color=SOFT)
        for level, (low, high) in enumerate(joined):
            line((at(low) - 4, at(high) + 4), (58 + 8 * level,) * 2, 4)
        for i, (name, rank) in enumerate(ranks):
            first = i < half
            y = 76 + 8 * len(joined) + row * (i if first else count - 1 - i)
            edge = left - 12 if first else right + 12
            line((at(rank), at(rank), edge), (46, y, y), 0.8)
            ax.text(edge + (-4 if first else 4), y + 4, f"{name}  {rank:.2f}", color=INK,
                    ha="right" if first else "left", fontsize=11,
                    fontweight="bold" if name == control else "normal")  # fmt: skip

    return Picture("Mean ranks and their critical difference", size, paint)


def heat_map_picture(table: pd.DataFrame, title: str) -> Picture:
    """Draw rows × columns of shares, 0 to 1, with the numbers in the cells.

    Examples
    --------
    >>> import pandas as pd
    >>> drawn = heat_map_picture(pd.DataFrame({"twin": [0.9]}, index=["eij"]), "wasted").svg()
    >>> drawn.startswith("<svg"), "90 %" in drawn
    (True, True)
    """
    wide, high, head = 62.0, 26.0, 96.0
    left = 20 + 7.0 * max(len(str(name)) for name in table.index)
    # The last heading leans to the right beyond its column.
    lean = 5.5 * max(len(str(name)) for name in table.columns) - wide / 2
    size = (left + wide * table.shape[1] + max(lean, 16), head + high * table.shape[0] + 16)
    size = (max(size[0], 24 + 8.0 * len(title)), size[1])

    def paint(figure: Figure) -> None:
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.patches import Rectangle

        ax = figure.add_axes((0, 0, 1, 1), xlim=(0, size[0]), ylim=(size[1], 0))
        ax.axis("off")
        # From white to a dark blue: one hue reads the same for all eyes and in grey.
        shades = LinearSegmentedColormap.from_list("shares", ["#f7fbff", "#084594"])
        ax.text(12, 22, title, fontsize=14, fontweight="bold", color=INK)
        for c, name in enumerate(map(str, table.columns)):
            ax.text(left + wide * (c + 0.5), head - 6, name, rotation=35, rotation_mode="anchor",
                    fontsize=12, color=INK)  # fmt: skip
        for r, name in enumerate(map(str, table.index)):
            y = head + high * r
            ax.text(left - 8, y + 17, name, ha="right", fontsize=12, color=INK)
            for c, value in enumerate(table.iloc[r].astype(float)):
                known, share = not math.isnan(value), float(np.clip(value, 0.0, 1.0))
                fill = shades(share) if known else GRID
                place = (left + wide * c + 1, y + 1)
                ax.add_patch(Rectangle(place, wide - 2, high - 2, facecolor=fill, linewidth=0))
                ink = SOFT if not known else "#fff" if share > 0.5 else INK
                ax.text(left + wide * (c + 0.5), y + 17, f"{100 * share:.0f} %" if known else "–",
                        ha="center", fontsize=12, color=ink)  # fmt: skip

    return Picture(title, size, paint)
