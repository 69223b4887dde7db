"""Numbers as the pages write them: the one place that decides on digits, signs and units."""

from __future__ import annotations

import math

PREFIXES = {
    **{-4: "p", -3: "n", -2: "µ", -1: "m", 0: "", 1: "k"},
    **{2: "M", 3: "G", 4: "T"},
}
"""By the power of a thousand."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 4) -> str:
    """Write a number with so many significant digits.

    Examples
    --------
    >>> number(-16510536.0), number(0.000123), number(float("nan")), number(9147.0)
    ('−1.651×10⁷', '1.23×10⁻⁴', '–', '9147')
    """
    value = float(value)
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    size = abs(value)
    if size and not 1e-3 <= size < 1e6:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{mantissa}×10{superscript(int(exponent))}".replace("-", "−")
    shown = f"{value:.0f}" if size >= 10 ** (digits - 1) else f"{value:.{digits}g}"
    return shown.replace("-", "−")


def count(value: int) -> str:
    """Write a whole number in groups of three digits.

    Examples
    --------
    >>> count(1234567)
    '1 234 567'
    """
    return f"{value:,}".replace(",", " ")


def short(value: float) -> str:
    """Write a large number with three digits and a prefix.

    Examples
    --------
    >>> short(1234567.0), short(float("nan"))
    ('1.23 M', '–')
    """
    if not math.isfinite(value):
        return "–"
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def quantity(value: float, unit: str, digits: int = 4) -> str:
    """Write a quantity with its unit and an SI prefix.

    Examples
    --------
    >>> quantity(2511.8, "J"), quantity(1e-3, "J"), quantity(1e9, "J"), quantity(0.0, "J")
    ('2.512\u202fkJ', '1\u202fmJ', '1\u202fGJ', '0\u202fJ')
    """
    size = abs(value)
    if not math.isfinite(value) or not 1e-12 <= size < 1e15:
        return f"{number(value, digits)}\u202f{unit}"
    step = min(4, max(-4, math.floor(math.log10(float(f"{size:.{digits - 1}e}")) / 3)))
    return f"{number(value / 1000.0**step, digits)}\u202f{PREFIXES[step]}{unit}"


def gap(best: float, optimum: float) -> str:
    """Write how far the best fitness is from the optimum, in percent of the optimum.

    An overfull knapsack is millions of percent below its optimum; the exact figure says nothing.

    Examples
    --------
    >>> gap(95.0, 100.0), gap(-1e6, 100.0), gap(95.0, float("nan"))
    ('5 %', '&gt; 999 %', '–')
    """
    percent = 100.0 * (optimum - best) / abs(optimum) if optimum else math.nan
    if not math.isfinite(percent):
        return "–"
    return f"{number(percent, 3)} %" if percent < 1000.0 else "&gt; 999 %"


def superscript(exponent: int) -> str:
    """Write an exponent.

    Examples
    --------
    >>> superscript(-12)
    '⁻¹²'
    """
    return str(exponent).translate(_RAISED)
