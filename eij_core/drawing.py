"""What a solution looks like: shapes as plain arrays, which pages and reports draw.

A problem with the hook `picture` returns a `Drawing`. Its colours are names of the house's palette
(`c0` to `c7`, `ink`, `soft`, `good`, `bad`, `warn`); whoever draws knows what they are on light
and on dark. A drawing has at most about `MOST` marks: what has more is sampled or summed up, and
`note` says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST = 2500
"""Marks of a drawing; with more, it is sampled: a page draws it several times a second."""

Floats = NDArray[np.float64]


def floats(values: ArrayLike) -> Floats:
    """Return values as a flat array of floats."""
    return np.asarray(values, float).ravel()


@dataclass(frozen=True, eq=False)
class Shape:
    """What all shapes have: a colour of the palette, and a name for the legend (""; none)."""

    colour: str = field(default="c0", kw_only=True)
    label: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        for name in self.arrays:
            object.__setattr__(self, name, floats(getattr(self, name)))
        sizes = {name: getattr(self, name).size for name in self.arrays}
        if len({size for name, size in sizes.items() if name != "shade" or size != 1}) > 1:
            raise ValueError(f"{type(self).__name__}: the arrays differ in length: {sizes}")

    @property
    def arrays(self) -> tuple[str, ...]:
        """The fields that hold coordinates, all of one length."""
        return ("x", "y")


@dataclass(frozen=True, eq=False)
class Points(Shape):
    """Dots: places on a map, items on a plane. `hollow` ones are drawn as rings."""

    x: Any
    y: Any
    size: float = field(default=7.0, kw_only=True)
    """Diameter in pixels."""
    hollow: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, eq=False)
class Lines(Shape):
    """A line through places; nan ends a line and begins another: tours, edges, coordinates."""

    x: Any
    y: Any
    width: float = field(default=1.5, kw_only=True)
    alpha: float = field(default=1.0, kw_only=True)
    dashed: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, eq=False)
class Boxes(Shape):
    """Rectangles: cells of a grid, bars, the jobs of a Gantt chart; each has an opacity.

    Those of opacity 0 are dropped.
    """

    left: Any
    bottom: Any
    right: Any
    top: Any
    shade: Any = 1.0
    """Opacity, 0 to 1: of all, or of each."""

    @property
    def arrays(self) -> tuple[str, ...]:
        """The corners and the opacity."""
        return ("left", "bottom", "right", "top", "shade")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shade.size == 1:
            object.__setattr__(self, "shade", np.full(self.left.size, self.shade[0]))
        seen = self.shade > 0.0
        if not seen.all():
            for name in self.arrays:
                object.__setattr__(self, name, getattr(self, name)[seen])


@dataclass(frozen=True, eq=False)
class Texts(Shape):
    """Words at places; `side` says which end of them stands there."""

    x: Any
    y: Any
    words: Sequence[str]
    side: str = field(default="centre", kw_only=True)
    """centre, left or right."""


@dataclass(frozen=True)
class Drawing:
    """A picture of a solution, or of a problem before there is one.

    Parameters
    ----------
    shapes : tuple of Shape
        The lowest first. What is drawn for every x has the same shapes in the same order, with
        other numbers, so that a page changes the numbers alone.
    words : str
        What is to be seen, in a sentence: the caption, and what a screen reader says.
    note : str
        What is sampled or summed up, in a sentence; "" where all is drawn.
    x_label, y_label : str
        What the axes show; without any of them there are no axes.
    equal : bool
        Whether a step along x is as long as one along y: grids and maps.
    rows : sequence of str
        Names of the rows 0, -1, -2, …, where y is not a number: machines, constraints.
    """

    shapes: tuple[Shape, ...]
    words: str = ""
    note: str = ""
    x_label: str = ""
    y_label: str = ""
    equal: bool = False
    rows: Sequence[str] = ()

    @property
    def limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return what x and y must show: all shapes, and a little more."""
        across = [self._column(shape, ("x", "left", "right")) for shape in self.shapes]
        along = [self._column(shape, ("y", "bottom", "top")) for shape in self.shapes]
        return _limits(across), _limits(along)

    def _column(self, shape: Shape, names: tuple[str, ...]) -> Floats:
        return np.concatenate([getattr(shape, n) for n in names if n in shape.arrays])


def _limits(columns: Sequence[Floats]) -> tuple[float, float]:
    values = np.concatenate([np.zeros(0), *columns])
    values = values[np.isfinite(values)]
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    slack = 0.04 * (high - low) or 0.5
    return low - slack, high + slack


def picture_of(problem: Any, x: Any = None) -> Drawing:
    """Draw x as its problem draws it, or as a plain array; without x, the problem alone.

    Parameters
    ----------
    problem : problem, optional
        Without one, or without its hook `picture`, an array is drawn as it is.
    x : array, optional

    Examples
    --------
    >>> picture_of(None, np.array([1, 0, 1], np.uint8)).words
    '2 ones in 3 bits.'
    """
    picture = getattr(problem, "picture", None)
    if picture is not None:
        drawn: Drawing = picture(x)
        return drawn
    if x is None:
        return Drawing((), "No solution yet.")
    return plain(x)


