"""The report's figures: frames in, SVG out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..records import BINS
from ..svg import SERIES, Axes, legend
from ..violins import violins
from .anytime import band, fit
from .comparisons import plausible, typical
from .frames import SHARES, Frames

__all__ = ["Figure", "energy_violins", "residuals", "selection", "trajectories", "transitions"]

WINDOW = 10
"""Points of `SHARES` in a window of the selection ratio: 5 % of the budget."""


class Figure(NamedTuple):
    """Panels that share a caption and a legend."""

    name: str
    caption: str
    panels: list[str]
    legend: str = ""


def colours(frames: Frames) -> dict[str, int]:
    """Give each method a colour, the same in all figures: by its place within its cells."""
    places: dict[str, int] = {}
    for _, trials in frames.cells():
        methods = list(dict.fromkeys(trials["method"]))
        for method in methods:
            taken = {places[other] for other in methods if other in places}
            if method not in places:
                places[method] = next(i for i in range(len(methods) + 1) if i not in taken)
    return places


def key_to(places: dict[str, int]) -> str:
    """Return a legend; methods that never meet may share a colour and then an entry."""
    by_colour: dict[int, list[str]] = {}
    for method, place in places.items():
        by_colour.setdefault(place, []).append(method)
    return legend((place, " / ".join(names)) for place, names in sorted(by_colour.items()))


def cell_title(names: tuple[str, ...]) -> str:
    return f"{names[0]} · {names[1]} · {names[2]}"


def sources(frames: Frames) -> str:
    return "; ".join(dict.fromkeys(frames.trials["source"]))


def energy_violins(frames: Frames) -> Figure:
    """Joules per application of each operator, by problem."""
    table = frames.operators.merge(frames.trials[["key", "problem", "algorithm"]], on="key")
    panels = []
    for problem, rows in table.groupby("problem", sort=False):
        shapes: list[tuple[str, Any]] = []
        for (algorithm, operator), group in rows.groupby(["algorithm", "operator"], sort=False):
            counts = np.zeros(BINS)
            for bins, found in group["histogram"]:
                counts[bins] += found
            shapes.append((f"{algorithm} {operator}", counts))
        panels += violins(str(problem), shapes, colour=lambda i: i // 2)
    caption = (
        f"Energy of one application, by operator; dots are medians. Joules: {sources(frames)}."
    )
    return Figure("Energy per operator", caption, panels)


def transitions(frames: Frames, control: str) -> Figure:
    """E[Δf] and E[E] of the control's operators in the median run of each cell."""
    panels = []
    names_of = frames.operators.groupby("key", sort=False)["operator"].agg(list)
    most = 0
    for names, trials in frames.cells():
        runs = trials[trials["method"].str.startswith(control) & trials["key"].isin(frames.curves)]
        if not len(runs) or not trials["by_joules"].iloc[0]:
            continue
        key = runs.sort_values("fitness")["key"].iloc[len(runs) // 2]
        trace = frames.trace(key)
        if trace is None or len(trace) < 3:
            continue
        operators = names_of[key]
        most = max(most, len(operators))
        pair: list[str] = []
        for column, label in ((0, "E[Δf]"), (2, "E[E], J")):
            values = trace["beliefs"][1:, :, column]
            known = np.where(trace["applications"][1:] > 0, values, np.nan)
            # The first percent of a penalised problem would flatten all the rest.
            late = known[trace["spent"][1:] > 0.05 * trace["spent"][-1]]
            low, high = _range(late if np.isfinite(late).any() else known)
            axes = Axes(cell_title(names), "J spent", label, (0, float(trace["spent"][-1])),
                        (low, high), size=(290.0, 215.0))  # fmt: skip
            for o in range(len(operators)):
                axes.line(trace["spent"][1:], known[:, o], o)
            ends = [(float(known[-1, o]), name, o) for o, name in enumerate(operators)]
            axes.label_ends([end for end in ends if np.isfinite(end[0])])
            pair.append(axes.render())
        panels.append(f'<div class="pair">{"".join(pair)}</div>')
    caption = (
        f"What {control} expects of each operator, along the run with the median result. "
        f"Joules: {sources(frames)}."
    )
    places = legend((o, f"operator {o + 1} of the portfolio") for o in range(most))
    return Figure("Expected improvement and expected energy", caption, panels, places)


def selection(frames: Frames) -> Figure:
    """How often each operator is chosen along the budget, mean over runs."""
    panels = []
    names_of = frames.operators.groupby("key", sort=False)["operator"].agg(list)
    most = 0
    for names, trials in frames.cells():
        for method, runs in trials.groupby("method", sort=False):
            keys = [key for key in runs["key"] if key in frames.choices]
            if not keys or not trials["by_joules"].iloc[0]:
                continue
            counts = np.array([np.nan_to_num(frames.choices[key]) for key in keys])
            steps = np.diff(counts[:, ::WINDOW], axis=1)
            total = steps.sum(axis=2, keepdims=True)
            with np.errstate(invalid="ignore", divide="ignore"):
                share = band((steps / total).reshape(len(keys), -1)).mean.reshape(steps.shape[1:])
            if (counts[:, -1].sum(axis=0) > 0).sum() < 2:
                continue  # a static method: nothing to see
            operators = names_of[keys[0]]
            most = max(most, len(operators))
            title = f"{names[0]} · {names[1]} · {method}"
            axes = Axes(title, "budget used, %", "chosen, %", (0, 100), (-3, 103))
            middle = 100 * (SHARES[::WINDOW][1:] + SHARES[::WINDOW][:-1]) / 2
            for o in range(len(operators)):
                axes.line(middle, 100 * share[:, o], o)
            ends = [(100 * float(share[-1, o]), n, o) for o, n in enumerate(operators)]
            axes.label_ends([end for end in ends if np.isfinite(end[0])])
            panels.append(axes.render())
    caption = (
        "Share of the decisions in each 5 % of the budget that chose an operator, mean of runs."
    )
    places = legend((o, f"operator {o + 1} of the portfolio") for o in range(most))
    return Figure("Operator selection ratios", caption, panels, places)


def trajectories(frames: Frames) -> Figure:
    """Best fitness along the budget: median, quartiles, and the paper's fit of the mean."""
    places, panels = colours(frames), []
    for names, trials in frames.cells():
        if not trials["by_joules"].iloc[0]:
            continue
        drawn = []
        for method, runs in trials.groupby("method", sort=False):
            curves = plausible(frames, runs, trials)
            if len(curves):
                drawn.append((str(method), typical(curves)[:4]))
        # Methods that mostly fail do not set the scale for the others.
        sound = trials.groupby("method")["feasible"].mean()
        usual = [lines for method, lines in drawn if sound[method] >= 0.5] or [d[1] for d in drawn]
        marks = np.array([[c[0][20], c[0][-1], c[1][-1], c[2][-1]] for c in usual])
        if not np.isfinite(marks).any():
            continue
        budget = float(trials["joules"].median())
        low, high = _range(marks)
        axes = Axes(cell_title(names), "J spent", "best fitness", (0, budget), (low, high))
        for method, (_, q1, q3, _) in drawn:
            axes.band(SHARES * budget, q1, q3, places[method])
        for method, (median, _, _, mean) in drawn:
            if (model := fit(SHARES, mean)) is not None:
                axes.line(SHARES[1:] * budget, model(SHARES[1:]), places[method], thin=True)
            axes.line(SHARES * budget, median, places[method])
        panels.append(axes.render())
    caption = (
        "Median and quartiles of the best fitness over feasible runs; thin dashes: the fit "
        f"f∞(1 − A·exp(−k·E/B)) of the mean, residuals in the table. Joules: {sources(frames)}."
    )
    return Figure("Fitness by energy", caption, panels, key_to(places))


def residuals(frames: Frames) -> Figure:
    """What the fit of each mean leaves over, along the budget."""
    places, panels = colours(frames), []
    for names, trials in frames.cells():
        if not trials["by_joules"].iloc[0]:
            continue
        lines = []
        for method, runs in trials.groupby("method", sort=False):
            curves = plausible(frames, runs, trials)
            mean = typical(curves).mean if len(curves) else None
            if mean is not None and (model := fit(SHARES, mean)) is not None:
                lines.append((str(method), mean[1:] - model(SHARES[1:])))
        if not lines:
            continue
        budget = float(trials["joules"].median())
        # The first points of a penalised problem would flatten all the rest.
        scale = _range(np.array([line[20:] for _, line in lines]))
        axes = Axes(
            cell_title(names), "J spent", "mean − fit", (0, budget), scale, size=(380.0, 170.0)
        )
        axes.line([0.0, budget], [0.0, 0.0], SERIES - 2, thin=True)
        for method, line in lines:
            axes.line(SHARES[1:] * budget, line, places[method])
        panels.append(axes.render())
    caption = (
        "Mean best fitness minus its fit; a fit that describes the run leaves a flat line at 0. "
        f"The scale is that of the last nine tenths of the budget. Joules: {sources(frames)}."
    )
    return Figure("Residuals of the fits", caption, panels, key_to(places))


def _range(values: Any, margin: float = 0.06) -> tuple[float, float]:
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    if not known.size:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    pad = margin * (high - low) or 0.01 * abs(high) or 1.0
    return low - pad, high + pad
