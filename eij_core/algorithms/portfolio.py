"""What the algorithms share: portfolios by name, and the paper's Δf."""

from __future__ import annotations

import inspect
import typing
from typing import Annotated, Any

from ..engine.kernel import kernel
from ..errors import InputError, nearest
from ..protocols import Operator
from ..registry import Range, Registry
from .arms import arms

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


def portfolio(
    algorithm: str, names: str, known: Registry[Operator], made: Any = None
) -> tuple[Any, ...]:
    """Build the operators that `names`, joined by '+', lists.

    `replace-1@flips=0.25` is an operator with a value of its own for a parameter of the algorithm,
    `made`, or for one of the operator; see `arms`.

    Examples
    --------
    >>> portfolio("demo", "", Registry("demo operator"))
    Traceback (most recent call last):
    ...
    eij_core.errors.InputError: demo:operators = : expected at least one operator, joined by '+'
    """
    field = f"{algorithm}:operators"
    if not names.strip():
        raise InputError(field, names, "at least one operator, joined by '+'")
    operators: list[Any] = []
    for part in names.split("+"):
        name, *settings = (each.strip() for each in part.split("@"))
        if name not in known:
            raise InputError(field, name, nearest(name, known))
        operator = _operator(name, known[name])
        operators += arms(operator, settings, made, field) if settings else [operator]
    if len({operator.name for operator in operators}) < len(operators):
        raise InputError(field, names, "each operator once, or each with other values")
    return tuple(operators)


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
    words = f"names joined by +, from: {about}; with a value of its own: NAME@KEY=VALUE"
    hints["operators"] = Annotated[str, Range(about=words)]
    hints["return"] = algorithm

    def factory(operators: Any = operators, *values: Any, **parameters: Any) -> Any:
        made = algorithm((), *values, **parameters)
        return made._replace(operators=portfolio(name, operators, known, made))

    declared = inspect.signature(algorithm)
    first, *others = declared.parameters.values()
    parameters = [first.replace(default=operators), *others]
    factory.operators = known  # type: ignore[attr-defined]
    factory.__signature__ = declared.replace(parameters=parameters)  # type: ignore[attr-defined]
    factory.__annotations__ = hints
    factory.__doc__, factory.__module__ = algorithm.__doc__, algorithm.__module__
    factory.__name__ = factory.__qualname__ = name
    return factory
