"""The paper's cells one by one: our trials, held against what it printed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from ..result import Result
from ..run import solve
from ..trial import Trial
from .published import FEATURED, FINAL_ENERGY, FINAL_FITNESS, HALF_DIGIT, METHODS, PROBLEMS, TRIALS

__all__ = ["Cell", "cells", "compare", "frame", "trials"]

Fixed = Literal["joules", "evaluations"]


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
