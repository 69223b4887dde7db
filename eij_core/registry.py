"""Names of components: `name:key=value,…` on the command line, in files, URLs and widgets.

A factory is an ordinary function or a NamedTuple class. Its signature *is* the declaration of its
parameters: annotations give the type, `Annotated[int, Range(1, 100)]` the range, the default the
default. The command line, the dashboard's widgets and the error messages all read it.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import sys
import typing
from collections import UserDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

from .errors import InputError, nearest
from .imports import NOWHERE, imported
from .ranges import FILE_BYTES as FILE_BYTES
from .ranges import Code as Code
from .ranges import Digest as Digest
from .ranges import Range as Range
from .ranges import read_file as read_file
from .spec import Absent as Absent
from .spec import Spec as Spec

if TYPE_CHECKING:
    from .protocols import Algorithm, Operator, Problem, Selector, SimulatedMeter

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Parameter:
    """One parameter of a component, as its factory's signature declares it."""

    name: str
    kind: type
    default: Any
    range: Range = field(default_factory=Range)
    choices: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """Say in words which values are accepted."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.kind is bool:
            return "true or false"
        if self.kind in (int, float):
            number = "a whole number" if self.kind is int else "a number"
            return f"{number}, {self.range}" if self.range.bounded else number
        return self.range.about or "a text without commas or blanks around it"

    def check(self, value: Any, where: str) -> Any:
        """Convert a value (or its text) to this parameter's type, or raise `InputError`."""
        label = f"{where}:{self.name}"
        try:
            converted = self._convert(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(label, value, self.expected) from None
        if self.choices and converted not in self.choices:
            raise InputError(label, value, nearest(str(value), self.choices))
        number = isinstance(converted, int | float) and not isinstance(converted, bool)
        if number and not (abs(converted) < math.inf and converted in self.range):
            raise InputError(label, value, self.expected)
        return converted

    def _convert(self, value: Any) -> Any:
        if self.kind is bool:
            if isinstance(value, bool):
                return value
            word = str(value).lower()
            if word not in ("true", "on", "false", "off"):
                raise ValueError
            return word in ("true", "on")
        if self.kind in (int, float):
            fraction = self.kind is int and isinstance(value, float) and value != int(value)
            if fraction or isinstance(value, bool) or "_" in str(value):
                raise ValueError
            return self.kind(value)
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise TypeError
        text = str(value)
        if "," in text or text != text.strip() or not text.isprintable():
            raise ValueError  # it would not survive being written as key=value and read again
        return text


class Registry(UserDict[str, Callable[..., T]]):
    """The factories of one family, by name; a name is registered once.

    The package `home` registers its factories; it is imported when a name is first asked for, and
    so are the owner's plugins (`eij_core.plugins`).

    Examples
    --------
    >>> shapes = Registry("shape")
    >>> @shapes.add("square")
    ... def square(side: typing.Annotated[int, Range(1, 9, "length of a side")] = 2):
    ...     return side * side
    >>> shapes.make("square:side=3")
    9
    >>> shapes.make("sqare")
    Traceback (most recent call last):
    ...
    eij_core.errors.InputError: shape = sqare: expected one of square (did you mean 'square'?)
    """

    def __init__(self, family: str, home: str = "") -> None:
        self.family = family
        self._home = home
        self._factories: dict[str, Callable[..., T]] = {}
        self._private: set[str] = set()
        self._origins: dict[str, str] = {}

    def add(self, name: str, *, private: bool = False) -> Callable[[F], F]:
        """Register a factory under a name (a decorator); the same one again changes nothing.

        Parameters
        ----------
        name : str
            How users write it.
        private : bool
            Whether it may run the user's own code or read the user's files: the dashboard and
            links never offer it.
        """
        origin = sys._getframe(1).f_globals.get("__name__", "")

        def decorate(factory: F) -> F:
            self._load_home()  # not the plugins, which this may be one of
            known = self._factories.get(name)
            if known is not None and not _is_same(known, factory):
                raise ValueError(f"there is a {self.family} named {name!r} already")
            self._factories[name], self._origins[name] = factory, origin
            if private:
                self._private.add(name)
            return factory

        return decorate

    def remove(self, name: str) -> None:
        """Forget a name, so that a notebook cell can be run again."""
        self.data.pop(name, None)
        self._private.discard(name)

    def origin(self, name: str) -> str:
        """Return the module of somebody's own that registered a name; "" for one of ours."""
        module = self._origins.get(name, "") if name in self else ""
        return "" if module.partition(".")[0] == __package__ else module

    def imports(self, spec: Spec) -> tuple[str, ...]:
        """Return the modules of somebody's own that a checked spec needs, by name."""
        if isinstance(spec, Absent):
            return spec.imports
        found = [self.origin(spec.name), *self._called(spec)]
        found += [known.origin(name) for known, name in self._operators(spec)]
        return tuple(dict.fromkeys(name for name in found if name and name not in NOWHERE))

    def recall(self, text: Spec | str, imports: Iterable[str] = ()) -> Spec:
        """Read a spec out of a store or a record, which were made with these imports.

        What is not registered here, or calls code that nobody has imported here, is absent.
        """
        spec = Spec.parse(text) if isinstance(text, str) else text
        if spec.name in self:
            spec = self.check(spec)
            called = all(module in imported for module in self._called(spec))
            if called and all(name in known for known, name in self._operators(spec)):
                return spec
        return Absent(spec.name, spec.parameters, tuple(imports))

    def portfolio(self, name: str) -> Registry[Any] | None:
        """Return the operators that an algorithm's portfolio may name; None of anything else."""
        return getattr(self[name], "operators", None)

    def _operators(self, spec: Spec) -> list[tuple[Registry[Any], str]]:
        """Return the operators of an algorithm's portfolio, each with where it is registered."""
        portfolio = self.portfolio(spec.name)
        if portfolio is None:
            return []
        names = str(spec.parameters["operators"]).split("+")
        return [(portfolio, name.strip()) for name in names]

    def _called(self, spec: Spec) -> list[str]:
        """Return the modules whose functions a spec names."""
        marked = (each for each in self.parameters(spec.name) if isinstance(each.range, Code))
        return [str(spec.parameters[each.name]).rpartition(".")[0] for each in marked]

    def is_private(self, name: str) -> bool:
        """Tell whether links and the dashboard leave this component out."""
        return name in self and name in self._private

    def offered(self) -> list[str]:
        """Return what the dashboard and links offer: not private, and each parameter has a default.

        Examples
        --------
        >>> "nk" in problems.offered(), "knapsack-file" in problems.offered()
        (True, False)
        """

        def is_complete(name: str) -> bool:
            return all(p.default is not inspect.Parameter.empty for p in self.parameters(name))

        return [name for name in self if not self.is_private(name) and is_complete(name)]

    @property
    def data(self) -> dict[str, Callable[..., T]]:  # type: ignore[override]
        """The factories; no flag says that they are there: a second thread waits for the import."""
        self._load_home()
        importlib.import_module(".plugins", __package__)
        return self._factories

    def _load_home(self) -> None:
        if self._home:
            importlib.import_module(self._home, __package__)

    def __missing__(self, name: str) -> Callable[..., T]:
        raise InputError(self.family, name, nearest(name, self))

    def about(self, name: str) -> str:
        """Return the first line of the component's documentation."""
        return (inspect.getdoc(self[name]) or "").partition("\n")[0]

    def space(self, name: str) -> str:
        """Return the space that a component is made for, as its class says; bits by default."""
        made = self[name] if inspect.isclass(self[name]) else _hints(self[name]).get("return")
        return str(getattr(made, "space", "bits"))

    def of_space(self, space: str) -> list[str]:
        """Return the names of the components for a space."""
        return [name for name in self if self.space(name) == space]

    def parameters(self, name: str) -> tuple[Parameter, ...]:
        """Return the parameters that the factory's signature declares."""
        return parameters_of(self[name])

    def check(self, spec: Spec | str) -> Spec:
        """Return the spec with every parameter checked and typed, defaults filled in."""
        spec = Spec.parse(spec) if isinstance(spec, str) else spec
        if isinstance(spec, Absent):
            return spec
        known = {parameter.name: parameter for parameter in self.parameters(spec.name)}
        for key, value in spec.parameters.items():
            if key not in known:
                expected = nearest(key, known) if known else "no parameters"
                raise InputError(f"{spec.name}:{key}", value, expected)
        filled: dict[str, Any] = {}
        for key, parameter in known.items():
            if key in spec.parameters:
                filled[key] = parameter.check(spec.parameters[key], spec.name)
            elif parameter.default is inspect.Parameter.empty:
                raise InputError(f"{spec.name}:{key}", "(missing)", parameter.expected)
            else:
                filled[key] = parameter.default
        for key, parameter in known.items():
            if isinstance(parameter.range, Digest) and not filled[key]:
                filled[key] = parameter.range.fill(filled, spec.name)
        return Spec(spec.name, filled)

    def identity(self, spec: Spec) -> Spec:
        """Return a checked spec without the paths whose content it has the digest of."""
        if isinstance(spec, Absent):
            return spec
        marks = (parameter.range for parameter in self.parameters(spec.name))
        places = {mark.of for mark in marks if isinstance(mark, Digest)}
        kept = {key: value for key, value in spec.parameters.items() if key not in places}
        return Spec(spec.name, kept)

    def make(self, spec: Spec | str) -> T:
        """Build the component that a spec names."""
        spec = self.check(spec)
        if isinstance(spec, Absent):
            raise spec.refuse(self.family)
        return self[spec.name](**spec.parameters)


def _is_same(known: Callable[..., Any], new: Callable[..., Any]) -> bool:
    """Tell whether two factories are one, or one definition in a module that was loaded again."""
    if known is new:
        return True
    places = [(each.__module__, getattr(each, "__qualname__", "")) for each in (known, new)]
    try:
        return places[0] == places[1] and inspect.getsource(known) == inspect.getsource(new)
    except (OSError, TypeError):  # no source
        return False


@functools.lru_cache  # a campaign asks this for each component of each trial
def parameters_of(factory: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return the parameters that a factory, or a NamedTuple class, declares by its signature."""
    hints = _hints(factory)
    declared = inspect.signature(factory).parameters
    return tuple(_parameter(declared[key], hints.get(key, str)) for key in declared)


@functools.lru_cache
def _hints(factory: Callable[..., Any]) -> dict[str, Any]:
    return typing.get_type_hints(factory, include_extras=True)


def _parameter(parameter: inspect.Parameter, hint: Any) -> Parameter:
    range_ = Range()
    if get_origin(hint) is typing.Annotated:
        hint, *extras = get_args(hint)
        range_ = next((extra for extra in extras if isinstance(extra, Range)), range_)
    choices: tuple[str, ...] = ()
    if get_origin(hint) is Literal:
        choices, hint = get_args(hint), str
    kind = hint if hint in (bool, int, float) else str
    return Parameter(parameter.name, kind, parameter.default, range_, choices)


def operators(algorithm: str) -> Registry[Operator]:
    """Return the operators that an algorithm's portfolio may name: add your own, `Registry.add`.

    Examples
    --------
    >>> "flip-1" in operators("ils")
    True
    """
    known = algorithms.portfolio(algorithm)
    if known is None:
        raise InputError("algorithm", algorithm, "one whose portfolio is named, such as ils")
    return known


problems: Registry[Problem] = Registry("problem", ".problems")
algorithms: Registry[Algorithm] = Registry("algorithm", ".algorithms")
selectors: Registry[Selector] = Registry("selector", ".selectors")
meters: Registry[SimulatedMeter] = Registry("meter", ".meters")

FAMILIES: dict[str, Registry[Any]] = {
    known.family: known for known in (problems, algorithms, selectors, meters)
}
"""The registries by the name of their family; the families' packages fill them."""
