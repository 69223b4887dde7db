"""MEALPY: a budget in Joules. Nothing of MEALPY is imported here: its objects go by their shape.

Beside a limit of its own, which it asks for::

    import numpy as np
    from mealpy import GA, FloatVar
    from mealpy.utils.termination import Termination
    from eij_core.adapters.mealpy import with_joules

    stop = with_joules(Termination(max_epoch=100_000), "50 mJ", "cputime:watts=10")
    problem = {
        "bounds": FloatVar(lb=[-1.0] * 4, ub=[1.0] * 4),
        "minmax": "min",
        "obj_func": lambda x: float(np.sum(x**2)),
        "log_to": None,
    }
    search = GA.BaseGA(epoch=100_000, pop_size=20)
    search.solve(problem, termination=stop, seed=7)
    print(stop.message)
"""

from __future__ import annotations

from typing import Any

from .joules import JouleBudget


def with_joules(termination: Any, budget: Any, meter: Any = "auto") -> Any:
    """Return the `Termination`, which from now on also ends the search when a budget is spent.

    Parameters
    ----------
    termination : mealpy.utils.termination.Termination
    budget : str or Budget
        It counts from now.
    meter : str or Counter
        See `JouleBudget`.
    """
    joules = JouleBudget(budget, meter)
    joules.start()
    own = termination.should_terminate

    def should_terminate(*progress: Any) -> bool:
        if own(*progress):
            return True
        if joules.is_spent:
            termination.message = f"The budget is spent: {joules}."
        return joules.is_spent

    termination.should_terminate, termination.joules = should_terminate, joules
    return termination
