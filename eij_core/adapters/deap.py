"""DEAP: crossovers and mutations chosen by gain per Joule, and a budget in Joules.

Nothing of DEAP is imported here: its toolbox and its individuals go by their shape::

    import random
    from deap import algorithms, base, creator, tools
    from eij_core.adapters.deap import JouleVariation

    creator.create("Most", base.Fitness, weights=(1.0,))
    creator.create("Bits", list, fitness=creator.Most)
    random.seed(7)
    toolbox = base.Toolbox()
    toolbox.register("bits", tools.initRepeat, creator.Bits, lambda: random.randint(0, 1), 64)
    toolbox.register("select", tools.selTournament, tournsize=3)
    toolbox.register("evaluate", lambda bits: (sum(bits),))
    variation = JouleVariation(
        toolbox,
        mate={"one point": tools.cxOnePoint, "two points": tools.cxTwoPoint},
        mutate={"flip": lambda bits: tools.mutFlipBit(bits, 0.02)},
        budget="5 J",
        meter="model",
        sense="max",
    )
    population = [toolbox.bits() for _ in range(20)]
    with variation:  # the body ends when the budget is spent
        algorithms.eaSimple(population, toolbox, 0.6, 0.3, ngen=10**6, verbose=False)
    print(variation.result())
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from types import TracebackType
from typing import Any

from ..errors import InputError
from ..result import Result
from ..scheduling.step import Step
from .steps import Steps

Gain = Callable[[list[Any], list[Any]], Any]


class BudgetSpent(Exception):
    """No pair of operators fits in what is left; `JouleVariation` catches it as a context."""


class JouleVariation:
    """Puts into a toolbox a `mate` and a `mutate` that choose among several.

    A step is one generation: from its first variation, over the evaluation of its offspring, to the
    first variation of the next. All of it uses the same pair. The offspring's fitness is deleted,
    as DEAP's own algorithms do, and the next generation is known by one that has a fitness again.

    Parameters
    ----------
    toolbox : deap.base.Toolbox
    mate, mutate : mapping of str to callable
        The alternatives, in the form that the toolbox has them: two individuals, or one.
    gain : callable, optional
        ``gain(parents, offspring)`` of the fitness (`wvalues`) of the parents and of the evaluated
        offspring: how much better, as one number or a list. By default, with one objective, by how
        much each offspring is better than the best so far.
    options
        Of `Scheduler`: budget, meter, selector, seed, …; `sense` as the weights of the fitness say.
    """

    def __init__(
        self,
        toolbox: Any,
        *,
        mate: Mapping[str, Callable[..., Any]],
        mutate: Mapping[str, Callable[..., Any]],
        gain: Gain | None = None,
        **options: Any,
    ) -> None:
        self._pairs = list(product(mate.values(), mutate.values()))
        names = [f"{a} + {b}" for a, b in product(mate, mutate)]
        self.steps = Steps(names, self._judge, **options)
        self._gain = gain or DefaultGain()
        self._offspring: dict[int, Any] = {}
        self._parents: list[Any] = []
        toolbox.register("mate", self._vary, 0)
        toolbox.register("mutate", self._vary, 1)

    def _vary(self, part: int, *individuals: Any) -> Any:
        step = self.steps.open
        if step is None or any(each.fitness.valid for each in self._offspring.values()):
            if self.steps.is_spent:
                raise BudgetSpent(f"{self.scheduler.run.reason}: vary inside `with variation:`")
            step = self.steps.take()
            self._offspring, self._parents = {}, []
        self._parents += [each.fitness.wvalues for each in individuals if each.fitness.valid]
        offspring = self._pairs[step.number][part](*individuals)
        for each in offspring:
            if each.fitness.valid:
                del each.fitness.values
            self._offspring[id(each)] = each
        return offspring

    def _judge(self, step: Step) -> None:
        valid = [each.fitness for each in self._offspring.values() if each.fitness.valid]
        if not valid:  # nothing was evaluated, or the generation was broken off
            return
        gain = self._gain(self._parents, [fitness.wvalues for fitness in valid])
        if isinstance(gain, int | float):
            step.gain = float(gain)
        else:
            step.gains = gain
        step.evaluations = len(valid)
        if len(valid[0].wvalues) == 1:
            step.best = float(max(valid).values[0])

    def __enter__(self) -> JouleVariation:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        return isinstance(error, BudgetSpent)

    @property
    def scheduler(self) -> Any:
        """The scheduler that chooses."""
        return self.steps.scheduler

    def result(self) -> Result:
        """Return what the Joules bought."""
        return self.steps.result()


class DefaultGain:
    """By how much each offspring is better than the best before, with one objective."""

    def __init__(self) -> None:
        self._best: float | None = None

    def __call__(self, parents: list[Any], offspring: list[Any]) -> list[float]:
        """Return the gain of each offspring."""
        if len(offspring[0]) != 1:
            wanted = "gain=…: a function of the parents' and the offspring's fitness"
            raise InputError("gain", f"none for {len(offspring[0])} objectives", wanted)
        known = [values[0] for values in parents]
        best = max(known if self._best is None else [*known, self._best], default=offspring[0][0])
        self._best = max(best, *(values[0] for values in offspring))
        return [values[0] - best for values in offspring]
