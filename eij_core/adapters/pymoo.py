"""pymoo: crossovers and mutations chosen by gain per Joule, and a budget in Joules.

>>> from pymoo.algorithms.moo.nsga2 import NSGA2
>>> from pymoo.operators.crossover.pntx import TwoPointCrossover
>>> from pymoo.operators.crossover.sbx import SBX
>>> from pymoo.operators.mutation.gauss import GaussianMutation
>>> from pymoo.operators.mutation.pm import PM
>>> from pymoo.optimize import minimize
>>> from pymoo.problems import get_problem
>>> search = NSGA2(pop_size=20)
>>> search.mating = JouleMating(
...     search.mating,
...     [SBX(), TwoPointCrossover()],
...     [PM(), GaussianMutation()],
...     budget="4 J",
...     meter="model",
...     compiled=False,
... )
>>> found = minimize(get_problem("zdt1"), search, MaxJoules(search.mating), seed=1)
>>> result = search.mating.result()
>>> [total.name for total in result.operators][:2]
['SBX + PM', 'SBX + GaussianMutation']
>>> result.reason, result.spent.evaluations == 20 * result.spent.decisions
('no operator fits in the Joules left', True)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..result import Result
from ..scheduling.step import Step
from .joules import spending
from .needed import needed
from .steps import Steps, unique_names

with needed("pymoo"):
    from pymoo.core.mating import Mating
    from pymoo.core.termination import Termination
    from pymoo.indicators.hv import Hypervolume

ROOM = 0.1
"""How far the hypervolume's reference point lies behind the first population, of its extent."""

Gain = Callable[[Any, Any, Any], Any]


class JouleMating(Mating):
    """Mates with that pair of a crossover and a mutation that buys the most gain per Joule.

    A step is one generation: mating, the evaluation of the offspring, survival. Stop with
    `MaxJoules(mating)`.

    Parameters
    ----------
    mating : Mating
        The algorithm's own, for its selection, its repair and its check for duplicates.
    crossovers : sequence of Crossover
    mutations : sequence of Mutation
    gain : callable, optional
        ``gain(before, offspring, after)`` of three populations: how much better, as one number or
        one for each offspring. By default, with one objective, by how much each offspring is better
        than the best before; with several, by how much the hypervolume has grown, as a share of
        the box around the first population. While nothing is feasible: by how much the least
        violation has fallen.
    options
        Of `Scheduler`: budget, meter, selector, seed, …
    """

    def __init__(
        self,
        mating: Any,
        crossovers: Sequence[Any],
        mutations: Sequence[Any],
        *,
        gain: Gain | None = None,
        **options: Any,
    ) -> None:
        self._pairs = list(product(crossovers, mutations))
        first, second = unique_names(crossovers), unique_names(mutations)
        names = [f"{a} + {b}" for a, b in product(first, second)]
        self.steps = Steps(names, self._judge, **options)
        super().__init__(
            mating.selection, *self._pairs[0], repair=mating.repair,
            eliminate_duplicates=mating.eliminate_duplicates,
            n_max_iterations=mating.n_max_iterations,
        )  # fmt: skip
        self._gain = gain or DefaultGain()

    def __deepcopy__(self, memo: Any) -> JouleMating:
        return self  # `minimize` copies its algorithm, and there is one budget

    def do(self, problem: Any, pop: Any, n_offsprings: int, *, algorithm: Any, **given: Any) -> Any:
        """Return the offspring of one generation, all of the pair that was chosen for it."""
        step = self.steps.take()
        self.crossover, self.mutation = self._pairs[step.number]
        offspring = super().do(problem, pop, n_offsprings, algorithm=algorithm, **given)
        self._generation = pop, offspring, algorithm
        return offspring

    def _judge(self, step: Step) -> None:
        before, offspring, algorithm = self._generation
        after = algorithm.pop
        gain = np.asarray(self._gain(before, offspring, after), float)
        if gain.ndim:
            step.gains = gain
        else:
            step.gain = float(gain)
        step.evaluations = len(offspring)
        least = _feasible(after)
        if least.shape[1] == 1 and least.size:
            step.best = float(least.min())

    @property
    def scheduler(self) -> Any:
        """The scheduler that chooses."""
        return self.steps.scheduler

    def result(self) -> Result:
        """Return what the Joules bought."""
        return self.steps.result()


class DefaultGain:
    """How much better a population has become: see `JouleMating`."""

    def __init__(self) -> None:
        self._box: tuple[NDArray[Any], NDArray[Any]] | None = None

    def __call__(self, before: Any, offspring: Any, after: Any) -> Any:
        """Return the gain of a generation, with one objective that of each offspring."""
        known, found = _feasible(before), _feasible(after)
        if not len(known):
            return float(before.get("CV").min() - after.get("CV").min())
        if known.shape[1] > 1:
            volume = self._volume(known)  # of the first population, which sets the box
            return self._volume(found) - volume
        gains = known.min() - offspring.get("F")[:, 0]
        return np.where(offspring.get("CV")[:, 0] <= 0.0, gains, np.minimum(gains, 0.0))

    def _volume(self, objectives: NDArray[Any]) -> float:
        if self._box is None:
            low, high = objectives.min(axis=0), objectives.max(axis=0)
            self._box = low, np.where(high > low, high - low, 1.0)
        low, extent = self._box
        inside = (objectives - low) / extent
        corner = np.full(inside.shape[1], 1.0 + ROOM)
        return float(Hypervolume(ref_point=corner)(inside)) / (1.0 + ROOM) ** inside.shape[1]


class MaxJoules(Termination):
    """Ends when a budget is spent: that of a `JouleMating`, or one of its own.

    Parameters
    ----------
    budget : JouleMating or str or Budget
    meter : str or Counter
        For a budget of its own, which counts from the end of the first generation: see
        `JouleBudget`.
    """

    def __init__(self, budget: Any, meter: Any = "auto") -> None:
        super().__init__()
        self.spending = spending(budget, meter)

    def _update(self, algorithm: Any) -> float:
        return self.spending.progress


def _feasible(population: Any) -> NDArray[Any]:
    """Return the objectives of the feasible ones."""
    objectives, violation = population.get("F"), population.get("CV")
    feasible: NDArray[Any] = objectives[violation[:, 0] <= 0.0]
    return feasible
