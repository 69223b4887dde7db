"""The components that a page offers its visitors, as texts: `name:key=value`."""

from __future__ import annotations

from eij_core import InputError, Spec
from eij_core.trial import FAMILIES


def offered(family: str) -> list[str]:
    """Return the names of a family that visitors may use."""
    return FAMILIES[family].offered()


def fitting(problem: str) -> list[str]:
    """Return the algorithms that visitors may use on a problem, given as text."""
    space = FAMILIES["problem"].space(Spec.parse(problem).name)
    return [name for name in offered("algorithm") if FAMILIES["algorithm"].space(name) == space]


def offered_spec(family: str, written: str) -> Spec:
    """Parse a component given as text; raise `InputError` if visitors may not use it."""
    spec = Spec.parse(written)
    if spec.name not in offered(family):
        raise InputError(family, spec.name, f"one of {', '.join(offered(family))}")
    return spec


def check_offered(family: str, written: str) -> Spec:
    """Check a component given as text; raise `InputError` if it is wrong or private."""
    checked = FAMILIES[family].check(offered_spec(family, written))
    if family == "algorithm":
        FAMILIES[family].make(checked)  # costs nothing, and looks up the portfolio's operators
    return checked


def read_component(family: str, written: str) -> str:
    """Read a component from a link, where an unquoted + arrives as a space."""
    return brief(family, check_offered(family, written.replace(" ", "+")))


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


def operators_of(algorithm: str) -> tuple[str, ...]:
    """Return the operators that an algorithm's portfolio may name."""
    return tuple(FAMILIES["algorithm"].portfolio(algorithm) or ())
