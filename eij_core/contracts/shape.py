"""What an object must have to be taken as a component at all, checked where a trial takes it."""

from __future__ import annotations

from typing import Any

from ..engine.kernel import is_kernel
from ..errors import InputError, RunError

REQUIRED: dict[str, tuple[str, ...]] = {
    "problem": ("n", "fitness"),
    "algorithm": ("operators", "begin"),
    "selector": ("memory", "select", "learn", "belief"),
    "meter": ("attach",),
}
"""The hooks without which nothing runs; `eij_core.protocols` describes these and the others."""

EXAMPLES = dict(zip(REQUIRED, ("'nk:n=50'", "'ils'", "'eij-plus'", "'model'"), strict=True))
REMEDY = "a NamedTuple class marked @kernel (from eij_core.components import kernel)"
PLAIN = "PlainOperator.of(function) (from eij_core.components import PlainOperator)"
PORTFOLIO = "a tuple of one or more operators, each with a name of its own"


def family_of(value: object) -> str:
    """Return the family whose required hooks an object has; "" if it has those of none."""
    if isinstance(value, type):
        return ""
    for family, hooks in REQUIRED.items():
        if all(hasattr(value, hook) for hook in hooks):
            return family
    return ""


def require_component(family: str, value: Any) -> None:
    """Raise `InputError` unless the object can be a component of this family.

    Examples
    --------
    >>> require_component("problem", 3)
    Traceback (most recent call last):
    ...
    eij_core.errors.InputError: problem = 3: expected a name, such as 'nk:n=50', or an object \
with n and fitness
    """
    if isinstance(value, type):
        raise InputError(family, value.__name__, f"an object, not a class: {value.__name__}(…)")
    name = type(value).__name__
    if not all(hasattr(value, hook) for hook in REQUIRED[family]):
        actual = family_of(value)
        if actual:
            expected = f"{_a(family)}, but this is {_a(actual)}: give it as {actual}=…"
            raise InputError(family, name, expected)
        hooks = " and ".join(REQUIRED[family])
        shown = name if isinstance(value, tuple) else value
        expected = f"a name, such as {EXAMPLES[family]}, or an object with {hooks}"
        raise InputError(family, shown, expected)
    if family == "meter":
        return
    operators = getattr(value, "operators", ())
    if family == "algorithm" and (hasattr(operators, "_fields") or not operators):
        raise InputError(f"operators of {name}", operators, PORTFOLIO)
    for part in (value, *operators):
        if not is_kernel(type(part)):
            plain = callable(part) and hasattr(part, "__name__")
            raise InputError(family, part.__name__ if plain else type(part).__name__,
                             PLAIN if plain else REMEDY)  # fmt: skip
    names = [getattr(each, "name", "") for each in operators]
    named = all(isinstance(each, str) and each for each in names)
    if not named or len(set(names)) < len(names):
        raise InputError(f"operators of {name}", operators, PORTFOLIO)


def check_choice(name: str, operators: int, *, known: bool) -> None:
    """Raise `RunError` if a selector has chosen an operator that does not exist."""
    if not known:
        raise RunError(
            f"selector {name} chose an operator that the portfolio does not have; `select` must "
            f"return 0 to {operators - 1}, or -1 if none fits (`eij check` shows where)"
        )


def _a(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"
