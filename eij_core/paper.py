"""The paper's own experiment: its settings, its published tables, and ours beside them.

``python -m eij_core.paper`` runs the nine cells, each with its three methods, and prints the
table. Energy is simulated by the meter `paper`, whose prices come from the paper's own table.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track
from rich.table import Table

from .result import Result
from .run import solve
from .trial import Trial

__all__ = [
    "FINAL_ENERGY",
    "FINAL_FITNESS",
    "METHODS",
    "PROBLEMS",
    "Cell",
    "Published",
    "cells",
    "compare",
    "frame",
    "main",
    "trials",
]

Fixed = Literal["joules", "evaluations"]


class Published(NamedTuple):
    """One entry of a table of the paper; nan where it prints a dash."""

    mean: float
    sd: float
    p: str
    """Mann-Whitney against the EOS method above it; "" for that method itself."""


class Setting(NamedTuple):
    """How the paper treats one problem."""

    title: str
    joules: float
    evaluations: float
    scale: float
    """Its table prints fitness times this."""


PROBLEMS = {
    "knapsack": Setting("KP", 1_000.0, 35_000.0, 1.0),
    "nk": Setting("NK", 1_000.0, 10_000.0, 100.0),
    "ecc": Setting("ECC", 10_000.0, 15_000.0, 100.0),
}

METHODS: dict[str, dict[str, str]] = {
    "ssga": {
        "EOS-SSGA": "eij",
        "SSGA-1": "static:operator=replace-1",
        "SSGA-5": "static:operator=replace-5",
    },
    "pso": {
        "EOS-PSO": "eij",
        "PSO-Light": "static:operator=light",
        "PSO-Full": "static:operator=full",
    },
    "ils": {
        "EOS-ILS": "eij",
        "ILS-1": "static:operator=flip-1",
        "ILS-5": "static:operator=flip-5",
    },
}
"""The selector of each method, by algorithm."""

FEATURED = {"ssga": "replace-1", "pso": "full", "ils": "flip-1"}
"""The operator whose share the paper plots."""

TRIALS = 100
"""Trials per method in the paper."""
HALF_DIGIT = 0.005
"""Half of the last digit that the paper prints."""


def _number(text: str) -> float:
    return math.nan if text == "-" else float(text)


def _published(text: str) -> dict[str, dict[str, Published]]:
    """Read lines of method and, per problem, mean, sd and p."""
    table: dict[str, dict[str, Published]] = {problem: {} for problem in PROBLEMS}
    for line in text.strip().splitlines():
        method, *entries = line.split()
        for problem, mean, sd, p in zip(
            PROBLEMS, entries[0::3], entries[1::3], entries[2::3], strict=True
        ):
            table[problem][method] = Published(_number(mean), _number(sd), p.strip("-"))
    return table


FINAL_FITNESS = _published("""
EOS-SSGA   8818.55 261.56 -      72.49 1.36 -      6.29 0.03 -
SSGA-1     8793.64 298.88 0.66   72.46 1.46 0.68   6.29 0.03 0.64
SSGA-5     8834.12 284.36 0.50   72.55 1.28 0.79   6.30 0.03 0.05
EOS-PSO    8120.82 667.06 -      69.19 1.62 -      5.86 0.06 -
PSO-Light  -       -      <0.01  60.42 1.03 <0.01  5.55 0.07 <0.01
PSO-Full   8307.06 524.74 0.07   69.50 1.39 0.11   5.90 0.06 <0.01
EOS-ILS    9035.58 125.06 -      73.52 1.24 -      6.33 0.06 -
ILS-1      9031.08 112.59 0.91   73.45 1.31 0.53   6.35 0.06 <0.01
ILS-5      -       -      <0.01  67.89 0.94 <0.01  6.04 0.03 <0.01
""")
"""Table "Mean and standard deviation of the final fitness", at equal Joules."""

FINAL_ENERGY = _published("""
EOS-SSGA   688.20 55.58 -      686.57 30.17 -      7348.27 135.92 -
SSGA-1     798.84 30.42 <0.01  731.25 37.62 <0.01  7446.86 174.90 <0.01
SSGA-5     679.98 19.47 <0.01  681.25 27.80 0.08   7379.68 152.72 0.19
EOS-PSO    454.99 13.59 -      604.49 26.23 -      7062.47 143.89 -
PSO-Light  455.61 13.86 0.49   607.44 25.85 0.36   7080.38 134.86 0.43
PSO-Full   452.67 12.52 0.13   606.17 29.10 0.69   7056.78 151.06 0.64
EOS-ILS    425.98 12.02 -      615.23 24.50 -      7197.76 133.57 -
ILS-1      426.45 14.77 0.41   614.85 28.18 0.65   7194.98 134.27 0.78
ILS-5      433.55 11.76 <0.01  621.95 27.10 0.09   7220.81 137.15 0.24
""")
"""Table "Energy consumption under fixed evaluation budgets", in Joules."""


def trials(
    problem: str,
    algorithm: str,
    method: str,
    repetitions: int = TRIALS,
    *,
    fixed: Fixed = "joules",
    seed: int = 1,
) -> list[Trial]:
    """Return the trials of one method in one cell, as the paper made them.

    Examples
    --------
    >>> [str(trial.selector) for trial in trials("ecc", "ils", "ILS-1", 1)]
    ['static:operator=flip-1']
    """
    setting = PROBLEMS[problem]
    unit = "J" if fixed == "joules" else "evaluations"
    return [
        Trial(
            problem,
            algorithm,
            METHODS[algorithm][method],
            "paper",
            f"{getattr(setting, fixed):g} {unit}",
            seed=seed,
            repetition=repetition,
            points=100,
        )
        for repetition in range(repetitions)
    ]


class Cell(NamedTuple):
    """One method on one problem: the paper's figures and ours."""

    problem: str
    algorithm: str
    method: str
    trials: int
    paper: float
    paper_sd: float
    ours: float
    """Mean over the feasible trials, in the paper's unit."""
    ours_sd: float
    feasible: float
    """Share of trials that ended with a feasible solution."""
    optimal: float
    """Share of trials that found the optimum."""
    errors: float
    """Difference of the means, in standard errors of that difference."""
    agrees: bool
    """Within three standard errors and half of the last printed digit."""
    early: float
    """Share of the featured operator in the decisions of the budget's first fifth."""
    late: float
    """The same in the last fifth."""


