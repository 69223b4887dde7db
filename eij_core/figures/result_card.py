"""A run as a still picture: what a notebook shows of a `Run` or a `Result` without a living kernel.

The SVG needs nothing else: GitHub, nbviewer, a saved page and a printed one show it alike.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .axes import INK, SOFT, Panel, colour_of, put_text
from .canvas import Picture
from .charts import Curve, draw_curves
from .numbers import number, padded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..result import Result

WIDTH, PANEL, HEAD, LINE = 864.0, (284.0, 222.0), 50.0, 17.0
OPERATORS = 8
"""Operators that are drawn and listed."""
COLUMNS = ((28.0, "left"), (230.0, "right"), (330.0, "right"), (430.0, "right"), (540.0, "right"))
UNDER = HEAD + PANEL[1] + 14
OPTIMUM = 6
"""The series of the line at the optimum: grey."""


def picture(result: Result) -> Picture:
    """Draw a result, finished or not: fitness, shares and EI/J by Joules, then the account.

    Examples
    --------
    >>> from eij_core import Trial, solve
    >>> result = solve(Trial("nk:n=20,k=3", "ils", budget="20 J", seed=7), compiled=False)
    >>> drawn = picture(result).svg()
    >>> drawn[:4], "simulated Joules" in drawn
    ('<svg', True)
    """
    account = _account(result)
    height = UNDER + len(account) * LINE

    def paint(figure: Figure) -> None:
        put_text(figure, 18, height - 22, _words(result), color=INK, fontsize=14, fontweight="bold")
        put_text(figure, 18, height - 40, _facts(result))
        for i, (panel, drawn) in enumerate((_fitness(result), _shares(result), _scores(result))):
            draw_curves(figure, panel, drawn, (6 + i * (PANEL[0] + 1), HEAD, *PANEL))
        for i, (cells, colour) in enumerate(account):
            for c, ((x, side), cell) in enumerate(zip(COLUMNS, cells, strict=False)):
                shade = INK if c and colour != SOFT else colour
                put_text(figure, x, height - UNDER - i * LINE, cell, ha=side, color=shade)

    return Picture(_words(result), (WIDTH, height), paint)


def sentence(result: Result) -> str:
    """Describe a result in one line, for places without pictures.

    Examples
    --------
    >>> from eij_core import Trial, solve
    >>> result = solve(Trial("nk:n=20,k=3", "ils", budget="20 J", seed=7), compiled=False)
    >>> sentence(result).partition(": ")[0]
    'nk · ils · eij-plus'
    """
    return f"{_words(result)} · {_facts(result)}"


def _digits(value: float, digits: int) -> str:
    return number(float(f"{value:.{digits}g}"))


def _words(result: Result) -> str:
    trial = result.trial
    parts = (trial.name_of(family) for family in ("problem", "algorithm", "selector"))
    best = "best" if result.sense == "max" else "least"
    return f"{' · '.join(parts)}: {best} fitness {_digits(result.best.fitness, 6)}"


def _facts(result: Result) -> str:
    best, spent, meter = result.best, result.spent, result.meter
    facts = [
        "" if best.feasible else "infeasible",
        "" if math.isnan(best.optimum) else f"optimum {_digits(best.optimum, 6)}",
        f"{_digits(spent.joules, 4)} J of {result.trial.budget}",
        f"{spent.decisions:,} decisions",
        f"{spent.evaluations:,} evaluations",
        _overhead(result),
        _target(result),
        result.reason,
        f"{meter.provenance} Joules, meter {meter.name}",
    ]
    return " · ".join(filter(None, facts))


def _target(result: Result) -> str:
    """Say after which Joules the target was reached, or without one the optimum."""
    reached, target = result.reached, result.trial.target
    if reached is None or not (reached.yes or target):
        return ""
    name = f"target {_digits(reached.fitness, 6)}" if target else "optimum"
    return f"{name} {f'after {_digits(reached.joules, 4)} J' if reached.yes else 'missed'}"


def _overhead(result: Result) -> str:
    """Say what a scheduler took for its decisions; nothing of a compiled loop."""
    if not result.overhead_seconds:
        return ""
    each = result.overhead_seconds / max(result.spent.decisions, 1)
    return f"overhead {_digits(1e6 * each, 3)} µs a decision"


def _fitness(result: Result) -> tuple[Panel, list[Curve]]:
    rows, optimum = result.rows, result.best.optimum
    # The start is often so much worse that it would flatten the rest.
    late = rows["best"][rows["spent"] >= 0.02 * rows["spent"][-1]]
    panel = _panel("Best fitness", "fitness", result, padded([*late, optimum], 0.08))
    x, y = np.repeat(rows["spent"], 2)[1:], np.repeat(rows["best"], 2)[:-1]
    drawn = [Curve(x, y, 0)]
    if not math.isnan(optimum):
        drawn.append(Curve(panel.x, (optimum, optimum), OPTIMUM, "optimum", thin=True))
    return panel, drawn


def _shares(result: Result) -> tuple[Panel, list[Curve]]:
    totals = result.rows["operator_joules"]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = 100.0 * totals / totals.sum(axis=1, keepdims=True)
    panel = _panel("Where the Joules went", "share of J so far, %", result, (-3.0, 103.0))
    return panel, _by_operator(result, share)


def _scores(result: Result) -> tuple[Panel, list[Curve]]:
    rows = result.rows
    known = np.where(rows["applications"] > 0, rows["beliefs"][:, :, 4], np.nan)
    late = known[rows["spent"] >= 0.05 * rows["spent"][-1], :OPERATORS]
    limits = padded(late, 0.08)
    panel = _panel("Improvement per Joule", "EI/J as the rule sees it", result, limits)
    return panel, _by_operator(result, known)


def _panel(title: str, y_label: str, result: Result, y: tuple[float, float]) -> Panel:
    end = float(max(result.rows["spent"][-1], 1e-12))
    budget = result.trial.budget.joules
    right = budget if math.isfinite(budget) and end < budget else end
    return Panel(title, "J spent", y_label, (0.0, right), y)


def _by_operator(result: Result, values: Any) -> list[Curve]:
    names = [total.name for total in result.operators[:OPERATORS]]
    return [Curve(result.rows["spent"], values[:, o], o, name) for o, name in enumerate(names)]


def _account(result: Result) -> list[tuple[tuple[str, ...], str]]:
    """Return lines of cells and a colour: the operators, their applications and their cost."""
    lines: list[tuple[tuple[str, ...], str]] = [
        (("operator", "applications", "J", "share of J", "J/application"), SOFT)
    ]
    total = sum(each.joules for each in result.operators)
    for o, each in enumerate(result.operators[:OPERATORS]):
        cells = (
            each.name,
            f"{each.applications:,}",
            _digits(each.joules, 4),
            f"{100 * each.joules / total:.1f} %" if total > 0 else "–",
            _digits(each.joules / each.applications, 3) if each.applications else "–",
        )
        lines.append((cells, colour_of(o)))
    if len(result.operators) > OPERATORS:
        lines.append(((f"and {len(result.operators) - OPERATORS} more",), SOFT))
    return lines
