"""Numbers for people, and limits of an axis: what pictures and tables share."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike


def number(value: float) -> str:
    """Write a number for people: short, with a true minus.

    Examples
    --------
    >>> number(1234.5), number(-0.00012), number(2.5e7)
    ('1,234.5', '−1.2e−4', '2.5e7')
    """
    if value == 0 or not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "−∞", 0.0: "0"}.get(value, "–")
    if 1e-3 <= abs(value) < 1e6:
        digits = max(0, 4 - math.floor(math.log10(abs(value))))
        text = f"{value:,.{digits}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        mantissa, exponent = f"{value:.2e}".split("e")
        text = f"{float(mantissa):g}e{int(exponent)}"
    return text.replace("-", "−")


def padded(values: ArrayLike, margin: float = 0.06) -> tuple[float, float]:
    """Return limits of an axis with a margin around the finite values; (0, 1) if there is none.

    Examples
    --------
    >>> padded([0.0, 100.0, math.nan])
    (-6.0, 106.0)
    """
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    if not known.size:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    margin = margin * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin
