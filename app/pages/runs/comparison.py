"""Runs held against each other on equal Joules: their curves, and what each had reached there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import panel as pn
from numpy.typing import NDArray

from eij_core.figures.colours import EITHER, SERIES
from eij_core.figures.numbers import padded
from eij_core.records import Record, Summary
from eij_core.reports.anytime import resample
from eij_core.reports.statistics import a12, holm, magnitude, mann_whitney, summarise
from eij_core.reports.templating import mean_sd, p_value

from ...text.escape import label, text
from ...text.numbers import number
from ...text.tables import row, swatch, table
from ...text.theme import DASHES
from ...views.layer import Layer, Line, stepped, thinned
from ...views.live_figure import LiveFigure
from ...views.panes import figure_place, html_pane
from ...views.plot import AxisLimits, Plot

COLOURS = tuple(EITHER[f"c{i}"] for i in range(SERIES))
STEEP = 6.0
"""How far below its last three quarters the beginning of a curve is shown, as their multiple."""
POINTS = 1200
"""Points of a curve, at most."""


class Course(NamedTuple):
    """One run: its line in the table, and its rows."""

    run: Summary
    rows: NDArray[Any]

    @classmethod
    def of(cls, run: Summary, record: Record) -> Course:
        """Return the course of a record, with as many rows as a plot has use for."""
        return cls(run, record.rows[thinned(len(record.rows), POINTS)][["spent", "best"]])

    @property
    def spent(self) -> float:
        """Joules spent so far."""
        return float(self.rows["spent"][-1])

    def best_at(self, joules: float) -> float:
        """Return the best when so many Joules were spent."""
        return float(resample(self.rows["spent"], self.rows["best"], [joules])[0])


class Group(NamedTuple):
    """Repetitions of one method."""

    name: str
    courses: tuple[Course, ...]


class Comparison(NamedTuple):
    """Runs that are compared."""

    courses: tuple[Course, ...] = ()

    @property
    def joules(self) -> float:
        """As many as each run has spent: there they are compared."""
        return min(course.spent for course in self.courses)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The runs by method, in the order of their first run."""
        found: dict[str, list[Course]] = {}
        for course in self.courses:
            found.setdefault(course.run.method, []).append(course)
        names = _names([courses[0].run for courses in found.values()])
        return tuple(map(Group, names, map(tuple, found.values())))

    @property
    def is_repeated(self) -> bool:
        """Whether there is something for statistics: two methods, each with repetitions."""
        sizes = [len(group.courses) for group in self.groups]
        return len(sizes) > 1 and min(sizes) > 1

    @property
    def is_grouped(self) -> bool:
        """Whether a method has a colour, rather than a run."""
        return self.is_repeated or len(self.courses) > len(COLOURS)

    @property
    def doubts(self) -> list[str]:
        """What makes the comparison unfair, as sentences."""
        runs = [course.run for course in self.courses]
        found = []
        if len({(run.task, run.sense) for run in runs}) > 1:
            found.append("These runs solve different problems: their best values say nothing of "
                         "each other.")  # fmt: skip
        if len({(run.provenance, run.meter) for run in runs}) > 1:
            found.append("Their Joules come from different meters, so equal numbers are not equal "
                         "energy.")  # fmt: skip
        if any(run.state == "running" for run in runs):
            found.append("Some still run: the Joules at which they are compared grow.")
        return found


def _names(runs: Sequence[Summary]) -> list[str]:
    """Return what tells methods apart: rule, algorithm and problem as far as they differ."""
    parts = [[getattr(run, name) for name in ("selector", "algorithm", "problem")] for run in runs]
    differ = [True, *(len({part[i] for part in parts}) > 1 for i in (1, 2))]
    names = [
        " · ".join(word for word, shown in zip(part, differ, strict=True) if shown)
        for part in parts
    ]
    return [
        f"{name} ({number + 1})" if names.count(name) > 1 else name
        for number, name in enumerate(names)
    ]


@dataclass(frozen=True)
class ComparisonPlot(Plot):
    """Best against Joules: a colour for each run, or for each method where there are more runs."""

    name = "compared"

    def layers(self, snapshot: Any) -> dict[str, Layer]:
        """Return a line for each run; each line of the legend stands once."""
        found: dict[str, Layer] = {}
        for course, (colour, dash, name, first) in zip(
            _in_groups(snapshot), _looks(snapshot), strict=True
        ):
            spent, best = stepped(course.rows["spent"], course.rows["best"])
            columns = {"spent": spent, "best": best}
            found[course.run.name] = Line(
                columns, colour, name if first else "", dash, 2.0, 0.9 if first else 0.55
            )
        return found

    def options(self, snapshot: Any) -> dict[str, Any]:
        """Return axes and size."""
        return {"xlabel": "Joules spent (J)", "ylabel": "Best", "height": 340, "legend_cols": 2}

    def limits(self, snapshot: Any) -> AxisLimits:
        """Return all Joules, and what was reached after the steep beginning."""
        courses = snapshot.courses
        ends = [course.best_at(course.spent) for course in courses]
        late = [course.best_at(0.25 * course.spent) for course in courses]
        scale = np.ptp([value for value in (*ends, *late) if math.isfinite(value)] or [0.0])
        # What is not feasible yet lies so far below that it would press all lines flat.
        early = [course.best_at(0.03 * course.spent) for course in courses]
        known = [start for start, end in zip(early, ends, strict=True)
                 if abs(start - end) <= STEEP * scale]  # fmt: skip
        end = max(course.spent for course in courses)
        return {"x": (0.0, end), "y": padded([*known, *late, *ends])}

    def title(self, snapshot: Any) -> str:
        """Say how the Joules are known."""
        energies = {f"{c.run.provenance} Joules, meter {label(c.run.meter, 40)}"
                    for c in snapshot.courses}  # fmt: skip
        return "; ".join(sorted(energies))

    def shape(self, snapshot: Any) -> Any:
        """Return which runs there are: another choice is another figure."""
        return tuple((course.run.name, course.run.method) for course in snapshot.courses)


