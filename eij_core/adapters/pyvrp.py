"""PyVRP: local searches chosen by gain per Joule, and a budget in Joules.

>>> from pyvrp import IteratedLocalSearch, Model, PenaltyManager, PenaltyParams
>>> from pyvrp import RandomNumberGenerator, Solution
>>> from pyvrp.search import LocalSearch, Relocate1, Swap11, SwapTails, compute_neighbours
>>> model = Model()
>>> depot = model.add_depot(model.add_location(50, 50))
>>> for i in range(12):
...     client = model.add_client(model.add_location(i * 37 % 100, i * 59 % 100), delivery=1)
>>> vehicles = model.add_vehicle_type(3, capacity=4)
>>> for a in model.locations:
...     for b in model.locations:
...         edge = model.add_edge(a, b, distance=abs(a.x - b.x) + abs(a.y - b.y))
>>> data, rng = model.data(), RandomNumberGenerator(seed=7)
>>> searches = {}
>>> for name, moves in {"small": [Relocate1], "large": [Swap11, SwapTails]}.items():
...     searches[name] = LocalSearch(data, rng, compute_neighbours(data))
...     for move in moves:
...         searches[name].add_operator(move(data))
>>> search = JouleSearch(searches, budget="2 J", meter="model", compiled=False)
>>> penalties = PenaltyManager(PenaltyParams().midpoint_penalties(data))
>>> ils = IteratedLocalSearch(data, penalties, search, Solution.make_random(data, rng))
>>> found = ils.run(MaxJoules(search))
>>> search.result().best.fitness == found.cost()
True
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..result import Result
from .joules import spending
from .needed import needed
from .steps import Steps

with needed("pyvrp"):
    import pyvrp  # noqa: F401  the objects below have the shapes that it asks for


class JouleSearch:
    """Searches with that of several local searches that buys the most improvement per Joule.

    A step is one iteration. An exhaustive search of a new best solution belongs to the step that
    found it. The gain is by how much the penalised cost of the solution falls. Stop with
    `MaxJoules(search)`.

    Parameters
    ----------
    searches : mapping of str to SearchMethod
    options
        Of `Scheduler`: budget, meter, selector, seed, …
    """

    def __init__(self, searches: Mapping[str, Any], **options: Any) -> None:
        self._searches = list(searches.values())
        self.steps = Steps(searches, **options)

    def __call__(self, solution: Any, cost_evaluator: Any, exhaustive: bool = False) -> Any:
        """Return the solution that the chosen search makes of this one."""
        step = self.steps.open
        if step is None or not exhaustive:
            step = self.steps.take()
        found = self._searches[step.number](solution, cost_evaluator, exhaustive)
        costs = [cost_evaluator.penalised_cost(each) for each in (solution, found)]
        step.gain = (step.gain or 0.0) + float(costs[0] - costs[1])
        if found.is_feasible():
            cost = float(cost_evaluator.cost(found))
            step.best = cost if step.best is None else min(step.best, cost)
        return found

    @property
    def scheduler(self) -> Any:
        """The scheduler that chooses."""
        return self.steps.scheduler

    def result(self) -> Result:
        """Return what the Joules bought."""
        return self.steps.result()


class MaxJoules:
    """Stops when a budget is spent: that of a `JouleSearch`, or one of its own.

    Parameters
    ----------
    budget : JouleSearch or str or Budget
    meter : str or Counter
        For a budget of its own, which counts from the first call: see `JouleBudget`.
    """

    def __init__(self, budget: Any, meter: Any = "auto") -> None:
        self.spending = spending(budget, meter)

    def __call__(self, best_cost: float) -> bool:
        """Tell whether the search must stop."""
        return self.spending.is_spent
