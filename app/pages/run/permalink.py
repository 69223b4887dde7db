"""The settings of a run in the link; a link never starts a run."""

from __future__ import annotations

from functools import partial
from typing import Any

from eij_core import Budget, EijError
from eij_core.target import check_target
from eij_core.trial import FAMILIES

from ..common.links import Reader, flag, number_in, one_of, read_link, write_link
from ..common.offers import read_component
from .lessons.lessons import LESSONS
from .settings import Settings


def _budget(written: str) -> str:
    Budget.parse(written)
    return written.strip()


READERS: dict[str, Reader] = {
    "lesson": one_of(["", *LESSONS]),
    **{family: partial(read_component, family) for family in FAMILIES},
    "budget": _budget,
    "target": check_target,
    "seed": number_in(int, *Settings.param["seed"].bounds),
    "pace": number_in(float, *Settings.param["pace"].bounds),
    "compare": flag,
}


def read(query: str) -> tuple[dict[str, Any], str]:
    """Return the settings that a link holds, and a notice about those that cannot be used.

    Examples
    --------
    >>> values, notice = read("?problem=nk:k=3&seed=x")
    >>> values
    {'problem': 'nk:k=3', 'lesson': ''}
    >>> notice
    'This link held values that cannot be used, so defaults stand: seed.'
    """
    values, notice = read_link(query, READERS)
    if values.get("lesson"):
        values = {**LESSONS[values["lesson"]].values, **values}
    elif values.keys() & {*FAMILIES, "budget"}:
        values["lesson"] = ""
    return values, notice


def write(values: dict[str, Any]) -> str:
    """Return the query that holds what differs from the defaults.

    Examples
    --------
    >>> write({**Settings().values_now, "seed": 7, "budget": "2 kJ"})
    '?lesson=first-steps&budget=2%20kJ&seed=7'
    """
    lesson = LESSONS.get(values.get("lesson", ""))
    base = {name: Settings.param[name].default for name in Settings.FIELDS}
    base |= lesson.values if lesson else {"lesson": ""}
    changed = {
        name: value
        for name, value in values.items()
        if name in READERS and _normal(name, value) != _normal(name, base[name])
    }
    key = lesson.key if lesson else ""
    if not changed and key == Settings.param["lesson"].default:
        return ""
    return write_link({"lesson": key, **changed})


def _normal(name: str, value: Any) -> Any:
    """Return a value such that equal settings are equal; one that is being typed as it is."""
    try:
        if name in FAMILIES:
            return read_component(name, value)
        reader = {"budget": Budget.parse, "target": check_target}.get(name)
        return reader(value) if reader else value
    except EijError:
        return value