def _in_groups(comparison: Comparison) -> list[Course]:
    return [course for group in comparison.groups for course in group.courses]


def _looks(comparison: Comparison) -> list[tuple[str, str, str, bool]]:
    """Return colour, dash, name and whether it is the first of its name, for each run."""
    if not comparison.is_grouped:
        return [
            (COLOURS[i], DASHES[i % len(DASHES)], label(course.run.name, 60), True)
            for i, course in enumerate(_in_groups(comparison))
        ]
    return [
        (COLOURS[g % len(COLOURS)], DASHES[g % len(DASHES)],
         f"{label(group.name, 60)}, {len(group.courses)} runs", i == 0)
        for g, group in enumerate(comparison.groups)
        for i in range(len(group.courses))
    ]  # fmt: skip


class ComparisonView(pn.viewable.Viewer):
    """The overlaid curves, and the table at equal Joules."""

    def __init__(self) -> None:
        super().__init__()
        self.figure = LiveFigure()
        self._words, self._table = (html_pane((2, 12)) for _ in range(2))

    def __panel__(self) -> Any:
        return pn.Column(
            self._words, figure_place(self.figure.pane, min_height=340), self._table,
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip

    def show(self, comparison: Comparison, story: Any = None) -> None:  # type: ignore[override]
        """Draw a comparison; `story` as of `LiveFigure.show`."""
        drawn: Any = comparison  # the plot's own kind of snapshot
        self.figure.show(ComparisonPlot(), drawn, story)
        words = " ".join(comparison.doubts)
        self._words.object = f"<p class='words quiet'>{words}</p>" if words else ""
        self._table.object = at_equal_joules(comparison)


def at_equal_joules(comparison: Comparison) -> str:
    """Return the table: each run, or each method with its statistics where it is repeated."""
    joules = comparison.joules
    head = f"best at {number(joules)} J"
    return _statistics(comparison, head) if comparison.is_repeated else _runs(comparison, head)


def _runs(comparison: Comparison, head: str) -> str:
    joules, smaller = comparison.joules, _smaller_is_better(comparison)
    reached = [course.best_at(joules) for course in _in_groups(comparison)]
    known = [value for value in reached if math.isfinite(value)]
    top = (min if smaller else max)(known, default=math.nan)
    rows = [
        row(
            f"{swatch(colour)}{text(label(course.run.name, 60))}", text(course.run.selector),
            number(value, 6), number(course.best_at(course.spent), 6),
            f"{number(course.spent)} J {course.run.provenance}", winner=value == top,
        )
        for course, (colour, *_), value in zip(
            _in_groups(comparison), _looks(comparison), reached, strict=True
        )
    ]  # fmt: skip
    single = (
        "<p class='words quiet'>One run a method says little: choose repetitions with other seeds "
        "of two methods, and the table has statistics.</p>"
    )
    heads = ("run", "rule", head, "best at its end", "Joules spent")
    return table(heads, rows, "named") + (single if len(comparison.groups) > 1 else "")


def _statistics(comparison: Comparison, head: str) -> str:
    groups, joules = comparison.groups, comparison.joules
    samples = [np.array([course.best_at(joules) for course in group.courses]) for group in groups]
    against = samples[0]
    corrected = holm([mann_whitney(sample, against) for sample in samples[1:]])
    sign = -1.0 if _smaller_is_better(comparison) else 1.0
    rows = []
    for g, (group, sample) in enumerate(zip(groups, samples, strict=True)):
        found = summarise(sample)
        effect = a12(sign * sample, sign * against)
        dot = swatch(COLOURS[g % len(COLOURS)])
        rows.append(
            row(
                f"{dot}{text(label(group.name, 60))}", str(len(sample)),
                mean_sd(found.mean, found.sd), number(found.median, 6),
                f"{effect.value:.2f} ({magnitude(effect.value)})" if g else "–",
                text(p_value(corrected[g - 1])) if g else "–",
            )
        )  # fmt: skip
    words = (
        f"<p class='words quiet'>After {number(joules)} J, which every run has spent. A12: how "
        f"often a run beats one of {text(label(groups[0].name, 60))}, ties by half. p: "
        "Mann–Whitney against it, two-sided, corrected by Holm.</p>"
    )
    heads = ("method", "runs", f"{head}, mean ± sd", "median", "A12", "p")
    return table(heads, rows) + words


def _smaller_is_better(comparison: Comparison) -> bool:
    return comparison.courses[0].run.sense == "min"
