"""Infeasible phases: which rows of a run have no feasible solution yet."""

from __future__ import annotations

import functools
import typing
from typing import Any

from numpy.typing import NDArray

from eij_core import Spec
from eij_core.trial import FAMILIES


def has_constraints(problem: Any) -> bool:
    """Tell whether a problem, given by name or as an object, has infeasible solutions.

    Examples
    --------
    >>> has_constraints("knapsack"), has_constraints("nk"), has_constraints("of another program")
    (True, False, False)
    """
    if isinstance(problem, Spec):
        problem = problem.name
    return _by_name(problem) if isinstance(problem, str) else hasattr(problem, "feasible")


@functools.cache
def _by_name(name: str) -> bool:
    factories = FAMILIES["problem"]
    if name not in factories:
        return any(
            factory.__name__ != name and made.__name__ == name and hasattr(made, "feasible")
            for factory in factories.values()
            if (made := _made_by(factory)) is not None
        )
    return hasattr(_made_by(factories[name]), "feasible")


def _made_by(factory: Any) -> Any:
    if isinstance(factory, type):
        return factory
    return typing.get_type_hints(factory).get("return")


def infeasible_rows(rows: NDArray[Any], constrained: bool) -> int:
    """Return how many rows come before the first feasible solution.

    A penalty takes the fitness of a solution that breaks a constraint below zero. Just beyond the
    constraint it may not; there a recording cannot tell, and the row counts as feasible.
    """
    return int((rows["best"] < 0.0).sum()) if constrained else 0
