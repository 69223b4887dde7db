"""Best fitness against cumulative Joules: what the energy bought."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import panel_material_ui as pmui

from eij_core.figures.numbers import padded

from ..text.escape import text
from ..text.numbers import count, gap, number
from ..text.tables import row, swatch, table
from ..text.theme import HISTORY, OPTIMUM, RULE, UNIFORM, colour_of
from .layer import Layer, Line, stepped
from .panes import html_pane
from .plot import AxisLimits, Plot
from .snapshot import Curve, Snapshot
from .view import SMALL, View, moments, summary


@dataclass(frozen=True)
class FitnessPlot(Plot):
    """The run, the runs beside it, the optimum, and the paper's fitted curve on demand."""

    name = "fitness"
    fitted: bool = False

    def layers(self, snapshot: Snapshot) -> dict[str, Layer]:
        """Return the run's line above those of the runs beside it."""
        found: dict[str, Layer] = {
            f"other {i}": Line(_steps(snapshot, curve.rows), *_looks(snapshot, i, curve))
            for i, curve in enumerate(snapshot.others)
        }
        label = f"{snapshot.selector} (this run)"
        found["run"] = Line(_steps(snapshot, snapshot.rows), RULE, label, width=3.0)
        optimum = snapshot.optimum
        columns = {"spent": np.array([0.0, _end(snapshot)]), "best": np.full(2, optimum)}
        label = f"optimum {optimum:.6g}" if math.isfinite(optimum) else "optimum unknown"
        found["optimum"] = Line(columns, OPTIMUM, label, "dotted", 1.5, grows=False)
        if self.fitted:
            columns, quality = _fit(snapshot)
            label = f"fit f∞(1 − A·exp(−kB/Bmax)), {quality}"
            found["fit"] = Line(columns, RULE, label, "dotted", 1.5, grows=False)
        return found

    def options(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return axes and size."""
        return {"xlabel": "Joules spent (J)", "ylabel": "Best fitness", "height": 330}

    def limits(self, snapshot: Snapshot) -> AxisLimits:
        """Return the budget, and the fitness reached after the first 3 % of it.

        What lies before is the way out of the infeasible, which would press all lines flat.
        """
        low, high = _extent(snapshot, snapshot.rows)
        if math.isfinite(snapshot.optimum):
            high = max(high, snapshot.optimum)
        reach = 1.5 * (high - low)
        for curve in snapshot.others:
            start, end = _extent(snapshot, curve.rows)
            # A compared run that never became feasible is left out for the same reason.
            low = min(low, start) if low - start < reach else low
            high = max(high, end) if end > low else high
        return {"x": (0.0, _end(snapshot)), "y": padded((low, high))}

    def shape(self, snapshot: Snapshot) -> Any:
        """Return also which runs are compared."""
        return super().shape(snapshot), [(curve.label, curve.kind) for curve in snapshot.others]


class FitnessView(View):
    """Best fitness against Joules, the compared runs beside it, the paper's fit on demand."""

    key, title, plot = "fitness", "What the Joules bought", FitnessPlot

    def _options(self) -> list[Any]:
        return [pmui.Switch(label="paper's fit", value=False, **SMALL)]

    def table(self, snapshot: Snapshot) -> str:
        """Return the best fitness of each run after the same Joules."""
        curves = (Curve(snapshot.selector, snapshot.rows), *snapshot.others)
        rows = []
        for spent in snapshot.rows["spent"][moments(snapshot)]:
            cells = (number(_best_at(curve.rows, spent), 5) for curve in curves)
            rows.append(row(number(spent), *cells))
        last = snapshot.rows[-1]
        words = (
            f"Best fitness {number(last['best'], 5)} after {number(last['spent'])} Joules "
            f"({text(snapshot.energy)})."
        )
        return summary(words, ("Joules spent (J)", *(text(curve.label) for curve in curves)), rows)


class CompareView(FitnessView):
    """The fitness view with a table of the compared runs at the same Joules."""

    def _body(self) -> list[Any]:
        self._runs = html_pane((2, 12, 8, 12))
        return [*super()._body(), self._runs]

    def _draw(self, snapshot: Snapshot, story: Any) -> None:
        super()._draw(snapshot, story)
        self._runs.object = _compared(snapshot)


def _compared(snapshot: Snapshot) -> str:
    """Return the runs where they stand, on the same Joules."""
    if not snapshot.others or not len(snapshot.rows):
        return ""
    colours = [RULE, *(_looks(snapshot, i, curve)[0] for i, curve in enumerate(snapshot.others))]
    curves = (Curve(snapshot.selector, snapshot.rows), *snapshot.others)
    best = max(float(curve.rows["best"][-1]) for curve in curves if len(curve.rows))
    known = math.isfinite(snapshot.optimum)
    rows = []
    for curve, colour in zip(curves, colours, strict=True):
        if not len(curve.rows):
            continue
        last = curve.rows[-1]
        reached = float(last["best"])
        cells = [f"{swatch(colour)}{text(curve.label)}", number(reached, 5)]
        cells += [gap(reached, snapshot.optimum)] if known else []
        cells += [f"{number(last['spent'])} J", count(int(last["decision"]))]
        rows.append(row(*cells, winner=reached == best))
    heads = ("run", "best fitness", *(("gap to optimum",) if known else ()))
    return table((*heads, "Joules spent", "decisions"), rows)


def _looks(snapshot: Snapshot, index: int, curve: Curve) -> tuple[str, str, str, float, float]:
    """Return colour, label, dash, width and opacity of a compared run."""
    if curve.kind == "uniform":
        return UNIFORM, curve.label, "dashed", 1.8, 1.0
    if curve.kind == "past":
        return HISTORY[index % len(HISTORY)], curve.label, "dotdash", 1.5, 0.9
    names = enumerate(snapshot.names)
    operator = next((o for o, name in names if curve.label.endswith(name)), index)
    return colour_of(operator), curve.label, "dotted", 1.8, 1.0


def _end(snapshot: Snapshot) -> float:
    """Return where the axis of Joules ends: at the budget, or as far as the run has come."""
    spent = float(snapshot.rows["spent"].max(initial=1.0))
    return snapshot.budget.joules if math.isfinite(snapshot.budget.joules) else spent


def _extent(snapshot: Snapshot, rows: Any) -> tuple[float, float]:
    if not len(rows):
        return math.nan, math.nan
    start = min(np.searchsorted(rows["spent"], 0.03 * _end(snapshot)), len(rows) - 1)
    return float(rows["best"][start]), float(rows["best"][-1])


def _steps(snapshot: Snapshot, rows: Any) -> dict[str, Any]:
    best = rows["best"]
    if math.isfinite(snapshot.optimum):
        # Penalties reach millions of pixels below the plot, where browsers give up on dashes.
        best = np.maximum(best, snapshot.optimum - 20.0 * abs(snapshot.optimum))
    spent, best = stepped(rows["spent"], best)
    return {"spent": spent, "best": best}


def _best_at(rows: Any, spent: float) -> float:
    """Return a run's best when so many Joules were spent; nan before its first row."""
    place = int(np.searchsorted(rows["spent"], spent, "right")) - 1 if len(rows) else -1
    return float(rows["best"][place]) if place >= 0 else math.nan


def _fit(snapshot: Snapshot) -> tuple[dict[str, Any], str]:
    """Fit the paper's saturating exponential; return the curve and how well it fits."""
    from eij_core.reports.anytime import fit  # with SciPy, which no other view needs

    rows, end = snapshot.rows, _end(snapshot)
    found = fit(rows["spent"] / end, rows["best"])
    if found is None:
        return {"spent": np.zeros(0), "best": np.zeros(0)}, "none found"
    share = np.linspace(float(rows["spent"][0]) / end, 1.0, 120)
    quality = f"k = {found.rate:.3g}, R² = {found.r2:.2f}"
    return {"spent": share * end, "best": found(share)}, quality
