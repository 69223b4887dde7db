"""What components promise, as code: trials, runs, authors and tests check the same."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from .shape import REQUIRED, family_of, require_component

__all__ = ["check_component", "family_of"]


def check_component(component: Any) -> list[str]:
    """Check a component against the contract that the project's own components keep.

    A problem's `fitness` is compared with `flip`, `toggle` and `preview` on random solutions; an
    algorithm is begun and each of its operators applied; a selector decides on scripted operators;
    a meter prices a short run. Nothing is compiled.

    Parameters
    ----------
    component : problem, algorithm, selector or meter
        An operator is checked in the portfolio of its algorithm.

    Returns
    -------
    list of str
        What is wrong, in words, the first fault of each hook; empty: the contract is kept.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from eij_core.components import kernel
    >>> @kernel
    ... class OneMax(NamedTuple):
    ...     n: int
    ...
    ...     def fitness(self, x):
    ...         return float(x.sum())
    >>> check_component(OneMax(20))
    []
    """
    family = family_of(component)
    if not family:
        expected = "; ".join(f"{name}: {', '.join(hooks)}" for name, hooks in REQUIRED.items())
        expected = f"an object with the hooks of a family ({expected})"
        if isinstance(component, type):
            expected = f"an object, not a class: {component.__name__}(…)"
        elif hasattr(component, "apply"):
            expected = "an algorithm that has this operator in its portfolio"
        raise InputError("component", component, expected)
    try:
        require_component(family, component)
    except InputError as error:
        return [str(error)]
    return _checks(family)(component)


def _checks(family: str) -> Any:
    # Imported here: they use components, whose modules are imported by trials, which import this.
    from .algorithm import check_algorithm
    from .meter import check_meter
    from .problem import check_problem
    from .selector import check_selector

    checks = (check_problem, check_algorithm, check_selector, check_meter)
    return dict(zip(REQUIRED, checks, strict=True))[family]
