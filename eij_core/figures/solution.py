"""A drawing of a solution as a still picture: `drawing` says what, this module how."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..drawing import Boxes, Drawing, Lines, Points, Shape, Texts
from .axes import INK, Panel, put_text
from .canvas import Picture
from .colours import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (560.0, 340.0)
LETTER = 6.2
"""Pixels of a letter, about; names of a legend stand beside each other."""
SIDES = {"centre": "center", "left": "left", "right": "right"}


def solution_picture(drawing: Drawing, title: str, size: tuple[float, float] = SIZE) -> Picture:
    """Draw a solution alone.

    Examples
    --------
    >>> from eij_core.drawing import bits
    >>> drawn = solution_picture(bits(np.array([1, 0], np.uint8)), "two bits").svg()
    >>> "1 ones in 2 bits." in drawn
    True
    """
    words = " ".join(filter(None, (title, drawing.words, drawing.note)))
    return Picture(words, size, lambda figure: draw_solution(figure, drawing, title))


def draw_solution(
    figure: Figure, drawing: Drawing, title: str, box: Sequence[float] | None = None
) -> None:
    """Draw shapes into axes, the caption above them, the legend below it."""
    left, top, width, height = box or (0.0, 0.0, *figure.bbox.size)
    written = " ".join(filter(None, (drawing.words, drawing.note)))
    lines = textwrap.wrap(written, int((width - 28) / LETTER)) or [""]
    head = 16.0 * len(lines)
    panel = Panel("", drawing.x_label, drawing.y_label, *drawing.limits, rows=drawing.rows)
    legend = 18.0 if any(shape.label for shape in drawing.shapes) else 0.0
    ax = panel.axes(figure, (left, top + head + legend, width, height - head - legend))
    if not (drawing.x_label or drawing.y_label or drawing.rows):
        ax.axis("off")
        ax.set_position((left / figure.bbox.width, 1 - (top + height - 8) / figure.bbox.height,
                         width / figure.bbox.width,
                         (height - head - legend - 40) / figure.bbox.height))  # fmt: skip
    if drawing.equal:
        ax.set_aspect("equal")
    for shape in drawing.shapes:
        _draw(ax, shape)
    up = figure.bbox.height - top
    put_text(figure, left + 14, up - 18, title, fontsize=12.5, color=INK, fontweight="bold")
    for i, line in enumerate(lines):
        put_text(figure, left + 14, up - 36 - 16 * i, line)
    place = left + 14
    for shape in drawing.shapes:
        if shape.label:
            put_text(figure, place, up - 36 - head, f"■ {shape.label}", color=LIGHT[shape.colour])
            place += LETTER * (len(shape.label) + 5)


def _draw(ax: Axes, shape: Shape) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    colour: Any = LIGHT[shape.colour]
    match shape:
        case Points():
            ring = {"markerfacecolor": "none"} if shape.hollow else {"markeredgewidth": 0.0}
            ax.plot(shape.x, shape.y, "o", color=colour, markersize=shape.size, **ring)
        case Lines():
            style = "--" if shape.dashed else "-"
            ax.plot(shape.x, shape.y, style, color=colour, linewidth=shape.width, alpha=shape.alpha)
        case Boxes():
            x, y = (shape.left, shape.right), (shape.bottom, shape.top)
            corners = [np.stack([x[i], y[j]], axis=1) for i, j in CORNERS]
            shades = [to_rgba(colour, float(alpha)) for alpha in shape.shade]
            filled = PolyCollection(
                list(np.stack(corners, axis=1)), facecolors=shades, linewidths=0.0
            )
            ax.add_collection(filled, autolim=False)
        case Texts():
            for x, y, words in zip(shape.x, shape.y, shape.words, strict=True):
                ax.text(x, y, words, color=colour, ha=SIDES[shape.side], va="center", fontsize=11)


CORNERS = ((0, 0), (1, 0), (1, 1), (0, 1))
"""The sides, left or right and bottom or top, of the corners of a box."""
