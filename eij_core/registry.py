"""Names of components: `name:key=value,…` on the command line, in files, URLs and widgets.

A factory is an ordinary function or a NamedTuple class. Its signature *is* the declaration of its
parameters: annotations give the type, `Annotated[int, Range(1, 100)]` the range, the default the
default. The command line, the dashboard's widgets and the error messages all read it.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import math
import stat
import typing
from collections import UserDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

from .errors import InputError, nearest

if TYPE_CHECKING:
    from .protocols import Algorithm, Problem, Selector, SimulatedMeter

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

FILE_BYTES = 5_000_000
"""The largest file that a component reads."""


@dataclass(frozen=True)
class Range:
    """The values that a number may have, and what it is.

    Parameters
    ----------
    low, high : float
        Inclusive bounds.
    about : str
        One phrase for `--help`, tooltips and `eij list`.
    above : bool
        Whether `low` itself is excluded.
    """

    low: float = -math.inf
    high: float = math.inf
    about: str = ""
    above: bool = False

    def __contains__(self, value: float) -> bool:
        return (self.low < value if self.above else self.low <= value) and value <= self.high

    @property
    def bounded(self) -> bool:
        """Whether there is a bound on either side."""
        return math.isfinite(self.low) or math.isfinite(self.high)

    def __str__(self) -> str:
        if not self.bounded:
            return "a finite number"
        low = f"{'above ' if self.above else 'at least '}{self.low:g}"
        if math.isinf(self.high):
            return low
        if math.isinf(self.low):
            return f"at most {self.high:g}"
        return f"{'above ' if self.above else ''}{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Digest(Range):
    """Marks a text parameter as the sha256 of the file that the parameter `of` names.

    It is filled in when a spec is checked. So a trial's key depends on the content of the file, not
    on its path, and a later change of the file is noticed.
    """

    of: str = "file"

    def fill(self, parameters: dict[str, Any], where: str) -> str:
        """Return the digest of the file that the parameters name."""
        return hashlib.sha256(read_file(f"{where}:{self.of}", parameters[self.of])).hexdigest()


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


@dataclass(frozen=True, slots=True)
class Spec:
    """A component by name and parameters: data that goes into files, URLs and digests.

    Examples
    --------
    >>> Spec.parse("nk:n=50,k=4")
    Spec(name='nk', parameters={'n': '50', 'k': '4'})
    >>> str(Spec("nk", {"n": 50}))
    'nk:n=50'
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Read `name` or `name:key=value,key=value`."""
        name, colon, rest = text.strip().partition(":")
        if not name or (colon and not rest):
            raise InputError("component", text, "name or name:key=value,key=value")
        parameters: dict[str, Any] = {}
        for pair in rest.split(",") if rest else ():
            key, equals, value = pair.partition("=")
            key = key.strip()
            if not equals or not key or not value.strip():
                raise InputError(name, pair, "key=value pairs, separated by commas")
            if key in parameters:
                raise InputError(f"{name}:{key}", value, "each key once")
            parameters[key] = value.strip()
        return cls(name.strip(), parameters)

    def __str__(self) -> str:
        given = self.parameters.items()
        pairs = (f"{key}={str(v).lower() if isinstance(v, bool) else v}" for key, v in given)
        return f"{self.name}:{','.join(pairs)}" if given else self.name

    def __hash__(self) -> int:
        return hash(str(self))


class Registry(UserDict[str, Callable[..., T]]):
    """The factories of one family, by name; a name is registered once.

    The package `home` registers its factories; it is imported when a name is first asked for.

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

    def add(self, name: str, *, private: bool = False) -> Callable[[F], F]:
        """Register a factory under a name (a decorator).

        Parameters
        ----------
        name : str
            How users write it.
        private : bool
            Whether it may run the user's own code or read the user's files: the dashboard and
            links never offer it.
        """

        def decorate(factory: F) -> F:
            if name in self:
                raise ValueError(f"there is a {self.family} named {name!r} already")
            self[name] = factory
            if private:
                self._private.add(name)
            return factory

        return decorate

    def remove(self, name: str) -> None:
        """Forget a name, so that a notebook cell can be run again."""
        self.data.pop(name, None)
        self._private.discard(name)

    def is_private(self, name: str) -> bool:
        """Tell whether links and the dashboard leave this component out."""
        return name in self and name in self._private

    @property
    def data(self) -> dict[str, Callable[..., T]]:  # type: ignore[override]
        """The factories; no flag says that they are there: a second thread waits for the import."""
        if self._home:
            importlib.import_module(self._home, __package__)
        return self._factories

    def __missing__(self, name: str) -> Callable[..., T]:
        raise InputError(self.family, name, nearest(name, self))

    def about(self, name: str) -> str:
        """Return the first line of the component's documentation."""
        return (inspect.getdoc(self[name]) or "").partition("\n")[0]

    def parameters(self, name: str) -> tuple[Parameter, ...]:
        """Return the parameters that the factory's signature declares."""
        return parameters_of(self[name])

    def check(self, spec: Spec | str) -> Spec:
        """Return the spec with every parameter checked and typed, defaults filled in."""
        spec = Spec.parse(spec) if isinstance(spec, str) else spec
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
        marks = (parameter.range for parameter in self.parameters(spec.name))
        places = {mark.of for mark in marks if isinstance(mark, Digest)}
        kept = {key: value for key, value in spec.parameters.items() if key not in places}
        return Spec(spec.name, kept)

    def make(self, spec: Spec | str) -> T:
        """Build the component that a spec names."""
        spec = self.check(spec)
        return self[spec.name](**spec.parameters)


def read_file(field: str, path: str) -> bytes:
    """Return the content of a regular file of at most `FILE_BYTES`, or raise `InputError`."""
    try:
        # Checked before opening: a pipe would block, a device may have no end.
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise InputError(field, path, "a regular file")
        with Path(path).open("rb") as file:
            data = file.read(FILE_BYTES + 1)
    except OSError as error:
        raise InputError(field, path, f"a file that can be read ({error.strerror})") from None
    if len(data) > FILE_BYTES:
        raise InputError(field, path, f"a file of at most {FILE_BYTES / 1e6:g} MB")
    return data


@functools.lru_cache  # a campaign asks this for each component of each trial
def parameters_of(factory: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return the parameters that a factory, or a NamedTuple class, declares by its signature."""
    hints = typing.get_type_hints(factory, include_extras=True)
    declared = inspect.signature(factory).parameters
    return tuple(_parameter(declared[key], hints.get(key, str)) for key in declared)


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


problems: Registry[Problem] = Registry("problem", ".problems")
algorithms: Registry[Algorithm] = Registry("algorithm", ".algorithms")
selectors: Registry[Selector] = Registry("selector", ".selectors")
meters: Registry[SimulatedMeter] = Registry("meter", ".meters")

FAMILIES: dict[str, Registry[Any]] = {
    known.family: known for known in (problems, algorithms, selectors, meters)
}
"""The registries by the name of their family; the families' packages fill them."""
