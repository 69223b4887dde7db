"""Budgets: how much a run may spend, in Joules, evaluations or seconds."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from .errors import InputError

UNITS = {
    "j": ("joules", 1.0),
    "mj": ("joules", 1e-3),
    "uj": ("joules", 1e-6),
    "µj": ("joules", 1e-6),
    "kj": ("joules", 1e3),
    "wh": ("joules", 3600.0),
    "kwh": ("joules", 3.6e6),
    "evaluations": ("evaluations", 1.0),
    "evals": ("evaluations", 1.0),
    "s": ("seconds", 1.0),
    "ms": ("seconds", 1e-3),
    "min": ("seconds", 60.0),
    "h": ("seconds", 3600.0),
}
FORM = "a number above 0 with a unit (J, mJ, kJ, MJ, Wh, kWh; evaluations; s, ms, min, h), like 1kJ"
PART = re.compile(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-zµ]+)\s*")


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may spend; it stops at the first limit it meets.

    Parameters
    ----------
    joules, evaluations, seconds : float
        Limits; infinite where there is none. At least one must be finite.
    charge_start : bool
        Whether the initial population is charged, in evaluations and Joules. It is, by default.

    Examples
    --------
    >>> Budget.parse("1.5 kJ, 2000 evaluations")
    Budget(joules=1500.0, evaluations=2000.0, seconds=inf, charge_start=True)
    >>> str(Budget(joules=300))
    '300 J'
    """

    joules: float = math.inf
    evaluations: float = math.inf
    seconds: float = math.inf
    charge_start: bool = True

    def __post_init__(self) -> None:
        for name in ("joules", "evaluations", "seconds"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise InputError(f"budget:{name}", value, "a number above 0")
            object.__setattr__(self, name, float(value))
        if all(math.isinf(x) for x in (self.joules, self.evaluations, self.seconds)):
            raise InputError("budget", "no limit", f"at least one limit: {FORM}")

    @classmethod
    def parse(cls, text: str | float | Budget) -> Budget:
        """Read "1kJ", "300 J, 5 s", "10000 evaluations"; a bare number is refused."""
        if isinstance(text, Budget):
            return text
        limits: dict[str, Any] = {}
        for part in str(text).split(","):
            match = PART.fullmatch(part)
            if not match:
                raise InputError("budget", text, FORM)
            unit = match[2]
            # MJ and mJ differ in case alone; all other units are read in any case.
            mega = unit[0] == "M" and unit.lower() == "mj"
            kind, scale = ("joules", 1e6) if mega else UNITS.get(unit.lower(), ("", 0.0))
            try:
                value = float(match[1]) * scale
            except ValueError:
                kind = ""
            if not kind or not (0 < value < math.inf) or kind in limits:
                raise InputError("budget", text, FORM)
            limits[kind] = value
        return cls(**limits)

    def __str__(self) -> str:
        named = ((self.joules, "J"), (self.evaluations, "evaluations"), (self.seconds, "s"))
        return ", ".join(
            f"{value!r}".removesuffix(".0") + f" {unit}"
            for value, unit in named
            if math.isfinite(value)
        )