def plain(x: Any) -> Drawing:
    """Draw an array as it is: bits as cells, other numbers by their places."""
    try:
        x = np.asarray(x).ravel()
    except ValueError:  # rows of different lengths
        x = np.zeros(0, object)
    if x.dtype.kind not in "buif" or not x.size:
        return Drawing((), "This solution is no array of numbers: there is no picture of it.")
    if x.dtype.kind == "b" or (x.dtype == np.uint8 and not (x > 1).any()):
        return bits(x)
    drawn = kept(x.size)
    y = x[drawn].astype(float)
    return Drawing(
        (Lines(drawn, y, colour="soft", width=1.0, alpha=0.5), Points(drawn, y, size=5.0)),
        f"{x.size:,} numbers from {x.min():.4g} to {x.max():.4g}.",
        sampled(x.size, "number"), "place", "value",
    )  # fmt: skip


def bits(x: Any, n: int = 0, words: str = "") -> Drawing:
    """Draw bits as the cells of a grid; of very many, the share of ones of each stretch.

    Parameters
    ----------
    x : array or None
        None: n bits that have no value yet.
    words : str
        The caption; by default how many ones there are.

    Examples
    --------
    >>> bits(np.ones(100_000, np.uint8)).note
    'Each cell is the share of ones of 40 neighbouring bits.'
    """
    n = n if x is None else len(x)
    stretch = max(1, -(-n // MOST))
    count = -(-n // stretch)
    share = np.zeros(count)
    if x is not None:
        starts = np.arange(0, n, stretch)
        share = np.add.reduceat(np.asarray(x, float), starts) / np.diff(np.append(starts, n))
    ones = int(np.sum(x)) if x is not None else 0
    known = f"{ones:,} ones in {n:,} bits." if x is not None else f"{n:,} bits; no solution yet."
    note = f"Each cell is the share of ones of {stretch} neighbouring bits." if stretch > 1 else ""
    return Drawing(
        (
            cells(count, colour="soft", shade=0.16),
            cells(count, colour="c0", shade=share, label="1" if stretch == 1 else "ones"),
        ),
        words or known, note, equal=True,
    )  # fmt: skip


def cells(
    count: int, width: int = 0, down: float = 0.0, *, gap: float = 0.06, **looks: Any
) -> Boxes:
    """Return the cells of a grid, row by row from the top left; each is a square of side 1.

    Parameters
    ----------
    width : int
        Cells of a row; by default the grid is about three times as wide as high.
    down : float
        How far below 0 the grid begins.
    gap : float
        What is left free at each side of a cell.
    looks
        colour, label and shade, see `Boxes`.
    """
    width = width or width_of(count)
    place = np.arange(count)
    left, top = place % width + gap, -(place // width) - gap - down
    return Boxes(left, top - 1 + 2 * gap, left + 1 - 2 * gap, top, **looks)


def width_of(count: int) -> int:
    """Return how many cells a row of `cells` has: tens where that is possible."""
    width = max(1, math.ceil(math.sqrt(2.5 * count)))
    return min(count, -(-width // 10) * 10) if count > 10 else max(count, 1)


def bars(
    rows: ArrayLike, start: ArrayLike, end: ArrayLike, *, high: float = 0.7, **looks: Any
) -> Boxes:
    """Return bars that lie in rows (0 is the top one): the jobs of machines, filled capacities."""
    middle = -floats(rows)
    return Boxes(start, middle - high / 2, end, middle + high / 2, **looks)


def edges(x: ArrayLike, y: ArrayLike, pairs: Any, **looks: Any) -> Lines:
    """Return the lines between pairs of points: the edges of a graph."""
    pairs = np.asarray(pairs, np.int64).reshape(-1, 2)
    ends = (np.insert(floats(v)[pairs], 2, math.nan, axis=1) for v in (x, y))
    return Lines(*ends, **looks)


def tour(x: ArrayLike, y: ArrayLike, order: Any, **looks: Any) -> Lines:
    """Return the closed line through points in an order: a tour on a map; no order, no line."""
    around = np.zeros(0, int) if order is None else np.append(order, order[:1]).astype(int)
    return Lines(floats(x)[around], floats(y)[around], **looks)


def on_circle(n: int) -> tuple[Floats, Floats]:
    """Return n places on a circle, clockwise from the top."""
    angle = 2 * math.pi * np.arange(n) / max(n, 1)
    return np.sin(angle), np.cos(angle)


def kept(n: int, most: int = MOST) -> NDArray[np.int64]:
    """Return which of n things are drawn: all, or evenly spaced ones."""
    return (
        np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))
        if n
        else np.zeros(0, np.int64)
    )


def sampled(n: int, thing: str, most: int = MOST) -> str:
    """Say that not all of n things are drawn; "" where they are."""
    return f"{most:,} of {n:,} {thing}s are drawn, evenly spaced." if n > most else ""


def chosen(x: Any, drawn: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which of the things drawn have a 1 in x; none has, where there is no solution yet."""
    return np.zeros(drawn.size, bool) if x is None else np.asarray(x)[drawn] == 1
