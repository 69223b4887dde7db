"""The settings of a run, shared by the page, its link and its widgets."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import param

from eij_core import Budget, Trial
from eij_core.trial import FAMILIES

from ...server.limits import check_trial
from ..common.offers import check_offered
from .lessons.lessons import LESSONS

PACES = {
    "5 s": 5.0,
    "15 s": 15.0,
    "30 s": 30.0,
    "1 min": 60.0,
    "5 min": 300.0,
    "as fast as it goes": 0.0,
}


OPENING: dict[str, Any] = {"lesson": "", "budget": "200 J", "seed": 10}
"""What the page opens with: a run that goes on improving over most of its budget."""


class Settings(param.Parameterized):
    """A visitor's choices. Components are texts, as on the command line."""

    problem = param.String("knapsack")
    algorithm = param.String("ils")
    selector = param.String("eij-plus")
    meter = param.String("paper")
    budget = param.String("1 kJ")
    target = param.String("optimum")
    """Where a run stops, see `Trial`; a lesson spends its whole budget all the same."""
    seed = param.Integer(1, bounds=(0, 2**31 - 1))
    pace = param.Number(15.0, bounds=(0.0, 3600.0))
    compare = param.Boolean(True)
    lesson = param.String("first-steps")
    instance_file = param.Parameter(None)
    """The visitor's own `app.pages.run.instance_file.Instance`; not part of a link."""

    FIELDS = (
        *("lesson", "problem", "algorithm", "selector", "meter"),
        *("budget", "target", "seed", "pace", "compare"),
    )

    @property
    def values_now(self) -> dict[str, Any]:
        """The settings as a dictionary."""
        return {name: getattr(self, name) for name in self.FIELDS}

    @property
    def described(self) -> dict[str, Any]:
        """What decides on the run: the settings without what can change while it is on."""
        live = ("pace", "compare")
        chosen = {name: value for name, value in self.values_now.items() if name not in live}
        return {**chosen, "instance_file": self.instance_file}

    def is_other_than(self, described: dict[str, Any]) -> bool:
        """Tell whether another run is described than the one that was."""
        return self.described != described

    def trial(self) -> Trial:
        """Return the trial that these settings describe, or raise `InputError` for the field."""
        for family in FAMILIES:
            check_offered(family, getattr(self, family))
        trial = Trial(
            self.problem, self.algorithm, self.selector, self.meter, self.budget, int(self.seed)
        )
        if self.instance_file is not None and trial.name_of("problem") == "knapsack":
            trial = replace(trial, problem=self.instance_file.problem)
        lesson = LESSONS.get(self.lesson)
        trial = replace(trial, target="" if lesson else self.target)
        if lesson is not None and lesson.build is not None:
            trial = lesson.build(trial)
        return check_trial(trial)


def split_budget(budget: str) -> tuple[float, str]:
    """Return amount and unit of a budget, of its first limit if there are several.

    Examples
    --------
    >>> split_budget("1500 J"), split_budget("20 s")
    ((1.5, 'kJ'), (20.0, 's'))
    """
    parsed = Budget.parse(budget)
    if 1000.0 <= parsed.joules < math.inf:
        return parsed.joules / 1000.0, "kJ"
    limits = {"J": parsed.joules, "evaluations": parsed.evaluations, "s": parsed.seconds}
    return next((limit, unit) for unit, limit in limits.items() if limit < math.inf)
