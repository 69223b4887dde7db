"""A symmetric logarithm: EI/J spans many decades on both sides of zero."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bokeh.models import FixedTicker

from ..text.numbers import superscript


def symlog(values: Any, unit: float) -> Any:
    """Compress: linear below `unit`, a decade per step above it.

    Examples
    --------
    >>> symlog(np.array([-9.0, 0.0, 0.99]), 0.01).round(2)
    array([-2.95,  0.  ,  2.  ])
    """
    return np.sign(values) * np.log10(1.0 + np.abs(values) / unit)


def threshold(values: Any) -> float:
    """Choose where the logarithm starts: two decades below the middle of the values.

    It moves in steps of a thousand, and therefore seldom while a run grows.

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
    for exponent in range(start + 1, start + decades + 1):
        place = float(symlog(10.0**exponent, unit))
        near = -3 <= exponent <= 3
        label = f"{10.0**exponent:g}" if near else f"10{superscript(exponent)}"
        found += [(place, label), (-place, f"−{label}")]
    return sorted(found)


def relabel(axis: Any, unit: float) -> None:
    """Set the ticks of a Bokeh axis."""
    places = ticks(unit)
    axis.ticker = FixedTicker(ticks=[place for place, _ in places])
    axis.major_label_overrides = dict(places)
