"""A budget in Joules where a library has a stopping rule of its own."""

from __future__ import annotations

import math
from typing import Any, Protocol

from ..budget import Budget
from ..errors import InputError
from ..protocols import CountedMeter, EnergyInfo
from ..registry import Spec, meters
from ..scheduling.own import meter_of


class Spending(Protocol):
    """Joules that are being spent."""

    @property
    def is_spent(self) -> bool:
        """Whether the search has to end."""

    @property
    def progress(self) -> float:
        """How much is spent, 0 to 1."""


class JouleBudget:
    """Joules of a counter, from the first look at it; a copy spends the same Joules.

    The counter is released once the budget is spent.

    Parameters
    ----------
    budget : str or Budget
        Joules alone, such as "500 J".
    meter : str or Spec or Counter
        "auto" for this machine's best counter, the name of one, or a counter.

    Examples
    --------
    >>> budget = JouleBudget("1 mJ", "cputime:watts=10")
    >>> while not budget.is_spent:
    ...     _ = sum(range(1000))
    >>> budget.spent >= 0.001, budget.progress
    (True, 1.0)
    >>> budget.info.provenance, budget.info.name
    (<Provenance.ESTIMATED: 'estimated'>, 'cputime')
    """

    def __init__(self, budget: str | Budget, meter: Any = "auto") -> None:
        limits = Budget.parse(budget)
        if math.isinf(limits.joules) or limits.evaluations < math.inf or limits.seconds < math.inf:
            wanted = "Joules alone, such as 500 J; other limits are the library's to keep"
            raise InputError("budget", budget, wanted)
        self.joules = limits.joules
        known = meter_of(meter)
        known = Spec.parse(known) if isinstance(known, str) else known
        counted = meters.make(known) if isinstance(known, Spec) else known
        if not isinstance(counted, CountedMeter):
            wanted = "a counter, such as auto, powercap or cputime; a price list counts no Joules"
            raise InputError("meter", meter, wanted)
        self._counted: Any = counted
        self._first_uj: int | None = None
        self._spent = 0.0

    def __deepcopy__(self, memo: Any) -> JouleBudget:
        return self

    @property
    def info(self) -> EnergyInfo:
        """How these Joules are known."""
        info: EnergyInfo = self._counted.info
        return info

    def start(self) -> None:
        """Look at the counter now; by itself a budget starts when it is first asked for."""
        _ = self.spent

    @property
    def spent(self) -> float:
        """Joules since the first look, which is now if there was none."""
        if self._spent < self.joules:
            now = self._counted.counter.read_uj()
            if self._first_uj is None:
                self._first_uj = now
            self._spent = (now - self._first_uj) * 1e-6
            if self._spent >= self.joules:
                self.close()
        return self._spent

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.spent >= self.joules

    @property
    def progress(self) -> float:
        """How much is spent, 0 to 1."""
        return min(1.0, self.spent / self.joules)

    def close(self) -> None:
        """Release the counter."""
        self._counted.close()

    def __str__(self) -> str:
        info = self.info
        return f"{_shown(self._spent)} of {_shown(self.joules)}, {info.provenance}, {info.name}"


def spending(budget: Any, meter: Any = "auto") -> Spending:
    """Return a budget of its own, or that of an adapter whose scheduler owns one."""
    steps: Spending | None = getattr(budget, "steps", None)
    return JouleBudget(budget, meter) if steps is None else steps


def _shown(joules: float) -> str:
    return f"{joules:.1f} J" if joules >= 1.0 else f"{joules * 1e3:.1f} mJ"
