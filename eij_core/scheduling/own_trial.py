"""The trial of somebody's own loop, as data: what its scheduler was made with."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any

from ..budget import Budget
from ..errors import InputError
from ..registry import Registry, Spec, meters, selectors
from ..trial import SCHEMA, Trial, import_list
from .own import TOLD, OwnProblem, Told, check_sense, loop_of, meter_of, names_of

OWN = {"problem": "own problem", "algorithm": "own loop"}
NUMBERS = ("seed", "repetition", "points", "every")


class OwnTrial(Trial):
    """A trial without a problem and an algorithm: operators, their forecasts and a sense instead.

    It describes the results and records of a `Scheduler`; it cannot be run by itself.

    Examples
    --------
    >>> trial = OwnTrial.of(["a", "b"], sense="min", meter="model", budget="5 J")
    >>> trial_from(trial.to_dict()) == trial
    True
    """

    __slots__ = ()

    @classmethod
    def of(
        cls, operators: Any, *, sense: str = "max", forecasts: Any = None, **parts: Any
    ) -> OwnTrial:
        """Return the trial of these operators; `parts` are those of `Trial`."""
        parts["meter"] = meter_of(parts["meter"])
        loop = loop_of(names_of(operators), forecasts or {})
        return cls(OwnProblem(check_sense(sense)), loop, **parts)

    @property
    def is_data(self) -> bool:
        """Whether rule and meter are named, so that the trial can be written down."""
        return None not in (self.settings()["selector"], self.settings()["meter"])

    def name_of(self, family: str) -> str:
        """Return the name of a component, for tables and titles."""
        if isinstance(getattr(self, family), Told):
            return TOLD
        return OWN.get(family) or super().name_of(family)

    def settings(self) -> dict[str, Any]:
        """Return the trial as plain data, with None for a rule or a meter that is an object."""
        loop, budget = self.algorithm, self.budget
        return {
            **OWN,
            "operators": [each.name for each in loop.operators],
            "forecasts": {each.name: list(each.takes) for each in loop.operators if len(each) > 1},
            "sense": self.problem.sense,
            "selector": _text(self.selector),
            "meter": _text(self.meter),
            "budget": str(budget),
            "charge_start": budget.charge_start,
            **{name: getattr(self, name) for name in NUMBERS},
            **({"target": self.target} if self.target else {}),
            **({"import": list(self.imports)} if self.imports else {}),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the trial as plain data."""
        if not self.is_data:
            raise InputError("trial", "objects", "a selector and a meter by name, to be written")
        return self.settings()

    @property
    def key(self) -> str:
        """The digest of the trial's canonical form: equal trials, equal keys."""
        data = self.to_dict()
        data.pop("import", None)
        text = f"{SCHEMA}\n{json.dumps(data, sort_keys=True, ensure_ascii=False)}"
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def arguments_of(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a scheduler from what `OwnTrial.settings` wrote."""
    names = ("operators", "forecasts", "sense", "selector", "meter", *NUMBERS)
    budget = Budget.parse(settings["budget"])
    budget = dataclasses.replace(budget, charge_start=settings["charge_start"])
    return {
        **{name: settings[name] for name in names},
        "budget": budget,
        "target": settings.get("target", ""),
    }


def trial_from(data: Any) -> Trial:
    """Read a trial, of our own loop or of somebody's, from what its `to_dict` wrote in a record."""
    if isinstance(data, dict) and "operators" in data:
        arguments, imports = arguments_of(data), import_list(data.get("import", []))
        named: dict[str, Registry[Any]] = {"selector": selectors, "meter": meters}
        for family, known in named.items():
            if arguments[family] != TOLD:
                arguments[family] = known.recall(arguments[family], imports)
        return OwnTrial.of(**arguments)
    return Trial.from_dict(data, stored=True)


def _text(component: Any) -> str | None:
    if isinstance(component, Told):
        return TOLD
    return str(component) if isinstance(component, Spec) else None
