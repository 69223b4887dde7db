"""ALNS: pairs of operators chosen by gain per Joule, and a budget in Joules.

>>> import numpy as np
>>> from alns import ALNS
>>> from alns.accept import HillClimbing
>>> class Point:
...     def __init__(self, x):
...         self.x = x
...
...     def objective(self):
...         return abs(self.x)
>>> def near(state, rng):
...     return Point(state.x + rng.normal(0, 0.1))
>>> def far(state, rng):
...     return Point(state.x + rng.normal(0, 5))
>>> def whole(state, rng):
...     return state
>>> search = ALNS(np.random.default_rng(7))
>>> search.add_destroy_operator(near), search.add_destroy_operator(far)
(None, None)
>>> search.add_repair_operator(whole)
>>> select = JouleSelect.of(search, budget="2 J", meter="model", compiled=False)
>>> found = search.iterate(Point(100.0), select, HillClimbing(), MaxJoules(select))
>>> [total.name for total in select.result().operators]
['near + whole', 'far + whole']
>>> select.result().best.fitness == found.best_state.objective() < 1
True
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

from ..result import Result
from .joules import spending
from .needed import needed
from .steps import Steps

with needed("alns"):
    from alns.select import OperatorSelectionScheme
    from alns.stop import StoppingCriterion


class JouleSelect(OperatorSelectionScheme):
    """Chooses pairs of destroy and repair operators by the improvement they buy per Joule.

    A step is one iteration, from the choice of a pair to `update`; its gain is by how much the
    candidate is better than the current solution. An objective that is not finite gains nothing.
    Stop with `MaxJoules(select)`, which ends the search when no pair fits in what is left.

    Parameters
    ----------
    num_destroy, num_repair : int
    op_coupling : array of bool, optional
        Which pairs go together.
    names : pair of lists of str, optional
        Names of the destroy and of the repair operators; `JouleSelect.of` takes those of an ALNS.
    options
        Of `Scheduler`: budget, meter, selector, seed, …
    """

    def __init__(
        self,
        num_destroy: int,
        num_repair: int,
        op_coupling: Any = None,
        *,
        names: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(num_destroy, num_repair, op_coupling)
        destroy, repair = names or (
            [f"destroy {d}" for d in range(num_destroy)],
            [f"repair {r}" for r in range(num_repair)],
        )
        every = product(range(num_destroy), range(num_repair))
        self._pairs = [pair for pair in every if self.op_coupling[pair]]
        self.steps = Steps([f"{destroy[d]} + {repair[r]}" for d, r in self._pairs], **options)
        self._before = math.nan

    @classmethod
    def of(cls, search: Any, op_coupling: Any = None, **options: Any) -> JouleSelect:
        """Return a scheme for the operators of an ALNS, with their names."""
        destroy = [name for name, _ in search.destroy_operators]
        repair = [name for name, _ in search.repair_operators]
        return cls(len(destroy), len(repair), op_coupling, names=(destroy, repair), **options)

    def __call__(self, rng: Any, best: Any, curr: Any) -> tuple[int, int]:
        """Return the pair to apply, and start its meter; one that was not updated has failed."""
        self._before = curr.objective()
        return self._pairs[self.steps.take().number]

    def update(self, candidate: Any, d_idx: int, r_idx: int, outcome: Any) -> None:
        """Book the pair that was applied."""
        after = float(candidate.objective())
        gain = self._before - after
        found = {"best": after} if math.isfinite(after) else {}
        self.steps.finish(gain=gain if math.isfinite(gain) else 0.0, **found)

    @property
    def scheduler(self) -> Any:
        """The scheduler that chooses."""
        return self.steps.scheduler

    def result(self) -> Result:
        """Return what the Joules bought."""
        return self.steps.result()


class MaxJoules(StoppingCriterion):
    """Stops when a budget is spent: that of a `JouleSelect`, or one of its own.

    Parameters
    ----------
    budget : JouleSelect or str or Budget
    meter : str or Counter
        For a budget of its own, which counts from the first call: see `JouleBudget`.
    """

    def __init__(self, budget: Any, meter: Any = "auto") -> None:
        self.spending = spending(budget, meter)

    def __call__(self, rng: Any, best: Any, current: Any) -> bool:
        """Tell whether the search must stop."""
        return bool(self.spending.is_spent)
