"""Best fitness against cumulative Joules: what the energy bought."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import panel_material_ui as pmui

from eij_core.figures.numbers import padded

from ..text.escape import text
from ..text.names import name_of
from ..text.numbers import count, gap, number, quantity
from ..text.tables import row, swatch, table
from ..text.theme import HISTORY, OPTIMUM, RULE, UNIFORM, colour_of
from .layer import Band, Layer, Line, Marks, Words, stepped
from .panes import html_pane
from .plot import AxisLimits, Plot
from .snapshot import Curve, Snapshot
from .view import SMALL, View, moments, summary

SPANS = {"all Joules": "all", "while it improves": "improving", "log": "log"}


@dataclass(frozen=True)
class FitnessPlot(Plot):
    """The run, the runs beside it, the optimum, and the paper's fitted curve on demand."""

    name = "fitness"
    span: str = "all"
    """Which Joules: "all", "improving" (until nothing improves any more), or "log"."""
    fitted: bool = False

    def layers(self, snapshot: Snapshot) -> dict[str, Layer]:
        """Return the run's line above those of the runs beside it."""
        found: dict[str, Layer] = self._infeasible(snapshot)
        found |= {
            f"other {i}": Line(
                _steps(snapshot, curve.rows, snapshot.infeasible_of(curve)),
                *_looks(snapshot, i, curve),
            )
            for i, curve in enumerate(snapshot.others)
        }
        label = f"{name_of('selector', snapshot.selector)} (this run)"
        steps = _steps(snapshot, snapshot.rows, snapshot.infeasible)
        grows = not snapshot.is_infeasible
        found["run"] = Line(steps, RULE, label, width=3.0, grows=grows)
        found["changes"] = Marks(_changes(snapshot), RULE, marker="diamond", size=11)
        optimum = snapshot.optimum
        columns = {"spent": np.array([0.0, _end(snapshot)]), "best": np.full(2, optimum)}
        label = f"optimum {optimum:.6g}" if math.isfinite(optimum) else "optimum unknown"
        found["optimum"] = Line(columns, OPTIMUM, label, "dotted", 1.5, grows=False)
        if self.fitted:
            columns, quality = _fit(snapshot)
            label = f"fit f∞(1 − A·exp(−kB/Bmax)), {quality}"
            found["fit"] = Line(columns, RULE, label, "dotted", 1.5, grows=False)
        return found

    def _infeasible(self, snapshot: Snapshot) -> dict[str, Layer]:
        """Return the band over the Joules without a feasible solution, and its word."""
        end, words = _infeasible_until(snapshot)
        low, high = self.limits(snapshot)["y"]
        along = np.array([0.0, end] if end else [])
        sides = np.full(len(along), 2.0 * low - high), np.full(len(along), 2.0 * high - low)
        band = {"spent": along, "low": sides[0], "high": sides[1]}
        start = max(self.limits(snapshot)["x"][0], 0.004 * end)
        place = {
            "x": np.array([start] if end else []),
            "y": np.array([high - 0.12 * (high - low)] if end else []),
            "words": np.array([words] if end else [], dtype=str),
        }
        return {"infeasible": Band(band, OPTIMUM), "word": Words(place, OPTIMUM, align="left")}

    def options(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return axes and size."""
        axes = {"xlabel": "Joules spent (J)", "ylabel": "Best fitness"}
        return {**axes, "height": 300, "logx": self.span == "log"}

    def limits(self, snapshot: Snapshot) -> AxisLimits:
        """Return the Joules of the span, and the fitness of what is feasible.

        The fitness of the first 3 % of the budget is left out: it would press all lines flat.
        """
        low, high = _extent(snapshot, snapshot.rows, snapshot.infeasible)
        if math.isfinite(snapshot.optimum):
            high = max(high, snapshot.optimum)
        reach = 1.5 * (high - low)
        for curve in snapshot.others:
            start, end = _extent(snapshot, curve.rows, snapshot.infeasible_of(curve))
            if math.isnan(low):
                low, high, reach = start, np.fmax(high, end), math.inf
            # A compared run that begins far below is left out for the same reason.
            low = min(low, start) if low - start < reach else low
            high = max(high, end) if end > low else high
        return {"x": self._joules(snapshot), "y": padded((low, high))}

    def _joules(self, snapshot: Snapshot) -> tuple[float, float]:
        end = _end(snapshot)
        if self.span == "log":
            return max(1e-3 * end, 1e-300), end
        if self.span == "improving" and len(snapshot.rows):
            last = max(_last_gain(rows) for rows in (snapshot.rows, *_others(snapshot)))
            return 0.0, min(end, 1.15 * max(last, 0.02 * end))
        return 0.0, end

    def shape(self, snapshot: Snapshot) -> Any:
        """Return also which runs are compared."""
        return super().shape(snapshot), [(curve.label, curve.kind) for curve in snapshot.others]


class FitnessView(View):
    """Best fitness against Joules, the compared runs beside it, the paper's fit on demand."""

    key, title, plot = "fitness", "What the Joules bought", FitnessPlot

    def _options(self) -> list[Any]:
        span = pmui.RadioButtonGroup(
            options=SPANS,
            value="all",
            sx={"& button": {"whiteSpace": "nowrap", "py": "3px"}},
            **SMALL,
        )
        return [span, pmui.Switch(label="paper's fit", value=False, **SMALL)]

    def table(self, snapshot: Snapshot) -> str:
        """Return the best fitness of each run after the same Joules."""
        curves = (Curve(snapshot.selector, snapshot.rows), *snapshot.others)
        rows = []
        for spent in snapshot.rows["spent"][moments(snapshot)]:
            cells = (number(_best_at(curve.rows, spent), 5) for curve in curves)
            rows.append(row(number(spent), *cells))
        last = snapshot.rows[-1]
        reached = _reached(last["best"], snapshot.is_infeasible)
        spent = quantity(float(last["spent"]), "J")
        words = f"Best fitness {reached} after {spent} ({text(snapshot.energy)})."
        return summary(words, ("Joules spent (J)", *(text(curve.label) for curve in curves)), rows)


class CompareView(FitnessView):
    """The fitness view with a table of the compared runs at the same Joules."""

    def _body(self) -> list[Any]:
        self._runs = html_pane((2, 12, 8, 12))
        return [*super()._body(), self._runs]

    def _draw(self, snapshot: Snapshot, story: Any) -> None:
        super()._draw(snapshot, story)
        self._runs.object = compared(snapshot)


def compared(snapshot: Snapshot) -> str:
    """Return the runs where they stand, on the same Joules."""
    if not snapshot.others or not len(snapshot.rows):
        return ""
    colours = [RULE, *(_looks(snapshot, i, curve)[0] for i, curve in enumerate(snapshot.others))]
    curves = (Curve(name_of("selector", snapshot.selector), snapshot.rows), *snapshot.others)
    best = max(float(curve.rows["best"][-1]) for curve in curves if len(curve.rows))
    known = math.isfinite(snapshot.optimum)
    rows: list[str] = []
    for curve, colour in zip(curves, colours, strict=True):
        if not len(curve.rows):
            continue
        last = curve.rows[-1]
        reached = float(last["best"])
        bad = (
            snapshot.is_infeasible
            if not rows
            else (snapshot.infeasible_of(curve) == len(curve.rows))
        )
        cells = [f"{swatch(colour)}{text(curve.label)}", _reached(reached, bad)]
        cells += ["–" if bad else gap(reached, snapshot.optimum)] if known else []
        cells += [quantity(float(last["spent"]), "J"), count(int(last["decision"]))]
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


def _extent(snapshot: Snapshot, rows: Any, infeasible: int) -> tuple[float, float]:
    if len(rows) <= infeasible:
        return math.nan, math.nan
    start = min(np.searchsorted(rows["spent"], 0.03 * _end(snapshot)), len(rows) - 1)
    return float(rows["best"][max(start, infeasible)]), float(rows["best"][-1])


def _others(snapshot: Snapshot) -> list[Any]:
    return [curve.rows for curve in snapshot.others if len(curve.rows)]


def _last_gain(rows: Any) -> float:
    """Return the Joules at which the best fitness rose for the last time."""
    gains = np.flatnonzero(np.diff(rows["best"]))
    return float(rows["spent"][gains[-1] + 1]) if len(gains) else 0.0


def _infeasible_until(snapshot: Snapshot) -> tuple[float, str]:
    """Return up to which Joules there was no feasible solution, and the word for it."""
    count = snapshot.infeasible
    if not count:
        return 0.0, ""
    if snapshot.is_infeasible:
        return _end(snapshot), "infeasible: no solution so far keeps the constraint"
    end = float(snapshot.rows["spent"][count])
    return end, f"infeasible until {quantity(end, 'J', 3)}"


def _reached(best: float, infeasible: bool) -> str:
    return "infeasible" if infeasible else number(best, 5)


def _changes(snapshot: Snapshot) -> dict[str, Any]:
    """Return where parameters were changed in mid-run."""
    changes = snapshot.tally.changes if snapshot.tally is not None else ()
    rows = snapshot.rows
    places = np.searchsorted(rows["decision"], [change.decision for change in changes])
    places = places[places < len(rows)] if len(rows) else np.zeros(0, int)
    return {"spent": rows["spent"][places], "best": rows["best"][places]}


def _steps(snapshot: Snapshot, rows: Any, infeasible: int) -> dict[str, Any]:
    """Return the corners of a run's line, which begins where it is feasible."""
    spent, best = stepped(rows["spent"][infeasible:], rows["best"][infeasible:])
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