def compare(
    problem: str,
    algorithm: str,
    method: str,
    repetitions: int = TRIALS,
    *,
    fixed: Fixed = "joules",
    seed: int = 1,
    run: Callable[[Trial], Result] = solve,
) -> Cell:
    """Run one method in one cell and hold it against the paper.

    At equal Joules the final fitness is compared, at equal evaluations the Joules.
    """
    planned = trials(problem, algorithm, method, repetitions, fixed=fixed, seed=seed)
    results = [run(trial) for trial in planned]
    setting = PROBLEMS[problem]
    feasible = [result for result in results if result.best.feasible]
    if fixed == "joules":
        published = FINAL_FITNESS[problem][method]
        values = np.array([setting.scale * result.best.fitness for result in feasible])
    else:
        published = FINAL_ENERGY[problem][method]
        values = np.array([result.spent.joules for result in results])
    mean, sd = _mean_and_sd(values)
    error = math.sqrt(sd**2 / max(len(values), 1) + published.sd**2 / TRIALS)
    difference = mean - published.mean
    featured = [total.name for total in results[0].operators].index(FEATURED[algorithm])
    shares = np.array([_shares(result, featured) for result in results])
    return Cell(
        problem,
        algorithm,
        method,
        repetitions,
        published.mean,
        published.sd,
        mean,
        sd,
        len(feasible) / repetitions,
        sum(result.best.gap <= 0.0 for result in results) / repetitions,
        difference / error,
        abs(difference) <= 3.0 * error + HALF_DIGIT,
        *shares.mean(axis=0),
    )


