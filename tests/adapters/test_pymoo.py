"""pymoo: gains with one and several objectives, constraints, duplicates, termination."""

import copy

import numpy as np
import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.soo.nonconvex.ga import GA
from pymoo.core.population import Population
from pymoo.operators.crossover.pntx import TwoPointCrossover
from pymoo.operators.crossover.sbx import SBX
from pymoo.operators.mutation.pm import PM
from pymoo.optimize import minimize
from pymoo.problems import get_problem
from pymoo.termination.max_gen import MaximumGenerationTermination

from eij_core.adapters.pymoo import DefaultGain, JouleMating, MaxJoules
from eij_core.meters.counters.cputime import CpuTimeCounter

SIMULATED = {"meter": "model", "budget": "6 J", "compiled": False, "every": 1}


def mated(algorithm, **options):
    crossovers = [SBX(), TwoPointCrossover()]
    algorithm.mating = JouleMating(
        algorithm.mating, crossovers, [PM(), PM(prob=0.5)], **{**SIMULATED, **options}
    )
    return algorithm


def population(*objectives, violations=None):
    made = Population.new("F", np.array(objectives, float))
    made.set("CV", np.zeros((len(made), 1)) if violations is None else np.c_[violations])
    return made


def test_one_objective_is_searched_and_booked():
    search = mated(GA(pop_size=10))
    found = minimize(get_problem("sphere", n_var=3), search, MaxJoules(search.mating), seed=3)
    result = search.mating.result()
    assert result.best.fitness == found.F[0] < 0.01
    assert result.sense == "min"
    assert [total.name for total in result.operators] == [
        "SBX + PM 1", "SBX + PM 2", "TwoPointCrossover + PM 1", "TwoPointCrossover + PM 2",
    ]  # fmt: skip
    assert result.spent.decisions == found.algorithm.n_gen - 2
    assert result.spent.evaluations == 10 * result.spent.decisions
    assert all(total.applications for total in result.operators)
    assert search.mating.steps.is_spent


def test_several_objectives_gain_hypervolume():
    gains = []
    gain = DefaultGain()

    def noted(*populations):
        gains.append(gain(*populations))
        return gains[-1]

    search = mated(NSGA2(pop_size=20), gain=noted)
    minimize(get_problem("zdt1", n_var=5), search, MaxJoules(search.mating), seed=3)
    totals = search.mating.result().operators
    assert sum(total.gain for total in totals) == pytest.approx(sum(gains))
    assert 0.1 < sum(gains) < 2.0
    assert min(gains) > -1e-3


def test_the_hypervolume_is_a_share_of_the_first_box():
    gain = DefaultGain()
    first = population([0.0, 10.0], [5.0, 0.0])
    better = population([0.0, 0.0])
    # the corner lies a tenth behind the first box; its two ends cover 0.11 each of 1.21
    covered = (1.1 * 0.1 + 0.1 * 1.1 - 0.1 * 0.1) / 1.21
    assert gain(first, better, better) == pytest.approx(1.0 - covered)
    assert gain(first, first, first) == 0.0


def test_each_offspring_gains_beside_the_best_feasible():
    before = population([5.0], [3.0], [1.0], violations=[0.0, 0.0, 2.0])
    offspring = population([4.0], [2.0], [0.0], violations=[0.0, 0.0, 1.0])
    assert DefaultGain()(before, offspring, offspring).tolist() == [-1.0, 1.0, 0.0]


def test_while_nothing_is_feasible_violations_fall():
    before = population([1.0], [2.0], violations=[4.0, 3.0])
    after = population([1.0], [9.0], violations=[2.5, 8.0])
    assert DefaultGain()(before, after, after) == pytest.approx(0.5)


def test_a_constrained_problem():
    search = mated(NSGA2(pop_size=12), budget="3 J")
    minimize(get_problem("bnh"), search, MaxJoules(search.mating), seed=1)
    assert search.mating.result().spent.decisions > 3


def test_a_generation_is_one_step_whatever_the_duplicates():
    search = mated(GA(pop_size=16), budget="1 kJ")
    minimize(get_problem("sphere", n_var=2), search, MaximumGenerationTermination(8), seed=1)
    assert search.mating.result().spent.decisions == 7


def test_its_copies_share_the_budget():
    search = mated(GA(pop_size=10))
    copied = copy.deepcopy(search)
    assert copied.mating is search.mating
    stop = MaxJoules(search.mating)
    assert copy.deepcopy(stop).spending is stop.spending is search.mating.steps


def test_joules_end_any_algorithm():
    stop = MaxJoules("0.2 J", CpuTimeCounter(10.0))
    found = minimize(get_problem("sphere"), GA(pop_size=10), stop, seed=1)
    assert stop.spending.is_spent
    assert found.algorithm.n_gen > 2
