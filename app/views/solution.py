"""The best solution so far, as its problem draws it: what is being improved."""

from __future__ import annotations

import io
import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import panel_material_ui as pmui
from bokeh.models import DataRange1d

from eij_core.drawing import Boxes, Drawing, Lines, Points, Shape, Texts, picture_of
from eij_core.figures.colours import EITHER
from eij_core.result import finite

from ..text.escape import text
from ..text.numbers import number
from .layer import Layer, Line, Marks, Rectangles, Words
from .panes import html_pane
from .plot import AxisLimits, Plot
from .snapshot import Snapshot
from .view import View

PALETTE = {**EITHER, "soft": EITHER["c6"], "ink": EITHER["c6"]}
"""The colours of a drawing: readable on light and on dark."""
PLACES = 2000
"""Places of a solution that its table shows."""
NOTHING = Points((math.nan,), (math.nan,), colour="soft")
SIDES = {"centre": "center", "left": "left", "right": "right"}
NOT_KEPT = "of this moment no solution was kept"
WAITING = "This instance is large: it is drawn when the run begins."


@dataclass(frozen=True)
class SolutionPlot(Plot):
    """The shapes of a drawing."""

    name = "solution"
    drawing: Drawing = field(default=Drawing(()), compare=False)

    def layers(self, snapshot: Snapshot) -> dict[str, Layer]:
        """Return one layer for each shape."""
        shapes = self.drawing.shapes or (NOTHING,)
        return {f"shape {i}": layer_of(shape) for i, shape in enumerate(shapes)}

    def options(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return the axes, if the drawing has any."""
        drawn = self.drawing
        axes: dict[str, Any] = {"xlabel": drawn.x_label, "ylabel": drawn.y_label}
        if not (drawn.x_label or drawn.y_label or drawn.rows):
            axes = {"xaxis": None, "yaxis": None, "show_grid": False}
        if drawn.rows:
            axes["yticks"] = [(-i, name) for i, name in enumerate(drawn.rows)]
        hooks = [_keep_aspect] if drawn.equal else []
        labelled = any(shape.label for shape in drawn.shapes)
        return {**axes, "height": 330, "legend_cols": 2, "show_legend": labelled, "hooks": hooks}

    def limits(self, snapshot: Snapshot) -> AxisLimits:
        """Return what the drawing spans; where both axes have one scale, the browser finds it."""
        return {} if self.drawing.equal else dict(zip("xy", self.drawing.limits, strict=True))

    def title(self, snapshot: Snapshot) -> str:
        """Say how good the solution is."""
        if snapshot.best_x is None:
            return f"{snapshot.problem}: {NOT_KEPT if len(snapshot.rows) else 'no solution yet'}"
        best = float(snapshot.latest["best"][0])
        found = ", the optimum" if best == snapshot.optimum else ""
        return f"{snapshot.problem}: fitness {number(best, 5)}{found}"

    def shape(self, snapshot: Snapshot) -> Any:
        """Return also which shapes there are, in which colours, and the axes."""
        drawn = self.drawing
        looks = [(type(each), each.colour, bool(each.label)) for each in drawn.shapes]
        return self, looks, drawn.x_label, drawn.y_label, drawn.equal, tuple(drawn.rows)


class SolutionView(View):
    """The best solution so far, as its problem draws it."""

    key, title, plot = "solution", "The best solution", SolutionPlot
    is_watched = False

    def __init__(self, source: Any = None, **params: Any) -> None:
        self._drawing = Drawing(())
        self._drawn: Any = None
        """What the drawing shows: it is made anew when this changes."""
        super().__init__(source, **params)

    def plots(self) -> tuple[Plot, ...]:
        """Return the plot of the drawing as it is."""
        return (SolutionPlot(self._drawing),)

    def data(self, snapshot: Snapshot) -> str:
        """Return the table; there is one before a run, too."""
        return self.table(snapshot)

    def table(self, snapshot: Snapshot) -> str:
        """Return the drawing in words, and the first places of the solution."""
        words = f"<p class='words'>{text(self._drawing.words)}</p>"
        if snapshot.best_x is None:
            return words
        shown = " ".join(map(str, np.asarray(snapshot.best_x).ravel()[:PLACES].tolist()))
        return f"{words}<pre class='code'>{text(shown)}</pre>"

    def _body(self) -> list[Any]:
        self._said = html_pane((0, 12, 2, 12))
        self._file = pmui.FileDownload(
            label="Solution as JSON", filename="eij-solution.json", callback=self._written,
            embed=False, disabled=True, size="small", margin=(0, 6),
        )  # fmt: skip
        return [*super()._body(), self._said, self._file]

    def _draw(self, snapshot: Snapshot, story: Any) -> None:
        """Draw a solution that is new; for most of a run it stays the same."""
        x = snapshot.best_x
        drawn = (x, story, len(snapshot.rows) > 0)
        if self._drawn is not None and self._drawn[0] is x and self._drawn[1:] == drawn[1:]:
            self._write(snapshot)
            return
        instance = snapshot.instance()
        self._drawing = (
            Drawing((), WAITING) if instance is None and x is None else picture_of(instance, x)
        )
        self._drawn = drawn
        said = " ".join(filter(None, (self._drawing.words, self._drawing.note)))
        self._said.object = f"<p class='words quiet'>{text(said)}</p>"
        self._file.disabled = x is None
        super()._draw(snapshot, story)

    def _written(self) -> io.BytesIO:
        assert self._snapshot is not None  # the button is enabled once there is a solution
        return io.BytesIO(solution_json(self._snapshot).encode())


def solution_json(snapshot: Snapshot) -> str:
    """Return the solution and what is known of it as JSON."""
    row = snapshot.latest[0]
    x = np.asarray(snapshot.best_x)
    known = {
        "problem": snapshot.problem,
        "fitness": float(row["best"]),
        "optimum": snapshot.optimum,
        "joules": float(row["spent"]),
        "provenance": snapshot.provenance,
        "solution": x.tolist(),
    }
    return json.dumps(finite(known), allow_nan=False)


def layer_of(shape: Shape) -> Layer:
    """Return what the dashboard draws of a shape."""
    colour, label = PALETTE[shape.colour], shape.label
    columns: dict[str, Any] = {name: getattr(shape, name) for name in shape.arrays}
    match shape:
        case Points():
            width, fill = (1.2, 0.0) if shape.hollow else (0.0, 1.0)
            return Marks(
                columns, colour, label,
                size=round(shape.size), edge=colour, edge_width=width, fill=fill,
            )  # fmt: skip
        case Lines():
            dash = "dashed" if shape.dashed else "solid"
            return Line(columns, colour, label, dash, shape.width, shape.alpha, grows=False)
        case Boxes():
            return Rectangles(columns, colour, label)
        case Texts():
            words = {**columns, "words": np.array(shape.words, object)}
            return Words(words, colour, align=SIDES[shape.side])
    raise TypeError(f"{type(shape).__name__} is no shape that the page draws")


def _keep_aspect(plot: Any, element: Any) -> None:
    """Let the browser fit both axes to the data, with one scale: a hook of HoloViews."""
    plot.state.update(
        x_range=DataRange1d(range_padding=0.05), y_range=DataRange1d(range_padding=0.05),
        match_aspect=True,
    )  # fmt: skip
