"""Small figures in SVG: axes, lines, bands. Colours are left to the page's style sheet."""

from __future__ import annotations

import html
import math
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["SERIES", "Axes", "legend", "number", "ticks"]

SERIES = 8
"""Colours there are; beyond them the dashes tell."""
DASHES = ("", "6 3", "2 2", "8 3 2 3")


def number(value: float) -> str:
    """Write a number for people: short, with a true minus.

    Examples
    --------
    >>> number(1234.5), number(-0.00012), number(2.5e7)
    ('1,234.5', '−1.2e−4', '2.5e7')
    """
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        digits = max(0, 4 - math.floor(math.log10(abs(value))))
        text = f"{value:,.{digits}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        mantissa, exponent = f"{value:.2e}".split("e")
        text = f"{float(mantissa):g}e{int(exponent)}"
    return text.replace("-", "−")


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return round numbers between two others.

    Examples
    --------
    >>> ticks(0.3, 9.8)
    [2.0, 4.0, 6.0, 8.0]
    """
    if not high > low:
        return [low]
    raw = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2, 5 of each decade, or the decades alone if there are many."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for steps in ((1, 2, 5), (1,)):
        found = [m * 10.0**d for d in decades for m in steps if low <= m * 10.0**d <= high]
        if len(found) <= 8:
            break
    return found if len(found) > 1 else ticks(low, high)


class Axes:
    """One panel: a frame, ticks, labels, and what is drawn into it.

    Parameters
    ----------
    title, x_label, y_label : str
        Plain text; it is escaped here.
    x, y : (low, high)
        Limits of the axes.
    """

    left, right, top, bottom = 62.0, 24.0, 30.0, 44.0

    def __init__(
        self,
        title: str,
        x_label: str,
        y_label: str,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        size: tuple[float, float] = (380.0, 250.0),
        log_x: bool = False,
        y_ticks: Sequence[tuple[float, str]] | None = None,
    ) -> None:
        self.title, self.x_label, self.y_label = title, x_label, y_label
        self.x_limits, self.y_limits = _widened(*x, log_x), _widened(*y, False)
        self.size, self.log_x = size, log_x
        self.y_ticks = y_ticks
        if y_ticks:
            self.left = 20.0 + 6.3 * max(len(text) for _, text in y_ticks)
        self._drawn: list[str] = []

    def x(self, values: ArrayLike) -> Any:
        """Return pixels of data along x."""
        low, high = self.x_limits
        v = np.asarray(values, float)
        if self.log_x:
            v, low, high = np.log(np.maximum(v, 1e-300)), math.log(low), math.log(high)
        return self.left + (v - low) / (high - low) * (self.size[0] - self.left - self.right)

    def y(self, values: ArrayLike) -> Any:
        """Return pixels of data along y."""
        low, high = self.y_limits
        v = np.asarray(values, float)
        return self.size[1] - self.bottom - (v - low) / (high - low) * self.height

    @property
    def height(self) -> float:
        """Pixels between top and bottom of the frame."""
        return self.size[1] - self.top - self.bottom

    def line(self, x: ArrayLike, y: ArrayLike, series: int, *, thin: bool = False) -> None:
        """Draw a line; it breaks where a value is missing."""
        path = _path(self.x(x), self.y(y))
        dash = DASHES[series // SERIES % len(DASHES)] if not thin else "3 3"
        self._drawn.append(
            f'<path class="line s{series % SERIES}{" thin" if thin else ""}" d="{path}"'
            f"{f' stroke-dasharray={chr(34)}{dash}{chr(34)}' if dash else ''}/>"
        )

    def band(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, series: int) -> None:
        """Fill between two lines, where both have values."""
        px, lower, upper = self.x(x), self.y(low), self.y(high)
        kept = np.isfinite(px) & np.isfinite(lower) & np.isfinite(upper)
        self.polygon(
            np.concatenate([px[kept], px[kept][::-1]]),
            np.concatenate([lower[kept], upper[kept][::-1]]),
            series,
        )

    def polygon(self, px: Any, py: Any, series: int, title: str = "") -> None:
        """Fill a shape given in pixels."""
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(px, py, strict=True))
        kind = "band shape" if title else "band"
        hint = f"<title>{html.escape(title)}</title>" if title else ""
        self._drawn.append(
            f'<polygon class="{kind} s{series % SERIES}" points="{points}">{hint}</polygon>'
        )

    def bar(self, low: float, high: float, at: float, series: int) -> None:
        """Draw a horizontal whisker."""
        a, b, y = float(self.x(low)), float(self.x(high)), float(self.y(at))
        self._drawn.append(f'<path class="line s{series % SERIES}" d="M{a:.1f} {y:.1f}H{b:.1f}"/>')

    def dot(self, x: float, y: float, series: int, title: str = "") -> None:
        """Draw a point with a hint."""
        self._drawn.append(
            f'<circle class="dot s{series % SERIES}" cx="{float(self.x(x)):.1f}" '
            f'cy="{float(self.y(y)):.1f}" r="4"><title>{html.escape(title)}</title></circle>'
        )

    def text(self, x: float, y: float, text: str, anchor: str = "start") -> None:
        """Write at a place of the data."""
        self._drawn.append(
            f'<text class="note" x="{float(self.x(x)):.1f}" y="{float(self.y(y)):.1f}" '
            f'text-anchor="{anchor}">{html.escape(text)}</text>'
        )

    def label_ends(self, ends: Sequence[tuple[float, str, int]]) -> None:
        """Name lines where they end: at the right, at least a line of text apart."""
        room, low, high = 13.0, self.top + 8, self.size[1] - self.bottom - 4
        placed = float("-inf")
        right = self.size[0] - self.right - 4
        ends = sorted(((float(self.y(y)), text, series) for y, text, series in ends))
        for i, (y, text, series) in enumerate(ends):
            # Not below what the labels still to come need.
            latest = high - room * (len(ends) - 1 - i)
            placed = min(max(y - 5, placed + room, low), latest)
            self._drawn.append(
                f'<text class="note s{series % SERIES}" x="{right:.1f}" y="{placed:.1f}" '
                f'text-anchor="end">{html.escape(text)}</text>'
            )

    def render(self) -> str:
        """Return the whole figure."""
        width, height = self.size
        floor, right = height - self.bottom, width - self.right
        name = html.escape(f"{self.title}: {self.y_label} by {self.x_label}", quote=True)
        drawn = "".join(self._drawn)
        clip = f"clip{zlib.crc32(f'{name} {drawn}'.encode())}"
        parts = [
            f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
            f'role="img" aria-label="{name}">',
            f'<text class="title" x="{self.left:g}" y="18">{html.escape(self.title)}</text>',
            f'<clipPath id="{clip}"><rect x="{self.left:g}" y="{self.top:g}" '
            # No fill: a sanitizer that knows no clipPath leaves the bare rectangle.
            f'width="{right - self.left:g}" height="{self.height:g}" fill="none"/></clipPath>',
            *self._x_axis(floor),
            *self._y_axis(right),
            f'<g clip-path="url(#{clip})">{drawn}</g>',
            f'<text class="label" x="{(self.left + right) / 2:.1f}" y="{height - 8:g}" '
            f'text-anchor="middle">{html.escape(self.x_label)}</text>',
        ]
        if self.y_label:
            middle = self.top + self.height / 2
            parts.append(
                f'<text class="label" transform="translate(13 {middle:.1f}) rotate(-90)" '
                f'text-anchor="middle">{html.escape(self.y_label)}</text>'
            )
        return "".join([*parts, "</svg>"])

    def _x_axis(self, floor: float) -> Iterable[str]:
        for value in log_ticks(*self.x_limits) if self.log_x else ticks(*self.x_limits):
            at = float(self.x(value))
            yield f'<path class="grid" d="M{at:.1f} {self.top:g}V{floor:g}"/>'
            yield (
                f'<text class="tick" x="{at:.1f}" y="{floor + 14:g}" '
                f'text-anchor="middle">{number(value)}</text>'
            )

    def _y_axis(self, right: float) -> Iterable[str]:
        values = ticks(*self.y_limits, 4)
        marks = self.y_ticks or [(value, number(value)) for value in values]
        for value, text in marks:
            at = float(self.y(value))
            yield f'<path class="grid" d="M{self.left:g} {at:.1f}H{right:g}"/>'
            yield (
                f'<text class="tick" x="{self.left - 6:g}" y="{at + 3.5:.1f}" '
                f'text-anchor="end">{html.escape(text)}</text>'
            )


def legend(names: Iterable[tuple[int, str]]) -> str:
    """Return the key of colours and dashes as a line of HTML."""
    items = []
    for series, name in names:
        dash = DASHES[series // SERIES % len(DASHES)]
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        items.append(
            f'<span class="key"><svg width="26" height="10" aria-hidden="true"><path '
            f'class="line s{series % SERIES}" d="M1 5H25"{dashes}/></svg>{html.escape(name)}</span>'
        )
    return f'<p class="legend">{"".join(items)}</p>'


def _path(px: Any, py: Any) -> str:
    steps, down = [], False
    for a, b in zip(px.tolist(), py.tolist(), strict=True):
        if math.isfinite(a) and math.isfinite(b):
            steps.append(f"{'L' if down else 'M'}{a:.1f} {min(max(b, -1e4), 1e4):.1f}")
        down = math.isfinite(a) and math.isfinite(b)
    return "".join(steps)


def _widened(low: float, high: float, log: bool) -> tuple[float, float]:
    """Return limits that are apart, whatever the data."""
    if not (math.isfinite(low) and math.isfinite(high)) or (log and low <= 0):
        return (1.0, 10.0) if log else (0.0, 1.0)
    if high > low:
        return low, high
    return (low / 1.5, low * 1.5) if log else (low - 0.5, low + 0.5)
