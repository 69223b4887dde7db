"""The report's figures, made from a dataset."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..engine.histogram import dense
from ..figures import charts
from ..figures.axes import Panel
from ..figures.canvas import Picture
from ..figures.charts import Curve, Whiskers
from ..figures.numbers import number, padded
from .analysis import EXPECTED, Across, Fitted, plausible
from .anytime import ecdf, first_hits, quartiles_of
from .dataset import CELL, SHARES, Dataset, sources_of

WINDOW = 10
"""Points of `SHARES` in a window of the selection ratio: 5 % of the budget."""
TARGETS = 41
ZERO = 6
"""The series of a line at zero: grey."""
NONE: Mapping[int, str] = MappingProxyType({})


class Figure(NamedTuple):
    """Pictures that share a caption and a key of colours."""

    title: str
    caption: str
    panels: list[Picture]
    key: Mapping[int, str] = NONE
    """Names by series."""


def colours(dataset: Dataset) -> dict[str, int]:
    """Give each method a colour, the same in all figures: by its place within its cells."""
    places: dict[str, int] = {}
    for _, trials in dataset.cells():
        methods = trials["method"].unique()
        for method in methods:
            taken = {places.get(other) for other in methods}
            places.setdefault(method, next(i for i in itertools.count() if i not in taken))
    return places


def _key_to(places: dict[str, int]) -> dict[int, str]:
    """Name each series; methods that share no cell may share a colour, and then an entry."""
    key: dict[int, str] = {}
    for method, place in sorted(places.items(), key=lambda item: item[1]):
        key[place] = f"{key[place]} / {method}" if place in key else method
    return key


def _portfolio(most: int) -> dict[int, str]:
    return {o: f"operator {o + 1} of the portfolio" for o in range(most)}


def _joule_cells(dataset: Dataset) -> Iterator[tuple[str, pd.DataFrame, float]]:
    """Yield the title, the trials and the median Joules of each cell of equal Joules."""
    for names, trials in dataset.cells():
        if trials["by_joules"].iloc[0]:
            yield " · ".join(names[:3]), trials, float(trials["joules"].median())


def _of_energy(
    dataset: Dataset, title: str, caption: str, panels: list[Picture], key: Mapping[int, str] = NONE
) -> Figure:
    """Return a figure whose caption ends with the source of the Joules."""
    return Figure(title, f"{caption} Joules: {sources_of(dataset.trials)}.", panels, key)


def _operators_of(dataset: Dataset) -> Any:
    return dataset.operators.groupby("key", sort=False)["operator"].agg(list)


def energy_violins(dataset: Dataset) -> Figure:
    """Joules per application of each operator, by problem."""
    table = dataset.operators.merge(dataset.trials[["key", "problem", "algorithm"]], on="key")
    panels = []
    for problem, rows in table.groupby("problem", sort=False):
        shapes = []
        for (algorithm, operator), group in rows.groupby(["algorithm", "operator"], sort=False):
            pairs = (pair for columns in group["histogram"] for pair in zip(*columns, strict=True))
            shapes.append((f"{algorithm} {operator}", dense(pairs)))
        if drawn := charts.violins(str(problem), shapes, colour=lambda i: i // 2):
            panels.append(drawn)
    caption = "Energy of one application, by operator; dots are medians."
    return _of_energy(dataset, "Energy per operator", caption, panels)


def transitions(dataset: Dataset, control: str) -> Figure:
    """E[Δf] and E[E] of the control's operators in the median run of each cell.

    The control is a method or a role.
    """
    panels = []
    names_of, most = _operators_of(dataset), 0
    for title, trials, _ in _joule_cells(dataset):
        runs = trials[trials["key"].isin(dataset.curves)]
        runs = runs[(runs["method"] == control) | (runs["role"] == control)]
        if not len(runs):
            continue
        key = runs.sort_values("fitness")["key"].iloc[len(runs) // 2]
        trace = dataset.trace(key)
        if trace is None or len(trace) < 3:
            continue
        most = max(most, len(names_of[key]))
        panels.append(_beliefs(title, trace, names_of[key]))
    title = "Expected improvement and expected energy"
    caption = f"What {control} expects of each operator, along the run with the median result."
    return _of_energy(dataset, title, caption, panels, _portfolio(most))


def _beliefs(title: str, trace: Any, operators: list[str]) -> Picture:
    """Draw E[Δf] and E[E] side by side."""
    spent, drawn = trace["spent"][1:], []
    for column, label in ((0, "E[Δf]"), (2, "E[E], J")):
        known = np.where(trace["applications"][1:] > 0, trace["beliefs"][1:, :, column], np.nan)
        # The first percent of a penalised problem would flatten all the rest.
        late = known[spent > 0.05 * spent[-1]]
        limits = padded(late if np.isfinite(late).any() else known)
        panel = Panel(title, "J spent", label, (0, float(spent[-1])), limits)
        drawn.append((panel, [Curve(spent, known[:, o], o, n) for o, n in enumerate(operators)]))
    return charts.curves_beside(f"{title}: E[Δf] and E[E] by J spent", drawn, (330.0, 215.0))


def selection(dataset: Dataset) -> Figure:
    """How often each operator is chosen along the budget, mean over runs."""
    panels = []
    names_of, most = _operators_of(dataset), 0
    for title, trials, _ in _joule_cells(dataset):
        for method, runs in trials.groupby("method", sort=False):
            keys = [key for key in runs["key"] if key in dataset.choices]
            counts = np.array([np.nan_to_num(dataset.choices[key]) for key in keys])
            if not keys or (counts[:, -1].sum(axis=0) > 0).sum() < 2:
                continue  # a static method always chooses the same operator
            steps = np.diff(counts[:, ::WINDOW], axis=1)
            total = steps.sum(axis=2, keepdims=True)
            with np.errstate(invalid="ignore", divide="ignore"):
                shares = (steps / total).reshape(len(keys), -1)
            share = quartiles_of(shares).mean.reshape(steps.shape[1:])
            operators = names_of[keys[0]]
            most = max(most, len(operators))
            middle = 100 * (SHARES[::WINDOW][1:] + SHARES[::WINDOW][:-1]) / 2
            shown = f"{title.rpartition(' · ')[0]} · {method}"
            panel = Panel(shown, "budget used, %", "chosen, %", (0, 100), (-3, 103))
            lines = [Curve(middle, 100 * share[:, o], o, n) for o, n in enumerate(operators)]
            panels.append(charts.curves(panel, lines))
    caption = (
        "Share of the decisions in each 5 % of the budget that chose an operator, mean of runs."
    )
    return Figure("Operator selection ratios", caption, panels, _portfolio(most))


def _fitted_cells(found: list[Fitted]) -> Iterator[tuple[str, float, list[Fitted]]]:
    """Yield the title, the median Joules and the methods of each cell."""
    for _, members in itertools.groupby(found, key=lambda each: id(each.trials)):
        methods = list(members)
        names, trials = methods[0][:2]
        title = " · ".join(str(names[name]) for name in CELL[:3])
        yield title, float(trials["joules"].median()), methods


def trajectories(dataset: Dataset, found: list[Fitted]) -> Figure:
    """Best fitness along the budget: median, quartiles, and the paper's fit of the mean."""
    places, panels = colours(dataset), []
    for title, budget, methods in _fitted_cells(found):
        # Methods that mostly fail do not set the scale for the others.
        sound = methods[0].trials.groupby("method")["feasible"].mean()
        usual = [m.curve for m in methods if sound[m.names["method"]] >= 0.5]
        usual = usual or [m.curve for m in methods]
        marks = [(c.median[20], c.median[-1], c.q1[-1], c.q3[-1]) for c in usual]
        if not np.isfinite(marks).any():
            continue
        lines = []
        for names, _, curve, fit in methods:
            place = places[names["method"]]
            if fit is not None:
                lines.append(Curve(SHARES[1:] * budget, fit(SHARES[1:]), place, thin=True))
            lines.append(Curve(SHARES * budget, curve.median, place, low=curve.q1, high=curve.q3))
        panel = Panel(title, "J spent", "best fitness", (0, budget), padded(marks))
        panels.append(charts.curves(panel, lines))
    caption = (
        "Median and quartiles of the best fitness over feasible runs; thin dashes: the fit "
        "f∞(1 − A·exp(−k·E/B)) of the mean, residuals in the table."
    )
    return _of_energy(dataset, "Fitness by energy", caption, panels, _key_to(places))


