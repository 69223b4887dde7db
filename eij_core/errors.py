"""Errors that name the field, the value, the range and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "EijError",
    "InputError",
    "InstanceError",
    "MeterPermissionError",
    "MeterUnavailable",
    "nearest",
]


class EijError(Exception):
    """Anything that this package reports to its user."""


class InputError(EijError, ValueError):
    """A value that cannot be used.

    Parameters
    ----------
    field : str
        Where the value entered, as the user names it.
    value : object
        What was given.
    expected : str
        The range or form that is accepted, and the remedy.

    Examples
    --------
    >>> print(InputError("alpha", 2, "a number between 0 and 1"))
    alpha = 2: expected a number between 0 and 1
    """

    def __init__(self, field: str, value: object, expected: str) -> None:
        self.field, self.value, self.expected = field, value, expected
        shown = str(value)
        shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
        super().__init__(f"{field} = {shown}: expected {expected}")

    def __reduce__(self) -> tuple[type, tuple[str, object, str]]:
        return type(self), (self.field, self.value, self.expected)


class InstanceError(EijError, ValueError):
    """A problem file that cannot be read, with the place of the first fault.

    Examples
    --------
    >>> print(InstanceError(3, 5, "a weight", "-1", source="small.kp"))
    small.kp, line 3, column 5: expected a weight, found '-1'
    """

    def __init__(self, line: int, column: int, expected: str, found: str, source: str = "") -> None:
        self.line, self.column, self.expected, self.found = line, column, expected, found
        self.source = source
        shown = found if len(found) <= 40 else f"{found[:37]}..."
        where = f"{source}, " if source else ""
        super().__init__(
            f"{where}line {line}, column {column}: expected {expected}, found {shown!r}"
        )

    def __reduce__(self) -> tuple[type, tuple[int, int, str, str, str]]:
        return type(self), (self.line, self.column, self.expected, self.found, self.source)


class MeterUnavailable(EijError, RuntimeError):
    """An energy source that this machine, or this trial, does not have."""


class MeterPermissionError(MeterUnavailable, PermissionError):
    """An energy counter that is there, but not for this user; the text says what to do."""

    def __init__(self, text: str, path: str = "") -> None:
        self.text, self.path = text, path
        super().__init__(text)

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.text, self.path)


def nearest(word: str, known: Iterable[str]) -> str:
    """Say which known names there are, the nearest first.

    Examples
    --------
    >>> nearest("knapsac", ["nk", "knapsack"])
    "one of knapsack, nk (did you mean 'knapsack'?)"
    """
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    hint = f" (did you mean '{close[0]}'?)" if close else ""
    return f"one of {', '.join(names)}{hint}"
