"""The report's tables: data frames in, text out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pandas as pd

from ..figures.numbers import number
from .analysis import ROPE, Across, Fitted
from .anytime import Fit
from .dataset import CELL, sources_of
from .templating import Entry, Table, mean_sd, p_value

Layout = dict[str, tuple[Any, ...]]
"""By heading: what makes the cell, and the columns of the frame that it takes."""
VERDICTS = {"control better": "good", "control worse": "bad", "equivalent": "good"}
PLACE: Layout = {name: (str, name) for name in ("problem", "algorithm", "budget")}
METHOD: Layout = {**PLACE, "method": (str, "method")}


def _table(title: str, caption: str, frame: pd.DataFrame, columns: Layout, texts: int) -> Table:
    rows = []
    for line in frame.to_dict("records"):
        made = [make(*(line[name] for name in names)) for make, *names in columns.values()]
        rows.append([cell if isinstance(cell, Entry) else Entry(cell) for cell in made])
    return Table(title, caption, list(columns), rows, texts)


def _written(form: str) -> Callable[[float], str]:
    """Return what writes a number in a form of `format`, and a dash for nan."""
    return lambda value: "–" if math.isnan(value) else format(value, form)


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.0f} %"


def _interval(value: float, low: float, high: float) -> str:
    return f"{number(value)} [{number(low)}, {number(high)}]"


def cells_table(frame: pd.DataFrame) -> Table:
    """Return quality, feasibility and energy of each method in each cell."""
    frame = frame.assign(best=frame.groupby(CELL, sort=False)["median"].transform("max"))
    columns: Layout = {
        **METHOD,
        "runs": (str, "runs"),
        "feasible": (lambda v: Entry(_percent(v), mark="" if v > 0.99 else "warn"), "feasible"),
        "optimal": (_percent, "optimal"),
        "fitness": (mean_sd, "mean", "sd"),
        "median": (lambda median, best: Entry(number(median), median == best), "median", "best"),
        "quartiles": (lambda q1, q3: f"{number(q1)} … {number(q3)}", "q1", "q3"),
        "J": (mean_sd, "joules", "joules_sd"),
    }
    caption = (
        "Mean ± sd, median and quartiles are of the feasible runs; the highest median of a cell is "
        f"bold. Joules: {sources_of(frame)}."
    )
    return _table("Results by cell", caption, frame, columns, 4)


def comparisons_table(frame: pd.DataFrame) -> Table:
    """Return the tests of each method against the control."""
    columns: Layout = {
        **PLACE,
        "control vs method": ("{} vs {}".format, "control", "method"),
        "measure": (str, "measure"),
        "verdict": (lambda verdict: Entry(verdict, mark=VERDICTS.get(verdict, "")), "verdict"),
        "p": (p_value, "mann_whitney"),
        "p Holm": (p_value, "mann_whitney_holm"),
        "paired, Holm": (p_value, "wilcoxon_holm"),
        "A12": ("{:.2f} [{:.2f}, {:.2f}]".format, "a12", "a12_low", "a12_high"),
        "effect": (str, "effect"),
        "shift": (_interval, "shift", "shift_low", "shift_high"),
        "TOST p": (p_value, "tost"),
    }
    caption = (
        f"At equal Joules by fitness, at equal evaluations by Joules. Mann–Whitney as in the "
        f"paper; Holm over all comparisons of a measure; Wilcoxon pairs runs by seed. A12 is the "
        f"chance that the control's value is the higher one (95 % bootstrap); shift: "
        f"Hodges–Lehmann. 'Equivalent' needs TOST below 0.05 within ±{ROPE:.1%} of the best known "
        f"value: no difference found is not equivalence."
    )
    return _table("Comparisons", caption, frame, columns, 6)


def ranks_table(across: Across) -> Table:
    """Return mean ranks and their tests against the control."""
    ranking, control = across.ranking, across.control
    frame = pd.DataFrame(
        {"method": across.methods, "rank": ranking.ranks, "z": ranking.z, "p": ranking.holm}
    )
    columns: Layout = {
        "method": (lambda method: Entry(method, bold=method == control), "method"),
        "mean rank": ("{:.2f}".format, "rank"),
        "z": (lambda method, z: "control" if method == control else f"{z:+.2f}", "method", "z"),
        "p Holm": (p_value, "p"),
    }
    caption = (
        f"Friedman over {across.cells} cells at equal Joules: χ² = {ranking.chi2:.2f}, "
        f"p = {p_value(ranking.p)}; then Holm against the control."
    )
    return _table("Ranks across cells", caption, frame, columns, 1)


def anytime_table(frame: pd.DataFrame) -> Table:
    """Return quality along the budget and the expected Joules."""
    columns: Layout = {
        **METHOD,
        **{name: (number, name) for name in frame.columns if name.startswith("at ")},
        "target": (number, "target"),
        "reached": (_percent, "success"),
        "expected J": (_interval, "expected_joules", "expected_low", "expected_high"),
    }
    caption = (
        "Median best fitness at parts of the budget (feasible runs); target: that of the "
        "trials, or the median of all ends in the cell; expected J: Joules of all runs over "
        "successes, 95 % bootstrap. "
        f"Joules: {sources_of(frame)}."
    )
    return _table("Anytime", caption, frame, columns, 4)


def fits_table(found: list[Fitted]) -> Table:
    """Return the parameters and residuals of the paper's fit."""
    none = Fit(*[math.nan] * len(Fit._fields))
    frame = pd.DataFrame([{**each.names, **(each.fit or none)._asdict()} for each in found])
    columns: Layout = {
        **METHOD,
        "f∞": (number, "asymptote"),
        "A": (number, "drop"),
        "k": (number, "rate"),
        "residual (rms)": (number, "residual"),
        "largest": (number, "worst"),
        "R²": (_written(".3f"), "r2"),
    }
    caption = (
        "f(E) = f∞(1 − A·exp(−k·E/B)) of the mean over feasible runs, as in the paper. Where the "
        "residual is not small against the differences between methods, do not rank by k."
    )
    return _table("Fits of the trajectories", caption, frame, columns, 4)


def operators_table(frame: pd.DataFrame) -> Table:
    """Return each operator's share of the applications and of the Joules."""
    columns: Layout = {
        **METHOD,
        "operator": (str, "operator"),
        "of applications": (_percent, "share_of_applications"),
        "of Joules": (_percent, "share_of_joules"),
        "J per application": (number, "joules_per_application"),
    }
    caption = f"Shares over all runs. Joules: {sources_of(frame)}."
    return _table("Operators", caption, frame[frame["applications"] > 0], columns, 5)


def energy_table(frame: pd.DataFrame) -> Table:
    """Return what is known of the energy figures."""
    columns: Layout = {
        "source": (str, "source"),
        "provenance": (lambda p: Entry(p, mark="" if p == "measured" else "warn"), "provenance"),
        "trials": (str, "trials"),
        "hosts": (str, "hosts"),
        "J": (number, "joules"),
        "uncertainty": (lambda share: f"±{share:.0%}" if share else "none stated", "uncertainty"),
        "start": ("{:.1%}".format, "start"),
        "overshoot": (_written(".2%"), "overshoot"),
        "J per evaluation": (number, "joules_per_evaluation"),
        "seconds computed": (number, "computed_seconds"),
    }
    caption = (
        "Start: share of the initial population. Overshoot: the largest share that a last "
        "application took beyond its budget. Energy of different sources is never compared."
    )
    return _table("Energy: how it is known", caption, frame, columns, 2)
