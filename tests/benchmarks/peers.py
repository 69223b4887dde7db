"""The paper's solvers in MEALPY, the library that the paper used.

It has a particle swarm, but no steady-state GA and no iterated local search: those are subclasses
that use its own helpers. Its objective is written in numpy, as its documentation shows, or calls
our compiled fitness, so that only the work around it differs.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import mealpy
import numba
import numpy as np
from mealpy.evolutionary_based.GA import BaseGA
from mealpy.swarm_based.PSO import OriginalPSO

from eij_core.registry import problems

from .measure import Work
from .ours import Case

__all__ = ["VERSION", "run_mealpy"]

VERSION = mealpy.__version__
POPULATION = 100
STEPS = 100


class Clock:
    """Notes when the main loop begins: the initial population is not measured."""

    def before_main_loop(self) -> None:
        self.evaluations_before = self.nfe_counter  # type: ignore[attr-defined]
        self.began = time.thread_time()

    def work(self) -> Work:
        evaluations = self.nfe_counter - self.evaluations_before  # type: ignore[attr-defined]
        return Work(evaluations, time.thread_time() - self.began)


class Replace(Clock, BaseGA):
    """Tournament of two, one-point crossover, flips; the best of parents and children stay."""

    def __init__(self, children: int, **more: Any) -> None:
        super().__init__(pop_size=POPULATION, pc=0.8, crossover="one_point", **more)
        self.children = children

    def initialize_variables(self) -> None:
        self.pm = 1.0 / self.problem.n_dims

    def evolve(self, epoch: int) -> None:
        born = [self.generate_agent(self.breed()) for _ in range(self.children)]
        self.pop = self.get_sorted_and_trimmed_population(
            self.pop + born, self.pop_size, self.problem.minmax
        )

    def breed(self) -> Any:
        first, second = (
            self.get_index_kway_tournament_selection(self.pop, k_way=2, output=1)[0]
            for _ in range(2)
        )
        child = self.pop[first].solution
        if self.generator.random() < self.pc:
            child, _ = self.crossover_process__(child, self.pop[second].solution)
        return self.correct_solution(self.mutation_process__(child))


class Full(Clock, OriginalPSO):
    """MEALPY's own."""


class Light(Full):
    """The same without the pull of the swarm's best."""

    def evolve(self, epoch: int) -> None:
        for agent in self.pop:
            pull = self.c1 * self.generator.random(self.problem.n_dims)
            agent.velocity = self.w * agent.velocity + pull * (
                agent.local_solution - agent.solution
            )
            place = self.correct_solution(agent.solution + agent.velocity)
            target = self.get_target(place)
            if self.compare_target(target, agent.target, self.problem.minmax):
                agent.update(solution=place.copy(), target=target.copy())
            if self.compare_target(target, agent.local_target, self.problem.minmax):
                agent.update(local_solution=place.copy(), local_target=target.copy())


class Flip(Clock, mealpy.Optimizer):
    """Perturb the best, then try moves of as many flips, each kept if better."""

    def __init__(self, bits: int, epoch: int) -> None:
        super().__init__()
        self.epoch, self.pop_size, self.bits = epoch, 1, bits
        self.set_parameters(["epoch", "pop_size", "bits"])

    def evolve(self, epoch: int) -> None:
        best = self.flipped(self.g_best)
        for _ in range(STEPS):
            tried = self.flipped(best)
            if tried.target.fitness > best.target.fitness:
                best = tried
        self.pop = [self.get_better_agent(best, self.g_best, self.problem.minmax)]

    def flipped(self, agent: Any) -> Any:
        n = self.problem.n_dims
        bits = self.generator.choice(n, self.bits, replace=False)
        x = agent.solution.copy()
        x[bits] = 1.0 - x[bits]
        return self.generate_agent(self.correct_solution(x))


OPTIMIZERS: dict[str, Callable[[int], Any]] = {
    "replace-1": lambda epochs: Replace(1, epoch=epochs),
    "replace-5": lambda epochs: Replace(5, epoch=epochs),
    "light": lambda epochs: Light(epoch=epochs, pop_size=POPULATION, w=0.729),
    "full": lambda epochs: Full(epoch=epochs, pop_size=POPULATION, w=0.729),
    "flip-1": lambda epochs: Flip(1, epochs),
    "flip-5": lambda epochs: Flip(5, epochs),
}


class Bits(mealpy.Problem):
    """A problem as MEALPY's documentation has it: the objective decodes the solution."""

    def __init__(self, n: int, fitness: Callable[[Any], float]) -> None:
        super().__init__(mealpy.BinaryVar(n_vars=n, name="bits"), minmax="max", log_to=None)
        self.fitness = fitness

    def obj_func(self, x: Any) -> float:
        return self.fitness(self.decode_solution(x)["bits"])


class OurBits(Bits):
    """Without decoding, to leave as little as possible outside the optimizer."""

    def obj_func(self, x: Any) -> float:
        return self.fitness(x.astype(np.uint8))


def run_mealpy(case: Case, epochs: int, *, compiled: bool = False) -> Work:
    """Run so many applications; return evaluations per CPU time, without the start.

    The objective is written in numpy, or is our compiled fitness.
    """
    problem = problems.make(case.problem)
    if compiled:
        bits: Bits = OurBits(problem.n, functools.partial(_fitness, problem))
    else:
        bits = Bits(problem.n, functools.partial(NUMPY[case.problem], problem))
    optimizer = OPTIMIZERS[case.operator](epochs)
    with np.errstate(invalid="ignore"):  # the diversity of a population of one
        optimizer.solve(bits, seed=1)
    return optimizer.work()


@numba.njit
def _fitness(problem: Any, x: Any) -> Any:
    return problem.fitness(x)


def _knapsack(problem: Any, x: Any) -> float:
    excess = max(0, x @ problem.weights - problem.capacity)
    return x @ problem.profits - problem.penalty * excess


def _nk(problem: Any, x: Any) -> float:
    index = x[problem.neighbours] @ (1 << np.arange(problem.k, -1, -1))
    return problem.tables[np.arange(problem.n), index].sum() * problem.scale


def _ecc(problem: Any, x: Any) -> float:
    words = x.reshape(problem.words, problem.length)
    distances = (words[:, None] != words).sum(axis=2)[np.triu_indices(problem.words, 1)]
    return 0.5 / (1.0 / distances**2).sum() if distances.all() else 0.0


NUMPY: dict[str, Callable[[Any, Any], float]] = {"knapsack": _knapsack, "nk": _nk, "ecc": _ecc}