def _mean_and_sd(values: Any) -> tuple[float, float]:
    if len(values) < 2:
        return (float(values[0]) if len(values) else math.nan), math.nan
    return float(values.mean()), float(values.std(ddof=1))


def _shares(result: Result, operator: int) -> tuple[float, float]:
    """Return the operator's share of the decisions in the first and the last fifth of the axis."""
    rows = result.rows
    axis = "spent" if math.isfinite(result.trial.budget.joules) else "evaluations"
    ends = np.searchsorted(rows[axis], np.array([0.2, 0.8]) * rows[axis][-1])
    applied = rows["applications"]
    first, last = applied[ends[0]], applied[-1] - applied[ends[1]]
    return (
        float(first[operator] / max(first.sum(), 1)),
        float(last[operator] / max(last.sum(), 1)),
    )


def cells(
    problems: Iterable[str] = tuple(PROBLEMS), algorithms: Iterable[str] = tuple(METHODS)
) -> list[tuple[str, str, str]]:
    """Return every (problem, algorithm, method) of the paper.

    Examples
    --------
    >>> len(cells())
    27
    """
    algorithms = tuple(algorithms)
    return [
        (problem, algorithm, method)
        for problem in problems
        for algorithm in algorithms
        for method in METHODS[algorithm]
    ]


def frame(compared: Iterable[Cell]) -> pd.DataFrame:
    """Return compared cells as a table, one line each."""
    return pd.DataFrame(list(compared), columns=list(Cell._fields))


def _render(compared: Iterable[Cell], title: str) -> Table:
    table = Table(title=title)
    for heading in ("problem", "method"):
        table.add_column(heading)
    headings = ("paper", "ours", "SE", "feasible", "optimal", "share of", "first → last fifth")
    for heading in headings:
        table.add_column(heading, justify="right")
    for cell in compared:
        adaptive = cell.method.startswith("EOS")
        table.add_row(
            PROBLEMS[cell.problem].title,
            cell.method,
            _figure(cell.paper, cell.paper_sd),
            _figure(cell.ours, cell.ours_sd),
            "–" if math.isnan(cell.errors) else f"{cell.errors:+.1f}",
            f"{cell.feasible:.0%}",
            f"{cell.optimal:.0%}",
            FEATURED[cell.algorithm] if adaptive else "",
            f"{cell.early:.2f} → {cell.late:.2f}" if adaptive else "",
            style=None if cell.agrees or math.isnan(cell.errors) else "yellow",
        )
    return table


def _figure(mean: float, sd: float) -> str:
    return "–" if math.isnan(mean) else f"{mean:.2f} ± {sd:.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the paper's tables with ours beside them."""
    parser = argparse.ArgumentParser(prog="python -m eij_core.paper", description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS, help="trials per method")
    parser.add_argument("--quick", action="store_true", help="20 trials per method")
    parser.add_argument("--problem", action="append", choices=list(PROBLEMS))
    parser.add_argument("--algorithm", action="append", choices=list(METHODS))
    parser.add_argument("--fixed", choices=["joules", "evaluations"], default="joules")
    options = parser.parse_args(arguments)
    repetitions = 20 if options.quick else options.trials
    if repetitions < 2:
        parser.error("--trials: expected at least 2")
    console = Console()
    wanted = cells(options.problem or PROBLEMS, options.algorithm or METHODS)
    compared = [
        compare(*cell, repetitions, fixed=options.fixed)
        for cell in track(wanted, "the paper's cells", console=console, transient=True)
    ]
    what = (
        "final fitness at equal Joules"
        if options.fixed == "joules"
        else ("Joules at equal evaluations")
    )
    console.print(_render(compared, f"{what}, {repetitions} trials, energy simulated"))
    differing = [c for c in compared if not (c.agrees or math.isnan(c.errors))]
    console.print(f"{len(compared) - len(differing)} of {len(compared)} agree (NK: other instance)")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
