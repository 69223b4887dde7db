"""Errors that name the field, the value, the range and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


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
        super().__init__(field, value, expected)

    def __str__(self) -> str:
        return f"{self.field} = {shortened(str(self.value), 80)}: expected {self.expected}"


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
        super().__init__(line, column, expected, found, source)

    def __str__(self) -> str:
        where = f"{self.source}, " if self.source else ""
        where += f"line {self.line}, column {self.column}"
        return f"{where}: expected {self.expected}, found {shortened(self.found, 40)!r}"


class RunError(EijError, RuntimeError):
    """A run that cannot go on, or whose result is wrong."""


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


def check_known(field: str, name: str, names: Iterable[str]) -> None:
    """Refuse a name that does not exist, and suggest the nearest one.

    Examples
    --------
    >>> check_known("--format", "htm", ["html", "md"])
    Traceback (most recent call last):
    eij_core.errors.InputError: --format = htm: expected one of html, md (did you mean 'html'?)
    """
    names = tuple(names)
    if name not in names:
        raise InputError(field, name, nearest(name, names))


def shortened(text: str, most: int) -> str:
    """Return the text, cut to at most so many characters.

    Examples
    --------
    >>> shortened("0101010101", 6)
    '010...'
    """
    return text if len(text) <= most else f"{text[: most - 3]}..."


def nearest(word: str, known: Iterable[str]) -> str:
    """List the known names and suggest the one nearest to a word; a + is read as "-plus".

    Examples
    --------
    >>> nearest("knapsac", ["nk", "knapsack"])
    "one of knapsack, nk (did you mean 'knapsack'?)"
    >>> nearest("EIJ+", ["eij", "eij-plus"])
    "one of eij, eij-plus (did you mean 'eij-plus'?)"
    """
    names = sorted(known)
    spelled = word.lower().replace("+", "-plus")
    close = difflib.get_close_matches(spelled, names, n=1, cutoff=0.5)
    hint = f" (did you mean '{close[0]}'?)" if close else ""
    return f"one of {', '.join(names)}{hint}"