def residuals(dataset: Dataset, found: list[Fitted]) -> Figure:
    """What the fit of each mean leaves over, along the budget."""
    places, panels = colours(dataset), []
    for title, budget, methods in _fitted_cells(found):
        left = [
            Curve(SHARES[1:] * budget, curve.mean[1:] - fit(SHARES[1:]), places[names["method"]])
            for names, _, curve, fit in methods
            if fit is not None
        ]
        if not left:
            continue
        # The first points of a penalised problem would flatten all the rest.
        scale = padded([np.asarray(line.y)[20:] for line in left])
        panel = Panel(title, "J spent", "mean − fit", (0, budget), scale)
        zero = Curve([0.0, budget], [0.0, 0.0], ZERO, thin=True)
        panels.append(charts.curves(panel, [zero, *left], (380.0, 180.0)))
    caption = (
        "Mean best fitness minus its fit; a fit that describes the run leaves a flat line at 0. "
        "The scale is that of the last nine tenths of the budget."
    )
    return _of_energy(dataset, "Residuals of the fits", caption, panels, _key_to(places))


def reached_targets(dataset: Dataset) -> Figure:
    """Share of (run, target) pairs reached within so many Joules, by problem and algorithm."""
    places, panels = colours(dataset), []
    for title, trials, budget in _joule_cells(dataset):
        keys = [key for key in trials["key"] if key in dataset.curves]
        if not keys:
            continue
        sign = float(trials["sign"].iloc[0])
        ends = sign * dataset.stack(keys)[:, -1]
        best = float(np.nanmax(ends))
        # The scale begins where the typical run is at a tenth of its budget, or first feasible.
        middle = sign * quartiles_of(plausible(dataset, trials, trials)).median[20:]
        known = middle[np.isfinite(middle)]
        start = float(known[0]) if known.size else float(np.nanmin(ends))
        targets = best - max(best - start, 1e-12 * abs(best)) * np.logspace(0, -2, TARGETS)
        limits = (budget / 100, budget)
        panel = Panel(title, "J spent", "targets reached, %", limits, (0, 100), log_x=True)
        lines = []
        for method, runs in trials.groupby("method", sort=False):
            hits = first_hits(SHARES, sign * dataset.stack(runs["key"]), targets)
            share = 100 * ecdf(hits, SHARES[2:])
            lines.append(Curve(SHARES[2:] * budget, share, places[str(method)]))
        panels.append(charts.curves(panel, lines))
    caption = (
        f"Empirical distribution over {TARGETS} targets and all runs: from the median at 10 % of "
        f"the budget towards the best value of the cell, in equal steps of the logarithm of the "
        f"gap, down to 1 % of it."
    )
    return _of_energy(dataset, "Targets reached by energy", caption, panels, _key_to(places))


