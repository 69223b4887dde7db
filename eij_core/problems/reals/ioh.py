"""Problems of the package `ioh`, interpreted: BBOB on real numbers, and functions of bits."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from ...engine.kernel import kernel
from ...errors import InputError, check_known
from ...registry import Range, problems

EXTRA = "the package ioh: pip install 'eij[ioh]'"
Instance = Annotated[int, Range(1, 2**31 - 1, "number of the instance")]


@kernel(space="real", sense="min")
class IohReal(NamedTuple):
    """A function of `ioh` on real numbers, minimised."""

    n: int
    function: Callable[[Any], float]
    low: float
    high: float
    optimum: float

    @property
    def interpreted(self) -> bool:
        """Always true: numba cannot compile another package's function."""
        return True

    def fitness(self, x: Any) -> float:
        """Evaluate."""
        return float(self.function(x))


@kernel
class IohBits(NamedTuple):
    """A function of `ioh` on bits, maximised."""

    n: int
    function: Callable[[Any], float]
    optimum: float

    @property
    def interpreted(self) -> bool:
        """Always true: numba cannot compile another package's function."""
        return True

    def fitness(self, x: Any) -> float:
        """Evaluate."""
        return float(self.function(x.tolist()))


def _package(field: str, value: Any) -> Any:
    """Return the package, or say that it is missing."""
    try:
        return importlib.import_module("ioh")
    except ImportError:
        raise InputError(field, value, EXTRA) from None


def _optimum(made: Any) -> float:
    """Return the best value, where the package knows a solution that has it; else nan."""
    best = float(made.optimum.y)
    known = math.isfinite(best) and float(made(made.optimum.x)) == best
    made.reset()
    return best if known else math.nan


@problems.add("bbob", private=True)
def bbob(
    function: Annotated[int, Range(1, 24, "number of the function in BBOB")] = 1,
    n: Annotated[int, Range(2, 1000, "number of coordinates")] = 20,
    instance: Instance = 1,
) -> IohReal:
    """BBOB, the 24 noiseless functions of COCO, by the package ioh; interpreted."""
    package = _package("bbob:function", function)
    made = package.get_problem(function, instance, n, package.ProblemClass.BBOB)
    return IohReal(n, made, -5.0, 5.0, float(made.optimum.y))


@problems.add("ioh", private=True)
def ioh(
    function: Annotated[str, Range(about="name of a pseudo-Boolean function of ioh")] = "OneMax",
    n: Annotated[int, Range(1, 100_000, "number of bits")] = 100,
    instance: Instance = 1,
) -> IohBits:
    """Any pseudo-Boolean function of the package ioh (PBO); interpreted."""
    package = _package("ioh:function", function)
    suite = package.ProblemClass.PBO
    check_known("ioh:function", function, suite.problems.values())
    made = package.get_problem(function, instance, n, suite)
    return IohBits(n, made, _optimum(made))
