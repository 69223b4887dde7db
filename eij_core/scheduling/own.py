"""What stands in a trial for the user's own problem, loop, operators and meter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..engine.kernel import kernel
from ..errors import InputError, RunError, check_known
from ..meters.meter import CompiledMeter, priced
from ..meters.settlement.counted import Counted
from ..protocols import EnergyInfo, Forecast, Provenance

SENSES = ("max", "min")
TOLD = "told"
"""The name of the meter whose Joules come with every step."""


def _elsewhere() -> NoReturn:
    raise RunError("the steps of this trial are made in its user's own loop: use a Scheduler")


@kernel
class OwnProblem(NamedTuple):
    """The problem of somebody's own loop, of which only the sense is known."""

    sense: str
    n: int = 0

    def fitness(self, x: Any) -> float:
        """Refuse: solutions are evaluated in the user's loop."""
        _elsewhere()


@kernel
class OwnOperator(NamedTuple):
    """An operator that is applied in somebody's own loop."""

    name: str


@kernel
class ForecastOperator(NamedTuple):
    """An operator of somebody's own loop, with what one application takes."""

    name: str
    takes: Forecast

    def forecast(self, algorithm: Any, problem: Any) -> Forecast:
        """Return what one application takes."""
        return self.takes

    def apply(self, algorithm: Any, problem: Any, state: Any, rng: Any) -> Any:
        """Refuse: operators are applied in the user's loop."""
        _elsewhere()


@kernel
class OwnLoop(NamedTuple):
    """Somebody's own loop."""

    operators: tuple[Any, ...]

    def begin(self, problem: Any, rng: Any) -> Any:
        """Refuse: the search begins in the user's loop."""
        _elsewhere()


class Told(NamedTuple):
    """A meter that charges what it is told: Joules of workers, of a GPU, of a bill."""

    provenance: Provenance = Provenance.ESTIMATED

    @property
    def info(self) -> EnergyInfo:
        """Say how these Joules are known."""
        return EnergyInfo(TOLD, self.provenance, notes=("Joules as the user's loop tells them",))

    def attach(self, problem: str, algorithm: str, operators: tuple[Any, ...]) -> CompiledMeter:
        """Return a compiled meter that knows no price."""
        size = len(operators) + 1
        return priced(np.zeros(size), np.zeros(size), 0.0, 0.0)


def check_sense(sense: str) -> str:
    """Return the sense of an objective: "max" or "min"."""
    check_known("sense", sense, SENSES)
    return sense


def names_of(operators: Iterable[str | Callable[..., Any]]) -> tuple[str, ...]:
    """Return the names of operators, which are names or callables.

    Examples
    --------
    >>> names_of(["2-opt", sorted])
    ('2-opt', 'sorted')
    """
    if isinstance(operators, str):
        raise InputError("operators", operators, "a list of names or callables")
    names = tuple(
        each if isinstance(each, str) else str(getattr(each, "__name__", type(each).__name__))
        for each in operators
    )
    if not names or not all(names) or len(set(names)) < len(names):
        wanted = "one or more operators, each with a name of its own (a callable has `__name__`)"
        raise InputError("operators", list(names), wanted)
    return names


def loop_of(names: tuple[str, ...], forecasts: Mapping[str, Forecast]) -> OwnLoop:
    """Return the loop of these operators; forecasts say what an application of some takes."""
    for name in forecasts:
        check_known("forecasts", name, names)
    known = {name: Forecast(*forecast) for name, forecast in forecasts.items()}
    return OwnLoop(
        tuple(
            ForecastOperator(name, known[name]) if name in known else OwnOperator(name)
            for name in names
        )
    )


def meter_of(meter: Any) -> Any:
    """Return what a trial takes for a meter: a counter is settled, "told" is charged as told."""
    if meter == TOLD:
        return Told()
    return Counted(meter) if hasattr(meter, "read_uj") else meter


def bits_of(solution: Any) -> NDArray[np.uint8]:
    """Return a solution's bits, as results hold them; none of a solution that is no bit string.

    Examples
    --------
    >>> bits_of([0, 1, 1]).tolist(), bits_of([3, 1, 2]).tolist()
    ([0, 1, 1], [])
    """
    numbers = numbers_of(solution)
    if numbers is None or numbers.ndim != 1 or numbers.dtype.kind == "f":
        return np.zeros(0, np.uint8)
    return numbers.astype(np.uint8) if np.isin(numbers, (0, 1)).all() else np.zeros(0, np.uint8)


def numbers_of(solution: Any) -> NDArray[Any] | None:
    """Return a solution as an array of numbers; None if it is no such thing."""
    if not isinstance(solution, np.ndarray | list | tuple):
        return None
    try:
        numbers = np.asarray(solution)
    except ValueError:  # of lists of unequal length
        return None
    return numbers if numbers.dtype.kind in "biuf" else None
