"""A symmetric logarithm: EI/J spans many decades on both sides of zero."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bokeh.models import FixedTicker

__all__ = ["symlog", "threshold", "ticks"]


def symlog(values: Any, unit: float) -> Any:
    """Compress: linear below `unit`, a decade per step above it.

    Examples
    --------
    >>> symlog(np.array([-9.0, 0.0, 0.99]), 0.01).round(2)
    array([-2.95,  0.  ,  2.  ])
    """
    return np.sign(values) * np.log10(1.0 + np.abs(values) / unit)


def threshold(values: Any) -> float:
    """Choose where the logarithm starts: two decades below the middle of what is seen.

    In steps of a thousand, so that it seldom moves while a run grows.

    Examples
    --------
    >>> threshold(np.array([np.nan, 3.0, -500.0, 7000.0]))
    1.0
    """
    sizes = np.abs(values[np.isfinite(values) & (values != 0.0)])
    if sizes.size == 0:
        return 1.0
    return 1000.0 ** math.floor((math.log10(float(np.median(sizes))) - 1.0) / 3.0)


def ticks(unit: float, decades: int = 15) -> list[tuple[float, str]]:
    """Return places and labels of the axis: zero and the decades on both sides."""
    found = [(0.0, "0")]
    start = round(math.log10(unit))
    for step in range(1, decades + 1):
        value = 10.0 ** (start + step)
        place = float(symlog(value, unit))
        found += [(place, _power(start + step)), (-place, f"−{_power(start + step)}")]
    return sorted(found)


def _power(exponent: int) -> str:
    if -3 <= exponent <= 3:
        return f"{10.0**exponent:g}"
    raised = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}"


def relabel(axis: Any, unit: float) -> None:
    """Set the ticks of a Bokeh axis."""
    places = ticks(unit)
    axis.ticker = FixedTicker(ticks=[place for place, _ in places])
    axis.major_label_overrides = dict(places)
