"""Options as they are typed: read, checked, and joined into trials."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ...budget import Budget
from ...errors import InputError
from ...imports import import_components
from ...registry import Spec
from ...trial import Trial

Several = list[str]
"""An option that may be given several times."""
AsJson = Annotated[
    bool, typer.Option("--json", help="JSON instead of a table: one object, or one a line.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No table, no progress bar.")]


def _imported(names: Several | None) -> Several | None:
    """Import what the owner of the machine has named, before the command looks anything up."""
    if names:
        import_components(names, "--import")
    return names


Imports = Annotated[
    Several | None,
    typer.Option(
        "--import",
        metavar="MODULE_OR_FILE",
        help="Executes code of yours that registers components; again for more.",
        callback=_imported,
    ),
]
"""Taken by every command that takes components; its callback has done all when the command runs."""

DEFAULT: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(Trial)}
"""The default trial is Trial()."""


def whole(low: int, high: int | None = None) -> Callable[[str], int]:
    """Return a reader of whole numbers from `low` to `high`."""
    accepted = f"at least {low}" if high is None else f"{low} to {high}"

    def read(text: str) -> int:
        # int() alone would accept 1_000, and refuse very long numbers with a text of its own.
        digits = re.fullmatch(r"\s*(-?[0-9]{1,40})\s*", str(text))
        if not digits or not low <= (value := int(digits[1])) <= (high or value):
            raise typer.BadParameter(f"{text!r}: expected a whole number, {accepted}")
        return value

    read.__name__ = "whole number"  # what --help shows
    return read


def count(help_text: str, low: int = 1, metavar: str = "N") -> Any:
    """Return an option that takes a whole number, at least `low`."""
    return typer.Option(parser=whole(low), metavar=metavar, help=help_text)


def number(text: str) -> float:
    """Read a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in str(text):
        raise typer.BadParameter(f"{text!r}: expected a number")
    return value


def budget_of(text: str | None, evaluations: int | None, seconds: float | None) -> Budget:
    """Join the limits; the default budget holds only where no limit is given.

    Examples
    --------
    >>> str(budget_of("20 J", 1000, None))
    '20 J, 1000 evaluations'
    """
    extra: dict[str, Any] = {"evaluations": evaluations, "seconds": seconds}
    given = {name: value for name, value in extra.items() if value is not None}
    if text is None and given:
        return Budget(**given)
    budget = Budget.parse(DEFAULT["budget"] if text is None else text)
    for name, value in given.items():
        if math.isfinite(getattr(budget, name)):
            raise InputError(f"--{name}", value, f"no {name} in --budget {text} as well")
    return dataclasses.replace(budget, **given)


def selector_of(text: str | None, alpha: float | None) -> Spec:
    """Put --alpha among the selector's parameters; alone it asks for the paper's rule.

    Examples
    --------
    >>> str(selector_of("eij:tries=1", 0.5))
    'eij:tries=1,alpha=0.5'
    >>> str(selector_of(None, 0.5)), str(selector_of(None, None))
    ('eij:alpha=0.5', 'eij-plus')
    """
    if text is None:
        text = DEFAULT["selector"] if alpha is None else "eij"
    spec = Spec.parse(text)
    if alpha is None:
        return spec
    if "alpha" in spec.parameters:
        raise InputError("--alpha", alpha, f"no alpha in --selector {text} as well")
    return Spec(spec.name, {**spec.parameters, "alpha": alpha})


def folder_of(path: Path | None) -> Path | None:
    """Make the folder of --out, now rather than after a long run."""
    if path is None:
        return None
    probe = path / f".eij-{id(path)}"
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError("--out", path, f"a folder to write to ({error.strerror})") from None
    return path
