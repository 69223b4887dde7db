"""Targets: the fitness at which a run has found what it was to find, and stops."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from .errors import InputError

OPTIMUM = "optimum"
FORM = "a fitness, such as 9000; a gap to the known optimum, such as 1%; optimum; or nothing"
SIGNS = {"max": 1.0, "min": -1.0}
NEGLIGIBLE = 1e-12
"""A difference to the target below this share of it is rounding."""


class Reached(NamedTuple):
    """When a target was reached, by the first recorded row that has it.

    The row is that of the very application where the run stopped there; else it is the next point
    of the recorded grid.
    """

    fitness: float
    """The target."""
    joules: float
    """Joules spent by then; nan: the target was not reached."""
    evaluations: int
    decision: int

    @property
    def yes(self) -> bool:
        """Whether the target was reached."""
        return not math.isnan(self.joules)


def check_target(value: Any) -> str:
    """Return a target in its normal form, a text; "" where there is none.

    Examples
    --------
    >>> check_target(9000), check_target("1 %"), check_target("Optimum"), check_target(None)
    ('9000', '1%', 'optimum', '')
    """
    text = "" if value is None else str(value).strip().lower()
    if text in ("", OPTIMUM):
        return text
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = math.nan
    percent = text.endswith("%")
    if isinstance(value, bool) or not math.isfinite(number) or (percent and number < 0):
        raise InputError("target", value, FORM)
    return f"{number!r}".removesuffix(".0") + ("%" if percent else "")


def fitness_of(target: str, optimum: float, sense: str = "max") -> float:
    """Return the fitness that a target asks for; nan: none, or an optimum that is not known.

    The target `optimum` of a problem whose optimum is unknown is never reached; a gap to it would
    mean nothing, and is refused.

    Examples
    --------
    >>> fitness_of("10%", 20.0), fitness_of("10%", 20.0, "min"), fitness_of("19", 20.0)
    (18.0, 22.0, 19.0)
    """
    if not target:
        return math.nan
    if target == OPTIMUM:
        return optimum
    if not target.endswith("%"):
        return float(target)
    if math.isnan(optimum):
        expected = "a fitness: the optimum of this problem is not known, so there is no gap to it"
        raise InputError("target", target, expected)
    share = float(target.removesuffix("%")) / 100.0
    return optimum - SIGNS[sense] * share * abs(optimum)


def limits_of(trial: Any, problem: Any) -> Any:
    """Return the limits of a trial, with the target as the loop compares it: larger is better."""
    sense = getattr(problem, "sense", "max")
    optimum = float(getattr(problem, "optimum", math.nan))
    goal = SIGNS[sense] * fitness_of(trial.target, optimum, sense)
    if math.isnan(goal):
        return trial.limits()
    return trial.limits()._replace(target=goal - NEGLIGIBLE * abs(goal))


def words_of(target: str) -> str:
    """Say why a run that has reached its target ends."""
    return "optimum reached" if target == OPTIMUM else f"target {target} reached"


def reached_in(rows: Any, goal: float, sense: str) -> Reached | None:
    """Return when recorded rows reached a fitness; None where there is none to reach."""
    if math.isnan(goal):
        return None
    sign = SIGNS[sense]
    (hits,) = (sign * rows["best"] >= sign * goal - NEGLIGIBLE * abs(goal)).nonzero()
    if not hits.size:
        return Reached(goal, math.nan, 0, 0)
    row = rows[hits[0]]
    return Reached(goal, float(row["spent"]), int(row["evaluations"]), int(row["decision"]))
