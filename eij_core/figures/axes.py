"""The axes of a panel: title, labels, grid and ticks, the same in every chart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .canvas import DPI
from .colours import LIGHT, SERIES
from .numbers import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DASHES = ((), (6, 3), (2, 2), (8, 3, 2, 3))
INK, SOFT, GRID = (LIGHT[name] for name in ("ink", "soft", "grid"))
Limits = tuple[float, float]


class Panel(NamedTuple):
    """One pair of axes: what stands at them, and their limits."""

    title: str
    x_label: str
    y_label: str
    x: Limits
    y: Limits
    log_x: bool = False
    rows: Sequence[str] = ()
    """Names of the rows 0, -1, -2, … where y is not a number."""

    @classmethod
    def of_rows(cls, title: str, x_label: str, x: Limits, rows: Sequence[str]) -> Panel:
        """Return a panel of rows with names, by the logarithm of x."""
        return cls(title, x_label, "", x, (0.4 - len(rows), 0.6), True, rows)

    @property
    def words(self) -> str:
        """What a screen reader says."""
        return " ".join(filter(None, (f"{self.title}:", self.y_label, f"by {self.x_label}")))

    def axes(self, figure: Figure, box: Sequence[float] | None = None, right: float = 24.0) -> Axes:
        """Return empty axes with labels.

        Parameters
        ----------
        figure : Figure
        box : (left, top, width, height)
            In pixels; the whole figure by default.
        right : float
            Pixels at the right of the axes.
        """
        whole = figure.bbox
        left, top, width, height = box or (0.0, 0.0, whole.width, whole.height)
        before = 20.0 + 6.6 * max(map(len, self.rows)) if self.rows else 62.0
        floor = whole.height - top - height
        x, y, wide, high = left + before, floor + 42, width - before - right, height - 72
        ax = figure.add_axes(
            (x / whole.width, y / whole.height, wide / whole.width, high / whole.height)
        )
        ax.set(xlim=_apart(*self.x, self.log_x), ylim=_apart(*self.y), facecolor="none")
        ax.spines[:].set_visible(False)
        ax.grid(True, color=GRID, linewidth=1)
        ax.set_axisbelow(True)
        ax.tick_params(length=0, pad=5, labelsize=11, labelcolor=SOFT)
        self._mark(ax)
        put_text(figure, x + wide / 2, floor + 9, self.x_label, ha="center")
        put_text(figure, left + 16, y + high / 2, self.y_label, ha="center", rotation=90,
              rotation_mode="anchor")  # fmt: skip
        put_text(figure, left + (14 if self.rows else before), floor + height - 18, self.title,
              fontsize=12.5, color=INK, fontweight="bold")  # fmt: skip
        return ax

    def _mark(self, ax: Axes) -> None:
        """Set the scale of x and the ticks of both axes."""
        from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

        ax.set_xscale("log" if self.log_x else "linear")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(FuncFormatter(lambda value, _: number(float(f"{value:.9g}"))))
        if self.log_x:
            ax.xaxis.set_major_locator(FixedLocator(_log_ticks(*ax.get_xlim())))
        if self.rows:
            ax.set_yticks([-float(i) for i in range(len(self.rows))], list(self.rows))


def put_text(figure: Figure, x: float, y: float, text: str, **looks: Any) -> None:
    """Write at a place in pixels, counted from the lower left corner."""
    looks = {"fontsize": 11, "color": SOFT, **looks}
    figure.text(x / DPI, y / DPI, text, transform=figure.dpi_scale_trans, **looks)


def colour_of(series: int) -> str:
    """Return the colour of a series on a light ground."""
    return LIGHT[f"c{series % SERIES}"]


def dash_of(series: int) -> tuple[int, ...]:
    """Return the dashes of a series in pixels: none for the first eight."""
    return DASHES[series // SERIES % len(DASHES)]


def _log_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2, 5 of each decade, or the decades alone if there are many."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    found: list[float] = []
    for subs in ((1.0, 2.0, 5.0), (1.0,)):
        ticks = LogLocator(subs=subs, numticks=99).tick_values(low, high)
        found = [tick for tick in ticks if low <= tick <= high]
        if len(found) <= 8:
            break
    return found if len(found) > 1 else list(MaxNLocator(4).tick_values(low, high))


def _apart(low: float, high: float, log: bool = False) -> Limits:
    """Return limits that differ, whatever the data."""
    if not (math.isfinite(low) and math.isfinite(high)) or (log and low <= 0):
        return (1.0, 10.0) if log else (0.0, 1.0)
    if high > low:
        return low, high
    return (low / 1.5, low * 1.5) if log else (low - 0.5, low + 0.5)
