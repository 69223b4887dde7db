"""A run as a still picture: what a notebook shows of a `Run` or a `Result` without a living kernel.

One SVG that needs nothing else: GitHub, nbviewer, a saved page and a printed one show it alike.
"""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .painted import card
from .svg import SERIES, Axes, number

if TYPE_CHECKING:
    from .result import Result

__all__ = ["picture", "sentence"]

WIDTH, PANEL, HEAD, LINE = 864.0, (284.0, 222.0), 50.0, 17.0
OPERATORS = 8
"""Operators that are drawn and listed."""
COLUMNS = ((28.0, "start"), (230.0, "end"), (330.0, "end"), (430.0, "end"), (540.0, "end"))


def picture(result: Result) -> str:
    """Draw a result, finished or not: fitness, shares and EI/J by Joules, then the account.

    Examples
    --------
    >>> from eij_core import Trial, solve
    >>> result = solve(Trial("nk:n=20,k=3", "ils", budget="20 J", seed=7), compiled=False)
    >>> drawn = picture(result)
    >>> drawn[:4], "simulated Joules" in drawn
    ('<svg', True)
    """
    panels = [_fitness(result), _shares(result), _estimates(result)]
    placed = [
        panel.replace("<svg ", f'<svg x="{6 + i * (PANEL[0] + 1):g}" y="{HEAD:g}" ', 1)
        for i, panel in enumerate(panels)
    ]
    lines, under = _account(result), HEAD + PANEL[1] + 14
    table = [_row(line, under + i * LINE) for i, line in enumerate(lines)]
    height = under + len(lines) * LINE
    return card((WIDTH, height), "".join([*_head(result), *placed, *table]), _words(result))


def sentence(result: Result) -> str:
    """Tell a result in one line, where there are no pictures.

    Examples
    --------
    >>> from eij_core import Trial, solve
    >>> result = solve(Trial("nk:n=20,k=3", "ils", budget="20 J", seed=7), compiled=False)
    >>> sentence(result).partition(": ")[0]
    'nk · ils · eij-plus'
    """
    return f"{_words(result)} · {_facts(result)}"


def _words(result: Result) -> str:
    trial = result.trial
    parts = (trial.name_of(family) for family in ("problem", "algorithm", "selector"))
    return f"{' · '.join(parts)}: best fitness {number(float(f'{result.best.fitness:.6g}'))}"


def _energy(result: Result) -> str:
    return f"{result.meter.provenance} Joules, meter {result.meter.name}"


def _facts(result: Result) -> str:
    best, spent = result.best, result.spent
    facts = [
        f"{number(float(f'{spent.joules:.4g}'))} J of {result.trial.budget}",
        f"{spent.decisions:,} decisions",
        f"{spent.evaluations:,} evaluations",
        result.reason,
    ]
    if not math.isnan(best.optimum):
        facts.insert(0, f"optimum {number(float(f'{best.optimum:.6g}'))}")
    if not best.feasible:
        facts.insert(0, "infeasible")
    return f"{' · '.join(facts)} · {_energy(result)}"


def _head(result: Result) -> list[str]:
    return [_text(18, 22, _words(result), "head"), _text(18, 40, _facts(result), "soft")]


def _fitness(result: Result) -> str:
    rows, optimum = result.rows, result.best.optimum
    # The start is often so much worse that it would flatten the rest.
    late = rows["best"][rows["spent"] >= 0.02 * rows["spent"][-1]]
    low, high = _range([*late, *([] if math.isnan(optimum) else [optimum])])
    axes = _axes("Best fitness", "J spent", "fitness", result, (low, high))
    x, y = np.repeat(rows["spent"], 2)[1:], np.repeat(rows["best"], 2)[:-1]
    axes.line(x, y, 0)
    if not math.isnan(optimum):
        axes.line([0.0, axes.x_limits[1]], [optimum, optimum], 6, thin=True)
        axes.label_ends([(optimum, "optimum", 6)])
    return axes.render()


def _shares(result: Result) -> str:
    rows, names = result.rows, _names(result)
    totals = rows["operator_joules"]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = 100.0 * totals / totals.sum(axis=1, keepdims=True)
    axes = _axes("Where the Joules went", "J spent", "share of J so far, %", result, (-3.0, 103.0))
    _lines(axes, rows["spent"], share, names)
    return axes.render()


def _estimates(result: Result) -> str:
    rows, names = result.rows, _names(result)
    known = np.where(rows["applications"] > 0, rows["beliefs"][:, :, 4], np.nan)
    late = known[rows["spent"] >= 0.05 * rows["spent"][-1], : len(names)]
    label = "EI/J as the rule sees it"
    axes = _axes("Improvement per Joule", "J spent", label, result, _range(late))
    _lines(axes, rows["spent"], known, names)
    return axes.render()


def _axes(title: str, x_label: str, y_label: str, result: Result, y: tuple[float, float]) -> Axes:
    end = float(max(result.rows["spent"][-1], 1e-12))
    budget = result.trial.budget.joules
    right = budget if math.isfinite(budget) and end < budget else end
    return Axes(title, x_label, y_label, (0.0, right), y, size=PANEL)


def _lines(axes: Axes, x: Any, values: Any, names: list[str]) -> None:
    ends = []
    for o, name in enumerate(names):
        axes.line(x, values[:, o], o)
        found = values[np.isfinite(values[:, o]), o]
        if found.size:
            ends.append((float(found[-1]), name, o))
    axes.label_ends(ends)


def _account(result: Result) -> list[list[tuple[str, str]]]:
    """Return lines of (text, class): the operators, what they were given and what they cost."""
    heads = ("operator", "applications", "J", "share of J", "J/application")
    lines = [[(text, "soft") for text in heads]]
    total = sum(each.joules for each in result.operators) or math.nan
    for o, each in enumerate(result.operators[:OPERATORS]):
        mean = each.joules / each.applications if each.applications else math.nan
        cells = (
            f"{each.applications:,}",
            number(float(f"{each.joules:.4g}")),
            f"{100 * each.joules / total:.1f} %" if total > 0 else "–",
            number(float(f"{mean:.3g}")) if each.applications else "–",
        )
        lines.append([(each.name, f"mark s{o % SERIES}"), *((cell, "") for cell in cells)])
    if len(result.operators) > OPERATORS:
        lines.append([(f"and {len(result.operators) - OPERATORS} more", "soft")])
    return lines


def _row(line: list[tuple[str, str]], y: float) -> str:
    return "".join(
        _text(x, y, text, kind, anchor)
        for (x, anchor), (text, kind) in zip(COLUMNS, line, strict=False)
    )


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{html.escape(text)}</text>'


def _names(result: Result) -> list[str]:
    return [total.name for total in result.operators[:OPERATORS]]


def _range(values: Any) -> tuple[float, float]:
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    if not known.size:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    air = 0.08 * (high - low) or 0.01 * abs(high) or 1.0
    return low - air, high + air