def expected(dataset: Dataset, table: pd.DataFrame) -> Figure:
    """Expected Joules to the common target of each cell, with its interval."""
    places, panels = colours(dataset), []
    for names, rows in table.groupby(["problem", "algorithm", "budget"], sort=False):
        ends = rows[np.isfinite(rows["expected_joules"])][[*EXPECTED]].to_numpy()
        ends = ends[np.isfinite(ends)]
        if not ends.size:
            continue
        limits = (float(ends.min()) * 0.9, float(ends.max()) * 1.1)
        goal = f"expected J to {number(float(rows['target'].iloc[0]))}"
        panel = Panel.of_rows(" · ".join(map(str, names)), goal, limits, list(rows["method"]))
        drawn = [
            Whiskers(low, value, high, places[method], f"{method}: {number(value)} J")
            for method, value, low, high in rows[["method", *EXPECTED]].itertuples(index=False)
        ]
        panels.append(charts.intervals(panel, drawn, "target never reached"))
    caption = (
        "Joules of all runs over the number of runs that reach the median end of the cell; "
        "whiskers: 95 % bootstrap."
    )
    return _of_energy(dataset, "Expected Joules to a target", caption, panels)


def critical_difference(result: Across) -> Figure:
    """Mean ranks, best on the left, and bars over methods that do not differ significantly."""
    ranking = result.ranking
    ranks = [(result.methods[o], float(ranking.ranks[o])) for o in np.argsort(ranking.ranks)]
    joined = cliques([rank for _, rank in ranks], ranking.critical)
    drawn = charts.rank_diagram(ranks, result.control, ranking.critical, joined)
    caption = (
        f"Mean ranks over {result.cells} cells (1 is best). Bars join methods closer than the "
        f"critical difference (Nemenyi, 5 %). Friedman: χ² = {ranking.chi2:.2f}, "
        f"p = {ranking.p:.3g}."
    )
    return Figure("Across cells", caption, [drawn])


def cliques(ranks: list[float], critical: float) -> list[tuple[float, float]]:
    """Return the longest runs of sorted ranks that lie within the critical difference."""
    found: list[tuple[float, float]] = []
    for i, low in enumerate(ranks):
        high = max(rank for rank in ranks[i:] if rank - low < critical)
        if high > low and (not found or high > found[-1][1]):
            found.append((low, high))
    return found
