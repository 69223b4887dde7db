"""Components are NamedTuples with methods; this module makes their methods callable for numba.

What the project needs of numba is here and, where numba does not document it, in
`numba_internals`. A class or function marked ``@kernel`` is plain
Python in numba's subset. Called from Python it is interpreted, called from compiled code it is
compiled, and both give the same result.

Why methods by type, and not functions as arguments: numba's disk cache never hits for a function
that takes or closes over another function. A method found by the type of its tuple is part of the
signature, and signatures are what the cache is keyed by.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeVar

import numba
import numpy as np
from numba import types
from numba.extending import overload_method, register_jitable

from .numba_internals import guard_cache

__all__ = ["compile_entry", "completed", "digest_of", "is_kernel", "jit_is_off", "kernel"]

log = logging.getLogger(__name__)

T = TypeVar("T")

PACKAGE = __name__.partition(".")[0]
DASHBOARD = Path(__file__).parents[2] / "app"
"""Its lessons have components of their own. Another package of that name is not the project's."""

# Division by zero gives inf or nan inside kernels, as numpy does: no hidden exception paths.
# Everything is inlined: records are passed field by field, so calls would cost more than the work.
JIT_OPTIONS: dict[str, Any] = {"error_model": "numpy", "forceinline": True}

_arguments: dict[str, tuple[tuple[str, ...], str]] = {}


def kernel(component: T) -> T:
    """Mark a NamedTuple class or a function as usable in compiled code.

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
    if isinstance(component, FunctionType):
        return register_jitable(**JIT_OPTIONS)(component)
    if not (isinstance(component, type) and issubclass(component, tuple)):
        raise TypeError(f"@kernel takes a NamedTuple class or a function, not {component!r}")
    if not getattr(component, "_fields", ()):
        raise TypeError(f"{component.__name__}: a kernel class needs at least one field")
    if hasattr(component, "fitness"):
        _complete_problem(component)
    for name, method in vars(component).items():
        if isinstance(method, FunctionType) and not name.startswith("_"):
            _register(component, name, method)
    component.__kernel__ = True  # type: ignore[attr-defined]
    return component


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


def _register(cls: Any, name: str, method: FunctionType) -> None:
    """Register the method name with numba, once, and hold every class to its argument names."""
    names = tuple(inspect.signature(method).parameters)
    known, owner = _arguments.setdefault(name, (names, cls.__qualname__))
    if names != known:
        raise TypeError(
            f"{cls.__qualname__}.{name}{names} must take the arguments {known}, as the first "
            f"definition of {owner}.{name} does: one vocabulary for all components. "
            f"Rename the method or its arguments (in a notebook: or restart the kernel)"
        )
    if owner != cls.__qualname__ or name in _registered:
        return
    _registered.add(name)
    # On BaseTuple, not NamedTuple: there it would hide a *field* of the same name.
    resolve = _resolve_apply if name == "apply" else functools.partial(_resolve, name)
    _overload(name, resolve, names)


_registered: set[str] = set()


def _overload(name: str, resolve: Callable[..., Any], arguments: tuple[str, ...]) -> None:
    """Tell numba that tuples have this method, and how to find it."""

    def resolver(self: Any, *args: Any) -> Any:
        return resolve(self, *args)

    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    resolver.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(argument, positional) for argument in arguments]
    )
    declare: Any = overload_method
    declare(types.BaseTuple, name, strict=False, jit_options=JIT_OPTIONS)(resolver)


def _resolve(name: str, self: Any, *args: Any) -> Any:
    return getattr(getattr(self, "instance_class", None), name, None)


# --- apply, compiled and cached by itself ---------------------------------------------------------
# An operator's apply takes most of the loop's compile time. Cached per (operator, algorithm,
# problem) it is compiled once, whatever selector and meter the loop around it has.


def _resolve_apply(self: Any, algorithm: Any, problem: Any, *rest: Any) -> Any:
    classes: list[Any] = [getattr(t, "instance_class", None) for t in (self, algorithm, problem)]
    if None in classes or not hasattr(classes[0], "apply"):
        return None
    entry = _apply_entry(digest_of(*classes))

    def apply(self, algorithm, problem, state, rng):  # type: ignore[no-untyped-def]
        return entry(self, algorithm, problem, state, rng)

    return apply


_overload(
    "apply_body",
    functools.partial(_resolve, "apply"),
    ("self", "algorithm", "problem", "state", "rng"),
)


@functools.cache
def _apply_entry(digest: str) -> Any:
    def apply(self, algorithm, problem, state, rng):  # type: ignore[no-untyped-def]
        digest  # noqa: B018  part of the cache key
        return self.apply_body(algorithm, problem, state, rng)

    return compile_entry(apply, digest)


# --- problems: the hooks that an author may leave out ---------------------------------------------


def _complete_problem(cls: type) -> None:
    """Give a problem with `fitness` alone the incremental methods, by full evaluation."""
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


# --- compiling, and a cache that is never stale ---------------------------------------------------


guard_cache()


def compile_entry(function: Callable[..., Any], digest: str) -> Any:
    """Compile a function that Python calls, without the GIL, cached on disk unless digest is ''."""
    options = {"nogil": True, **JIT_OPTIONS}
    if digest:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError as error:  # neither the package's folder nor the user's is writable
            log.warning(
                "kernels cannot be cached (set NUMBA_CACHE_DIR to a writable folder): %s", error
            )
    return numba.njit(**options)(function)


def jit_is_off() -> bool:
    """Tell whether numba is set not to compile (NUMBA_DISABLE_JIT=1, for coverage)."""
    return bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]


def digest_of(*classes: type) -> str:
    """Digest the sources that the components' code comes from; '' if any is not the project's.

    numba keys its cache by the file of the compiled function alone, so a changed `fitness` in
    another file would silently hit the old code. Entries therefore close over this digest.
    """
    names: set[str] = set()
    for cls in classes:
        if not _is_ours(cls.__module__):
            return ""
        names |= _modules_behind(cls.__module__)
    hasher = hashlib.blake2b(digest_size=16)
    for name in sorted(names):
        hasher.update(_source(name))
    return hasher.hexdigest()


@functools.cache
def _modules_behind(name: str) -> frozenset[str]:
    """Return the module and those of the project whose functions or classes it uses."""
    found = {name}
    todo = [name]
    while todo:
        for value in vars(sys.modules[todo.pop()]).values():
            used = value.__name__ if isinstance(value, ModuleType) else _home(value)
            if used not in found and used in sys.modules and _is_ours(used):
                found.add(used)
                todo.append(used)
    return frozenset(found)


@functools.cache
def _is_ours(name: str) -> bool:
    """Tell whether a module belongs to the project, so that all it uses of ours is known."""
    package = name.partition(".")[0]
    if package == DASHBOARD.name:
        file = getattr(sys.modules.get(name), "__file__", None)
        return file is not None and DASHBOARD in Path(file).parents
    return package == PACKAGE


def _home(value: Any) -> str:
    module = getattr(value, "__module__", None)
    return module if isinstance(module, str) else ""


@functools.cache
def _source(name: str) -> bytes:
    file = sys.modules[name].__file__
    return Path(file).read_bytes() if file else b""
