"""Nevergrad: a budget in Joules.

>>> import nevergrad as ng
>>> search = ng.optimizers.OnePlusOne(parametrization=2, budget=100_000)
>>> stop = stop_after("20 mJ", "cputime:watts=10")
>>> search.register_callback("ask", stop)
>>> found = search.minimize(lambda x: sum(x**2))
>>> 0 < search.num_tell < 100_000, stop.stopping_criterion.budget.is_spent
(True, True)
"""

from __future__ import annotations

from typing import Any

from .joules import JouleBudget
from .needed import needed

with needed("nevergrad"):
    from nevergrad import callbacks


class MaxJoules:
    """The criterion of Nevergrad's `EarlyStopping`: whether the Joules since the first are spent.

    Parameters
    ----------
    budget : str or Budget
    meter : str or Counter
        See `JouleBudget`.
    """

    def __init__(self, budget: Any, meter: Any = "auto") -> None:
        self.budget = JouleBudget(budget, meter)

    def __call__(self, optimizer: Any) -> bool:
        """Tell whether the search must stop."""
        return self.budget.is_spent


def stop_after(budget: Any, meter: Any = "auto") -> Any:
    """Return a callback for "ask", which ends `minimize` when the budget is spent."""
    return callbacks.EarlyStopping(MaxJoules(budget, meter))
