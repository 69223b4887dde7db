"""What the algorithms share: portfolios by name, and the paper's Δf."""

from __future__ import annotations

from typing import Any

from ..errors import InputError, nearest
from ..kernel import kernel
from ..registry import Registry

__all__ = ["copy", "delta_of", "portfolio"]

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


def portfolio(algorithm: str, names: str, known: Registry) -> tuple[Any, ...]:
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
    return tuple(known[name]() for name in wanted)
