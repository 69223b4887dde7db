"""Components are NamedTuples with methods; `@kernel` marks what compiled code may use of them.

A class or function marked ``@kernel`` is plain Python in numba's subset. Called from Python it is
interpreted, called from compiled code it is compiled, and both give the same result. Marking does
not import numba: `compiler` takes what is marked when there is something to compile.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, overload

import numpy as np

T = TypeVar("T")

SPACES, SENSES = ("bits", "permutation", "real"), ("max", "min")

marked: list[Any] = []
"""Functions and classes that the compiler has not seen yet; it takes them from here."""
_arguments: dict[str, tuple[tuple[str, ...], str]] = {}


@overload
def kernel(component: T) -> T: ...


@overload
def kernel(*, space: str = ..., sense: str = ...) -> Callable[[T], T]: ...


def kernel(component: Any = None, *, space: str = "", sense: str = "") -> Any:
    """Mark a NamedTuple class or a function as usable in compiled code.

    `@kernel(space="permutation", sense="min")` says of a problem what a solution is ("bits",
    "permutation" or "real"; bits where nothing is said) and that its fitness is minimised, of an
    algorithm which solutions it makes.

    The class must have at least one field, and a method must have the same argument names in
    every class that has it: one vocabulary, checked here, at import.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> @kernel
    ... class Ones(NamedTuple):
    ...     n: int
    ...
    ...     def fitness(self, x):
    ...         return float(x.sum())
    >>> import numpy as np
    >>> Ones(3).fitness(np.array([1, 0, 1], np.uint8))
    2.0
    """
    if component is None:
        return functools.partial(_mark_in_space, space=space, sense=sense)
    if isinstance(component, FunctionType):
        marked.append(component)
        return component
    if not (isinstance(component, type) and issubclass(component, tuple)):
        raise TypeError(f"@kernel takes a NamedTuple class or a function, not {component!r}")
    if not getattr(component, "_fields", ()):
        raise TypeError(f"{component.__name__}: a kernel class needs at least one field")
    if hasattr(component, "fitness"):
        _complete_problem(component)
    for name, method in vars(component).items():
        if isinstance(method, FunctionType) and not name.startswith("_"):
            _check_arguments(component, name, method)
    marked.append(component)
    component.__kernel__ = True  # type: ignore[attr-defined]
    return component


def _mark_in_space(component: Any, space: str, sense: str) -> Any:
    known = (("space", space, SPACES), ("sense", sense, SENSES))
    for name, value, values in known:
        if value and value not in values:
            raise TypeError(f"@kernel: {name} = {value!r}, expected one of {', '.join(values)}")
        if value:
            setattr(component, name, value)
    return kernel(component)


def completed(**methods: Callable[..., Any]) -> Callable[[T], T]:
    """Return a decorator that adds the methods which a class does not have itself."""

    def complete(component: T) -> T:
        for name, method in methods.items():
            if not hasattr(component, name):
                _adopt(component, name, method)
        return component

    return complete


def _adopt(cls: Any, name: str, function: Any) -> None:
    """Give a class a method of its own, so that tracebacks and help name it after the class."""
    code, closure = function.__code__, function.__closure__
    method = FunctionType(code, function.__globals__, name, function.__defaults__, closure)
    method.__doc__ = function.__doc__
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    setattr(cls, name, method)


def is_kernel(cls: type) -> bool:
    """Tell whether a class, or one that it inherits from, is marked `@kernel`."""
    return getattr(cls, "__kernel__", False)


def _check_arguments(cls: Any, name: str, method: FunctionType) -> None:
    """Hold every class to the argument names that a method had where it was seen first."""
    names = tuple(inspect.signature(method).parameters)
    known, owner = _arguments.setdefault(name, (names, cls.__qualname__))
    if names != known:
        raise TypeError(
            f"{cls.__qualname__}.{name}{names} must take the arguments {known}, as the first "
            f"definition of {owner}.{name} does: one vocabulary for all components. "
            f"Rename the method or its arguments (in a notebook: or restart the kernel)"
        )


# --- problems: the hooks that an author may leave out ---------------------------------------------


def _complete_problem(cls: type) -> None:
    """Give a problem with `fitness` alone the incremental methods, by full evaluation."""
    if getattr(cls, "space", "bits") == "permutation":
        from .order_hooks import HOOKS  # here, because its functions are marked by this module

        completed(prepare=_prepare, **HOOKS)(cls)
        return
    if getattr(cls, "space", "bits") == "real":
        completed(bounds=_bounds)(cls)
        return
    if not hasattr(cls, "flip"):
        for name, method in (("prepare", _prepare), ("flip", _flip), ("toggle", _toggle)):
            _adopt(cls, name, method)
    completed(toggle=_toggle_by_flip, preview=_preview, reach=_reach)(cls)


def _prepare(self, x):  # type: ignore[no-untyped-def]
    """Return an empty memo: this problem evaluates in full."""
    return np.zeros(1, np.int64)


def _flip(self, x, memo, i):  # type: ignore[no-untyped-def]
    """Flip bit `i` and evaluate in full."""
    x[i] ^= 1
    return self.fitness(x)


def _toggle(self, x, memo, i):  # type: ignore[no-untyped-def]
    """Flip bit `i` without evaluating."""
    x[i] ^= 1


def _toggle_by_flip(self, x, memo, i):  # type: ignore[no-untyped-def]
    """Flip bit `i`; the value is not asked for."""
    self.flip(x, memo, i)


def _preview(self, x, memo, bits, count):  # type: ignore[no-untyped-def]
    """Flip the first `count` positions of `bits`, evaluate, and flip them back."""
    for j in range(1, count):
        self.toggle(x, memo, bits[j])
    f = self.flip(x, memo, bits[0])
    for j in range(count):
        self.toggle(x, memo, bits[j])
    return f


def _reach(self):  # type: ignore[no-untyped-def]
    """Return 0: what a preview costs is not known."""
    return 0


def _bounds(self):  # type: ignore[no-untyped-def]
    """Return the least and the largest value of a coordinate, which are fields."""
    return self.low, self.high


# --- the switch -----------------------------------------------------------------------------------


def jit_is_off() -> bool:
    """Tell whether nothing is to be compiled (NUMBA_DISABLE_JIT=1, for coverage)."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
