"""The digest of all code behind compiled components, whoever wrote them.

It goes by what a function is, not by the file it stands in: its bytecode and constants, and the
functions, classes and values that it names, wherever they come from. So it works for modules,
scripts and notebook cells alike, and changes with a helper function or a global constant.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

LIBRARIES = {*sys.stdlib_module_names, "numpy", "scipy", "numba", "llvmlite"} - {"__main__"}
"""Packages that are known by their version, which is part of every key of the cache."""

PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic)


class Digest:
    """Takes in values; two digests are equal if compiled code cannot tell the values apart.

    Examples
    --------
    >>> scale = 2
    >>> def double(x):
    ...     return scale * x
    >>> before = digest_of(double)
    >>> scale = 3
    >>> digest_of(double) == before
    False
    """

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=16)
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no two values that were seen share an id
        self.classes: dict[str, type] = {}
        """The NamedTuple classes that were met, by qualified name."""
        self.functions: list[FunctionType] = []
        """The functions that were met, methods among them."""

    @property
    def text(self) -> str:
        """The digest of all that was taken in."""
        return self._hash.hexdigest()

    def add(self, value: Any) -> None:
        """Take in a value, and what it refers to."""
        if isinstance(value, PLAIN):
            self._write(type(value).__name__, repr(value))
        elif id(value) in self._seen:
            self._write("again", str(self._seen[id(value)]))
        else:
            self._seen[id(value)] = len(self._seen)
            self._kept.append(value)
            self._add_compound(value)

    def _write(self, *words: str) -> None:
        for word in words:
            data = word.encode("utf-8", "surrogatepass")
            self._hash.update(b"%d:" % len(data))
            self._hash.update(data)

    def _add_compound(self, value: Any) -> None:
        source = getattr(value, "py_func", value)  # of a function that numba has compiled
        if isinstance(source, FunctionType) and not _is_library(source):
            self._add_function(source)
        elif isinstance(value, CodeType):
            self._add_code(value)
        elif isinstance(value, type):
            self._add_class(value)
        elif isinstance(value, np.ndarray):
            self._write("array", value.dtype.str, str(value.shape))
            self._hash.update(np.ascontiguousarray(value).tobytes())
        elif isinstance(value, tuple | list):
            self._write(type(value).__name__, str(len(value)))
            for part in value:
                self.add(part)
        elif isinstance(value, frozenset):
            self._write("set", *sorted(map(repr, value)))
        else:
            self._write(type(value).__qualname__, _name_of(value))

    def _add_function(self, function: FunctionType) -> None:
        self.functions.append(function)
        self._write("function", function.__name__)
        self._add_code(function.__code__)
        self.add(function.__defaults__)
        for cell in function.__closure__ or ():
            try:
                self.add(cell.cell_contents)
            except ValueError:  # a name that is bound later
                self._write("unbound")
        for name in _globals_in(function.__code__):
            if name in function.__globals__:
                value = function.__globals__[name]
                self._write("global", name)
                self.add(value)
                if isinstance(value, ModuleType) and not _is_library(value):
                    self._add_attributes(value, sorted(_names_in(function.__code__)))

    def _add_attributes(self, module: ModuleType, names: list[str]) -> None:
        """Take in what a function may use of a module: every attribute whose name it mentions."""
        for name in names:
            if hasattr(module, name):
                self._write("attribute", name)
                self.add(getattr(module, name))

    def _add_code(self, code: CodeType) -> None:
        self._write(str(code.co_argcount), *code.co_names, *code.co_varnames, *code.co_freevars)
        self._hash.update(code.co_code)
        for constant in code.co_consts:
            self.add(constant)

    def _add_class(self, cls: type) -> None:
        self._write("class", _name_of(cls))
        if issubclass(cls, enum.Enum):
            self._write(*(f"{member.name}={member.value!r}" for member in cls))
        if not (issubclass(cls, tuple) and hasattr(cls, "_fields")):
            return
        self.classes[cls.__qualname__] = cls
        self._write(*cls._fields)
        for base in cls.__mro__[: cls.__mro__.index(tuple)]:
            for name, method in sorted(vars(base).items()):
                if isinstance(method, FunctionType) and not name.startswith("_"):
                    self._write("method", name)
                    self.add(method)


def digest_of(*values: Any) -> str:
    """Return the digest of functions, classes and values."""
    digest = Digest()
    digest.add(values)
    return digest.text


@functools.cache
def _globals_in(code: CodeType) -> list[str]:
    """Return the global names that a function reads, in those defined in it too."""
    reads = {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}
    inner = [_globals_in(each) for each in code.co_consts if isinstance(each, CodeType)]
    return sorted(reads.union(*inner))


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _is_library(value: Any) -> bool:
    if isinstance(value, BuiltinFunctionType):
        return True
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
    return _is_library_name(name or "")


@functools.cache
def _is_library_name(name: str) -> bool:
    return name.partition(".")[0] in LIBRARIES


def _name_of(value: Any) -> str:
    module = getattr(value, "__module__", "")
    return f"{module}.{getattr(value, '__qualname__', getattr(value, '__name__', ''))}"
