"""Functions of real numbers, differential evolution and the swarm; functions of `ioh`."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import InputError, Trial, solve
from eij_core.algorithms import de as de_module
from eij_core.components import check_component
from eij_core.engine.rng import streams_for
from eij_core.engine.spaces import searched
from eij_core.problems.reals.classics import FUNCTIONS, classic
from eij_core.registry import algorithms, problems
from tests import oracles


@given(st.sampled_from(FUNCTIONS), st.integers(2, 6), st.integers(0, 9), st.data())
def test_fitness(name, n, instance, data):
    problem = classic(FUNCTIONS.index(name), n, instance)
    assert problem.fitness(problem.shift) == pytest.approx(0.0, abs=1e-9)
    assert problem.low < problem.shift.min() <= problem.shift.max() < problem.high
    width = st.floats(problem.low, problem.high)
    x = np.array(data.draw(st.lists(width, min_size=n, max_size=n)))
    z = (x - problem.shift + (name == "rosenbrock")).tolist()
    assert problem.fitness(x) == pytest.approx(oracles.classics(name, z), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("algorithm", ["de:population=15", "real-pso:swarm=15"])
def test_a_bowl_is_descended(algorithm):
    trial = Trial("sphere:n=3", algorithm, "uniform", "model", "20 J", seed=2)
    result = solve(trial, compiled=False)
    assert result.best.fitness < 1e-3 < result.rows["best"][0]
    assert result.best.gap == result.best.fitness
    assert result.sense == "min"
    assert (np.diff(result.rows["best"]) <= 0).all()
    assert ((result.best.x >= -5.12) & (result.best.x <= 5.12)).all()


@given(st.sampled_from(range(4)), st.integers(0, 2**31))
def test_children_stay_within_the_bounds(strategy, seed):
    made = algorithms.make("de:population=6,scale=2")
    problem = searched(problems.make("sphere:n=4"))
    rng = streams_for(seed).moves
    with np.errstate(over="ignore"):
        state = made.begin(problem, rng)
        de_module.draw_others(state.others, 2, 6, rng)
        assert sorted(state.others.tolist()) == [0, 1, 3, 4, 5]
        de_module.step(strategy, made, state, 2, -5.12, 5.12, rng)
    assert (np.abs(state.x) <= 5.12).all()
    assert (state.x != state.members[2]).any()


def test_a_step_by_hand():
    made = algorithms.make("de:population=6,scale=0.5,crossover=1")
    rng = streams_for(3).moves
    with np.errstate(over="ignore"):
        state = made.begin(searched(problems.make("sphere:n=4")), rng)
        state.others[:] = [0, 1, 3, 4, 5]
        state.members[:] *= 0.1  # so that no step leaves the bounds
        m = state.members
        a, b, c, d, e = (m[k] for k in (0, 1, 3, 4, 5))
        expected = {
            de_module.RAND_1: a + 0.5 * (b - c),
            de_module.RAND_2: a + 0.5 * (b - c) + 0.5 * (d - e),
            de_module.RAND_TO_BEST_2: (
                a + 0.5 * (b - c) + 0.5 * (d - e) + 0.5 * (state.best_x - a)
            ),
        }
        for strategy, child in expected.items():
            de_module.step(strategy, made, state, 2, -5.12, 5.12, rng)
            np.testing.assert_allclose(state.x, child, rtol=1e-12)


def test_bbob():
    pytest.importorskip("ioh")
    problem = problems.make("bbob:function=3,n=5,instance=2")
    assert check_component(problem) == []
    assert problem.fitness(np.array(problem.function.optimum.x)) == pytest.approx(problem.optimum)
    trial = Trial("bbob:function=1,n=2", "de:population=12", "uniform", "model", "15 J")
    assert solve(trial).best.gap < 1e-2


@pytest.mark.parametrize("name", ["OneMax", "LeadingOnes", "LABS", "IsingRing"])
def test_functions_of_ioh(name):
    pytest.importorskip("ioh")
    problem = problems.make(f"ioh:function={name},n=16")
    assert check_component(problem) == []
    assert solve(Trial(problem, "ils:steps=20", "uniform", "model", "3 J")).best.fitness > 0


@pytest.mark.parametrize(
    ("ours", "theirs"), [("onemax", "OneMax"), ("leading-ones", "LeadingOnes"), ("labs", "LABS")]
)
@given(x=st.lists(st.integers(0, 1), min_size=12, max_size=12))
def test_our_functions_are_those_of_ioh(ours, theirs, x):
    pytest.importorskip("ioh")
    mine, other = problems.make(f"{ours}:n=12"), problems.make(f"ioh:function={theirs},n=12")
    x = np.array(x, np.uint8)
    assert mine.fitness(x) == pytest.approx(other.fitness(x))
    assert math.isnan(other.optimum) or other.optimum == mine.optimum


def test_what_ioh_does_not_have(monkeypatch):
    pytest.importorskip("ioh")
    with pytest.raises(InputError, match="did you mean 'OneMax'"):
        problems.make("ioh:function=OneMx")
    monkeypatch.setitem(sys.modules, "ioh", None)
    with pytest.raises(InputError, match="pip install"):
        problems.make("bbob:function=1")
