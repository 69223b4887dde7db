"""jMetalPy: a budget in Joules.

>>> from jmetal.algorithm.singleobjective import GeneticAlgorithm
>>> from jmetal.operator.crossover import SPXCrossover
>>> from jmetal.operator.mutation import BitFlipMutation
>>> from jmetal.problem import OneMax
>>> stop = StoppingByJoules("50 mJ", "cputime:watts=10")
>>> search = GeneticAlgorithm(
...     OneMax(64), 20, 20, BitFlipMutation(1 / 64), SPXCrossover(0.9), termination_criterion=stop
... )
>>> search.run()
>>> search.evaluations > 20, stop.budget.is_spent
(True, True)
"""

from __future__ import annotations

from typing import Any

from .joules import JouleBudget
from .needed import needed

with needed("jmetalpy", "jmetal"):
    from jmetal.util.termination_criterion import TerminationCriterion


class StoppingByJoules(TerminationCriterion):
    """Ends a search when a budget is spent; it counts from its first progress.

    Parameters
    ----------
    budget : str or Budget
    meter : str or Counter
        See `JouleBudget`.
    """

    def __init__(self, budget: Any, meter: Any = "auto") -> None:
        super().__init__()
        self.budget = JouleBudget(budget, meter)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Look at the counter, after each step of the search."""
        self.budget.start()

    @property
    def is_met(self) -> bool:
        """Whether nothing is left."""
        return self.budget.is_spent
