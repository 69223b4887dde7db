"""numba: the functions and classes that are marked `@kernel`, compiled to object files.

Only what is not compiled yet imports this module, because importing numba takes a second.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba
from numba import types
from numba.core.errors import NumbaError
from numba.extending import overload_method, register_jitable

from ...protocols import Outcome
from ..kernel import marked
from .cache import Compiled
from .digest import Digest, digest_of
from .layout import CannotCompile, Form, array_form, form_of, parts_of
from .numba_internals import (
    INLINED,
    OUTCOME,
    declared_functions,
    deltas_at,
    forget,
    load_record,
    object_code,
)
from .numba_runtime import needs_of


def compile_function(function: Callable[..., Any], frame: tuple[Any, ...]) -> tuple[Compiled, bool]:
    """Compile a function of one record, or of a record, an operator and its outcome.

    Tell, too, whether the code can be used by other processes.
    """
    _declare_marked()
    _forget_what_has_changed(function, frame)
    kind = numba.typeof(frame)
    if _form_of_type(kind) != form_of(frame):  # the struct would not be what the code reads
        raise CannotCompile(f"numba sees {type(frame).__name__} as {kind}, which is not its layout")

    def entry(address):  # type: ignore[no-untyped-def]
        return function(load_record(kind, address))

    def entry_of_outcome(address, o, gain, evaluations, touches, place, count):  # type: ignore[no-untyped-def]
        outcome = Outcome(gain, evaluations, touches, deltas_at(place, count))
        return function(load_record(kind, address), o, outcome)

    alone = len(inspect.signature(function).parameters) == 1
    dispatcher = numba.njit(**{**INLINED, "forceinline": False})(
        entry if alone else entry_of_outcome
    )
    try:
        dispatcher.compile((types.int64,) if alone else (types.int64, *OUTCOME))
    except NumbaError as error:
        raise CannotCompile(_gist_of(str(error))) from error
    (result,) = dispatcher.overloads.values()
    symbol, code = result.fndesc.llvm_func_name, object_code(result.library)
    needs = needs_of(declared_functions(result.library))
    form = _form_of_type(result.signature.return_type)
    return Compiled(symbol, form, needs, code), not result.library.has_dynamic_globals


_compiled: dict[Any, str] = {}
"""The digest of each function when it was compiled last in this process."""


def _forget_what_has_changed(function: Callable[..., Any], frame: tuple[Any, ...]) -> None:
    """Have everything compiled anew if a function names other values than when it was compiled.

    numba compiles a function once for each type of its arguments, and keeps the constants and the
    functions that it named then. Its code would be wrong, and would be cached as that of now.
    """
    digest = Digest()
    digest.add((function, *map(type, parts_of(frame))))
    now = {each: digest_of(each) for each in digest.functions}
    if any(_compiled.get(each, found) != found for each, found in now.items()):
        forget(_declared)
        _compiled.clear()
    _compiled.update(now)


SAYING = re.compile(
    r"Untyped global name|Unknown attribute|No implementation|[Uu]nsupported|Cannot |cannot |"
    r"Invalid use|not defined|Failed in"
)


def _gist_of(text: str) -> str:
    """Return the line of numba's message that says what is wrong, and the place in the source."""
    lines = [line.strip() for line in text.splitlines()]
    places = [i for i, line in enumerate(lines) if line.startswith('File "')]
    # The innermost place is the last; what is wrong there stands before it.
    last = places[-1] if places else len(lines)
    says = [line for line in lines[:last] if SAYING.search(line)] or lines[:1]
    gist = says[0] if "Untyped global name" not in text else _first(lines, "Untyped global name")
    if "class 'function'" in gist:
        gist += " (mark the function @kernel)"
    return f"{gist}\n{lines[last]}" if places else gist


def _first(lines: list[str], word: str) -> str:
    return next(line for line in lines if word in line)


def _form_of_type(kind: Any) -> Form:
    """Describe a type of numba as `layout.form_of` describes its values."""
    parts = kind
    if isinstance(kind, types.Array):
        dtype = numba.np.numpy_support.as_dtype(kind.dtype)
        return array_form(dtype, kind.ndim, kind.layout, kind.mutable, kind.aligned)
    if isinstance(kind, types.BaseTuple):
        name = getattr(kind, "instance_class", tuple).__qualname__
        return ["record", name, [_form_of_type(part) for part in parts]]
    if isinstance(kind, types.UnicodeType):
        return ["text"]
    if isinstance(kind, types.NoneType):
        return ["none"]
    return str(numba.np.numpy_support.as_dtype(kind))


# --- what is marked @kernel -----------------------------------------------------------------------


_declared: list[Callable[..., Any]] = []
"""What numba asks for the code of a marked function, or of a method."""
_declared_methods: set[str] = set()


def _declare_marked() -> None:
    """Tell numba of all functions and methods that were marked since the last call."""
    while marked:
        component = marked.pop(0)
        if isinstance(component, FunctionType):
            register_jitable(**INLINED)(component)
            _declared.append(component)
            continue
        for name, method in vars(component).items():
            if isinstance(method, FunctionType) and not name.startswith("_"):
                _declare_method(name, tuple(inspect.signature(method).parameters))


def _declare_method(name: str, arguments: tuple[str, ...]) -> None:
    """Tell numba that tuples have this method, found by the class of the tuple."""
    if name in _declared_methods:
        return
    _declared_methods.add(name)
    find = functools.partial(_find, name)

    def resolver(self: Any, *args: Any) -> Any:
        return find(self)

    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    resolver.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(argument, positional) for argument in arguments]
    )
    declare: Any = overload_method
    # On BaseTuple, not NamedTuple: there it would hide a *field* of the same name.
    declare(types.BaseTuple, name, strict=False, jit_options=INLINED)(resolver)
    _declared.append(resolver)


def _find(name: str, kind: Any) -> Any:
    return getattr(getattr(kind, "instance_class", None), name, None)
