"""Stopping rules and callbacks of the real packages, on a counter in virtual time."""

import textwrap

import nevergrad as ng
import numpy as np
import optuna
import pytest
from jmetal.algorithm.singleobjective import GeneticAlgorithm
from jmetal.operator.crossover import SPXCrossover
from jmetal.operator.mutation import BitFlipMutation
from jmetal.problem import OneMax

from eij_core.adapters import mealpy as mealpy_adapter
from eij_core.adapters.jmetalpy import StoppingByJoules
from eij_core.adapters.nevergrad import stop_after
from eij_core.adapters.optuna import MaxJoules
from tests.meters.virtual import Machine, Scripted

NS, WATTS = 100_000_000, 20.0


@pytest.fixture
def machine():
    """A machine on which one evaluation takes 2 J."""
    return Machine()


@pytest.fixture
def counter(machine):
    return Scripted(machine, watts=WATTS)


def test_nevergrad(machine, counter):
    def loss(x):
        machine.run(NS, WATTS)
        return float(np.sum(x**2))

    search = ng.optimizers.OnePlusOne(parametrization=2, budget=1000)
    search.register_callback("ask", stop_after("19 J", counter))
    search.minimize(loss)
    assert search.num_tell == 10


def test_optuna(machine, counter):
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))

    def loss(trial):
        machine.run(NS, WATTS)
        return trial.suggest_float("x", 0, 1)

    study.optimize(loss, callbacks=[MaxJoules("19 J", counter)])
    assert len(study.trials) == 10
    assert study.user_attrs["joules"] == pytest.approx(20.0, abs=0.1)
    assert study.user_attrs["provenance"] == str(counter.info.provenance)


def test_jmetalpy(machine, counter):
    class Metered(OneMax):
        def evaluate(self, solution):
            machine.run(NS // 10, WATTS)
            return super().evaluate(solution)

    stop = StoppingByJoules("19 J", counter)
    search = GeneticAlgorithm(
        Metered(16), 10, 10, BitFlipMutation(0.1), SPXCrossover(0.9), termination_criterion=stop
    )
    search.run()
    # it counts from its first progress, which is after the first population
    assert search.evaluations == 10 + 100
    assert stop.is_met


def test_mealpy(machine, counter):
    pytest.importorskip("mealpy", reason="GPL in the release for numpy 2: in the group `bench`")
    from mealpy import GA, FloatVar
    from mealpy.utils.termination import Termination

    def loss(x):
        machine.run(NS // 10, WATTS)
        return float(np.sum(x**2))

    stop = mealpy_adapter.with_joules(Termination(max_epoch=1000), "19 J", counter)
    problem = {
        "bounds": FloatVar(lb=[-1.0] * 4, ub=[1.0] * 4),
        "minmax": "min",
        "obj_func": loss,
        "log_to": None,
    }
    search = GA.BaseGA(epoch=1000, pop_size=10)
    search.solve(problem, termination=stop, seed=7)
    assert search.nfe_counter == pytest.approx(95, abs=10)
    assert stop.message.startswith("The budget is spent: ")
    shorter = mealpy_adapter.with_joules(Termination(max_epoch=3), "1 MJ", Scripted(machine))
    search.solve(problem, termination=shorter, seed=7)
    assert "epochs" in shorter.message


def test_the_example_for_mealpy(capsys):
    pytest.importorskip("mealpy", reason="GPL in the release for numpy 2: in the group `bench`")
    text = textwrap.dedent(mealpy_adapter.__doc__.partition("::\n")[2])
    exec(compile(text, "example", "exec"), {})
    assert "estimated, cputime" in capsys.readouterr().out
