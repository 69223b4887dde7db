"""Fields for numbers that show only what will be used, and say what they do not accept."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import panel_material_ui as pmui
import param

from eij_core.registry import Range

from ...internals.panel import CheckedInput
from ...text.numbers import count, number

__all__ = ["RealNumber", "WholeNumber", "number_field"]


class _Ranged(CheckedInput):
    def refusal(self: Any, value: Any) -> str:
        """Say which values the field accepts."""
        accepted = value is not None and value in self.range
        found = "nothing" if value is None else _plain(value)
        return "" if accepted else f"{found} was entered; accepted: {_words(self.range)}"


class WholeNumber(_Ranged, pmui.IntInput):
    """A field for a whole number in a range."""

    range = param.ClassSelector(class_=Range, default=Range(), constant=True)
    _rename: ClassVar = {"range": None}


class RealNumber(_Ranged, pmui.FloatInput):
    """A field for a number in a range."""

    range = param.ClassSelector(class_=Range, default=Range(), constant=True)
    _rename: ClassVar = {"range": None}


def number_field(label: str, value: float, accepted: Range, **params: Any) -> Any:
    """Return the field for a number: for whole numbers if `value` is one.

    Examples
    --------
    >>> field = number_field("Seed", 1, Range(0, 9))
    >>> field.refusal(7), field.refusal(-1)
    ('', '−1 was entered; accepted: 0 to 9')
    """
    kind, convert = (WholeNumber, int) if isinstance(value, int) else (RealNumber, float)
    bounds = {"start": accepted.low, "end": accepted.high}
    finite = {name: convert(bound) for name, bound in bounds.items() if abs(bound) < float("inf")}
    if accepted.above:  # the buttons beside the field would stop at what is excluded
        finite.pop("start", None)
    return kind(label=label, value=value, range=accepted, **finite, **params)


def _plain(value: float) -> str:
    return count(int(value)) if float(value).is_integer() else number(value, 12)


def _words(accepted: Range) -> str:
    if math.isinf(accepted.high):
        return str(accepted)
    low = f"{'above ' if accepted.above else ''}{_plain(accepted.low)}"
    return f"{low} to {_plain(accepted.high)}"
