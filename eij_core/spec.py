"""A component by name and parameters, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import InputError


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


@dataclass(frozen=True, slots=True, eq=False)
class Absent(Spec):
    """A component of a stored trial that is not here: it can be shown, but not run.

    `imports` names the modules that would register it, which nothing but their owner imports.
    """

    imports: tuple[str, ...] = ()

    def refuse(self, family: str) -> InputError:
        """Return the error of a trial that is to be run without this component."""
        if not self.imports:
            return InputError(family, self, "a component that is registered here")
        options = " ".join(f"--import {name}" for name in self.imports)
        return InputError(family, self, f"its owner to import it, which executes code: {options}")
