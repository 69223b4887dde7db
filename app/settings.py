"""The settings of a run, as the page, the link and the widgets share them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import param

from app.limits import check_trial
from eij_core import Budget, InputError, Spec, Trial
from eij_core.registry import Registry
from eij_core.trial import FAMILIES

__all__ = ["FAST", "PACES", "Settings", "brief", "offered", "operators_of"]

FAST = 0.0
PACES = {
    "5 s": 5.0,
    "15 s": 15.0,
    "30 s": 30.0,
    "1 min": 60.0,
    "5 min": 300.0,
    "as fast as it goes": FAST,
}


class Settings(param.Parameterized):
    """All that a visitor chooses. Components are texts, as on the command line."""

    problem = param.String("knapsack")
    algorithm = param.String("ils")
    selector = param.String("eij-plus")
    meter = param.String("paper")
    budget = param.String("1 kJ")
    seed = param.Integer(1, bounds=(0, 2**31 - 1))
    pace = param.Number(15.0, bounds=(0.0, 3600.0))
    compare = param.Boolean(True)
    lesson = param.String("first-steps")
    instance_file = param.Parameter(None)
    """The visitor's own `app.instance_file.Instance`; not part of a link."""

    FIELDS = (
        *("lesson", "problem", "algorithm", "selector", "meter"),
        *("budget", "seed", "pace", "compare"),
    )

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)

    @property
    def values_now(self) -> dict[str, Any]:
        """The settings as a dictionary."""
        return {name: getattr(self, name) for name in self.FIELDS}

    def trial(self) -> Trial:
        """Return the trial that these settings describe, or raise `InputError` for the field."""
        from app.lessons import LESSONS

        for family in FAMILIES:
            offered_spec(family, getattr(self, family))
        trial = Trial(
            self.problem, self.algorithm, self.selector, self.meter, self.budget, int(self.seed)
        )
        if self.instance_file is not None and trial.name_of("problem") == "knapsack":
            trial = replace(trial, problem=self.instance_file.problem)
        lesson = LESSONS.get(self.lesson)
        if lesson is not None and lesson.build is not None:
            trial = lesson.build(trial)
        return check_trial(trial)


def offered(family: str) -> list[str]:
    """Return the names of a family that visitors may use."""
    registry = FAMILIES[family]
    return [name for name in registry if not registry.is_private(name)]


def offered_spec(family: str, spec_text: str) -> Spec:
    """Check a component given as text; what is private does not exist here."""
    spec = Spec.parse(spec_text)
    if spec.name not in offered(family):
        raise InputError(family, spec.name, f"one of {', '.join(offered(family))}")
    checked = FAMILIES[family].check(spec)
    if family == "algorithm":
        FAMILIES[family].make(checked)  # costs nothing, and looks the portfolio's names up
    return checked


def brief(family: str, spec: Spec) -> str:
    """Write a component without the parameters that have their default.

    Examples
    --------
    >>> brief("problem", Spec("nk", {"n": 100, "k": 4}))
    'nk:k=4'
    """
    defaults = {p.name: p.default for p in FAMILIES[family].parameters(spec.name)}
    kept = {key: value for key, value in spec.parameters.items() if value != defaults.get(key)}
    return str(Spec(spec.name, kept))


def operators_of(algorithm: str) -> Sequence[str]:
    """Return the operators that an algorithm's portfolio may name."""
    import sys

    module = sys.modules[FAMILIES["algorithm"][algorithm].__module__]
    known = getattr(module, "OPERATORS", None)
    return tuple(known) if isinstance(known, Registry) else ()


def split_budget(budget: str) -> tuple[float, str]:
    """Return amount and unit of a budget with one limit.

    Examples
    --------
    >>> split_budget("1.5 kJ")
    (1500.0, 'J')
    """
    parsed = Budget.parse(budget)
    for value, unit in ((parsed.joules, "J"), (parsed.evaluations, "evaluations")):
        if value != float("inf"):
            return value, unit
    return parsed.seconds, "s"
