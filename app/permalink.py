"""Settings in the link: read strictly, written briefly; a link never starts a run."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from app.lessons import LESSONS
from app.limits import LINK_BYTES
from app.settings import Settings, brief, offered_spec
from eij_core import Budget, EijError, InputError
from eij_core.trial import FAMILIES

__all__ = ["read", "write"]


def read(query: str) -> tuple[dict[str, Any], str]:
    """Return the settings that a link holds, and one notice about those it could not use.

    Examples
    --------
    >>> values, notice = read("?problem=nk:k=3&seed=x")
    >>> values
    {'problem': 'nk:k=3', 'lesson': ''}
    >>> notice
    'This link held values that cannot be used, so defaults stand: seed.'
    """
    values: dict[str, Any] = {}
    bad: list[str] = []
    if len(query.encode()) > LINK_BYTES:
        return {}, f"This link is longer than {LINK_BYTES} bytes, so defaults stand."
    try:
        pairs = parse_qsl(query.lstrip("?"), keep_blank_values=True, max_num_fields=40)
    except ValueError:
        return {}, "This link cannot be read, so defaults stand."
    for name, value in pairs:
        if name not in Settings.FIELDS:
            continue  # other tools add their own
        if name in values or name in bad:
            bad.append(name)
            values.pop(name, None)
            continue
        try:
            values[name] = _value(name, value)
        except (EijError, ValueError):
            bad.append(name)
    if values.get("lesson"):
        values = {**LESSONS[values["lesson"]].values, **values}
    elif values.keys() & {*FAMILIES, "budget"}:
        values["lesson"] = ""
    names = ", ".join(sorted(set(bad)))
    notice = f"This link held values that cannot be used, so defaults stand: {names}."
    return values, notice if bad else ""


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
        name: _text(value)
        for name, value in values.items()
        if name in Settings.FIELDS and not _same(name, value, base[name])
    }
    key = lesson.key if lesson else ""
    if not changed and key == Settings.param["lesson"].default:
        return ""
    changed = {"lesson": key, **changed}
    return "?" + urlencode(changed, quote_via=quote, safe=":,=")


def _value(name: str, value: str) -> Any:
    if name in FAMILIES:
        return brief(name, offered_spec(name, value))
    if name == "budget":
        return str(Budget.parse(value)) and value.strip()
    if name == "seed":
        return _within(name, int(value) if value.isascii() and value.isdigit() else -1)
    if name == "pace":
        return _within(name, float(value))
    if name == "compare":
        return {"true": True, "false": False}.get(value.lower()) or _false(value)
    if value and value not in LESSONS:
        raise InputError("lesson", value, f"one of {', '.join(LESSONS)}")
    return value


def _false(value: str) -> bool:
    if value.lower() != "false":
        raise InputError("compare", value, "true or false")
    return False


def _within(name: str, value: float) -> float:
    low, high = Settings.param[name].bounds
    if not low <= value <= high:
        raise InputError(name, value, f"a number from {low} to {high}")
    return value


def _same(name: str, value: Any, other: Any) -> bool:
    if name in FAMILIES:
        return brief(name, offered_spec(name, value)) == brief(name, offered_spec(name, other))
    if name == "budget":
        return Budget.parse(value) == Budget.parse(other)
    return bool(value == other)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
