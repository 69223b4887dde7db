"""What the algorithms share: portfolios by name, and the paper's Δf."""

from __future__ import annotations

import inspect
import typing
from typing import Annotated, Any

from ..engine.kernel import kernel
from ..errors import InputError, nearest
from ..protocols import Operator
from ..registry import Range, Registry

# A change below this share of the fitness is rounding, not improvement.
NEGLIGIBLE = 1e-12


@kernel
def delta_of(new: float, old: float) -> float:
    """Return new − old, with rounding noise written as 0."""
    delta = new - old
    if abs(delta) <= NEGLIGIBLE * abs(old):
        return 0.0
    return delta


@kernel
def copy(target: Any, source: Any) -> None:
    """Copy an array, element by element."""
    for i in range(target.size):
        target[i] = source[i]


def portfolio(algorithm: str, names: str, known: Registry[Operator]) -> tuple[Any, ...]:
    """Build the operators that `names`, joined by '+', lists.

    Examples
    --------
    >>> portfolio("demo", "", Registry("demo operator"))
    Traceback (most recent call last):
    ...
    eij_core.errors.InputError: demo:operators = : expected at least one operator, joined by '+'
    """
    field = f"{algorithm}:operators"
    wanted = [name.strip() for name in names.split("+")]
    if wanted == [""]:
        raise InputError(field, names, "at least one operator, joined by '+'")
    for name in wanted:
        if name not in known:
            raise InputError(field, name, nearest(name, known))
    if len(set(wanted)) < len(wanted):
        raise InputError(field, names, "each operator once")
    return tuple(_operator(name, known[name]) for name in wanted)


def _operator(name: str, factory: Any) -> Any:
    """Make an operator; a plain function of a solution and random numbers is one itself."""
    from .plain import PlainOperator  # which needs this module

    needed = [p for p in inspect.signature(factory).parameters.values() if p.default is p.empty]
    if len(needed) == 2 and not isinstance(factory, type):
        return PlainOperator.of(factory, name)
    return factory()


def factory_of(
    name: str, algorithm: Any, known: Registry[Operator], operators: str, about: str
) -> Any:
    """Return a factory that takes the portfolio as text and all else as the class declares it.

    Parameters
    ----------
    name : str
        How users write the algorithm.
    algorithm : NamedTuple class
        Its first field is `operators`; the others are the factory's parameters.
    known : Registry
        The operators that a portfolio may name.
    operators : str
        The default portfolio.
    about : str
        What a portfolio may name, in words.
    """
    hints = typing.get_type_hints(algorithm, include_extras=True)
    hints["operators"] = Annotated[str, Range(about=f"names joined by +, from: {about}")]

    def factory(operators: Any = operators, *values: Any, **parameters: Any) -> Any:
        return algorithm(portfolio(name, operators, known), *values, **parameters)

    declared = inspect.signature(algorithm)
    first, *others = declared.parameters.values()
    parameters = [first.replace(default=operators), *others]
    factory.operators = known  # type: ignore[attr-defined]
    factory.__signature__ = declared.replace(parameters=parameters)  # type: ignore[attr-defined]
    factory.__annotations__ = hints
    factory.__doc__, factory.__module__ = algorithm.__doc__, algorithm.__module__
    factory.__name__ = factory.__qualname__ = name
    return factory
