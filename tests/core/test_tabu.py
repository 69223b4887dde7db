"""Tabu search: what is forbidden, what a walk takes, and that it finds optima."""

import itertools

import numpy as np
import pytest

from eij_core import Trial, solve
from eij_core.algorithms import tabu as module
from eij_core.engine.rng import streams_for
from eij_core.registry import algorithms, problems


def begun(operators="short", problem="qubo:n=30,density=0.3", seed=4):
    made = algorithms.make(f"tabu:steps=4,operators={operators}")
    landscape, rng = problems.make(problem), streams_for(seed).moves
    return made, landscape, made.begin(landscape, rng), rng


@pytest.mark.parametrize("problem", ["maxcut:n=12", "qubo:n=12", "labs:n=12", "mkp:n=12,m=2"])
def test_small_problems_are_solved(problem):
    trial = Trial(problem, "tabu:steps=20", "uniform", "model", "60 J", seed=1)
    landscape = trial.make("problem")
    strings = (np.array(x, np.uint8) for x in itertools.product((0, 1), repeat=12))
    assert solve(trial, compiled=False).best.fitness == max(map(landscape.fitness, strings))


def test_the_best_flip_that_is_free():
    _, landscape, state, rng = begun()
    with np.errstate(over="ignore"):
        values = []
        for i in range(30):
            moved = state.x.copy()
            moved[i] ^= 1
            values.append(landscape.fitness(moved))
        order = np.argsort(values)[::-1]
        state.best_f[0] = values[order[1]] if values[order[0]] > values[order[1]] else np.inf
        state.until[:] = 5  # all are forbidden, but one is better than the best
        assert values[module.best_flip(landscape, state, rng)] == values[order[0]]
        state.best_f[0] = np.inf
        state.until[order[:3]], state.until[order[3:]] = 5, 0
        assert values[module.best_flip(landscape, state, rng)] == values[order[3]]
        assert state.f[0] == values[order[3]]
        state.until[:] = 5  # all are: any will do, and its fitness is entered
        assert state.f[0] in values
        chosen = module.best_flip(landscape, state, rng)
        assert state.f[0] == values[chosen]


@pytest.mark.parametrize("operators", ["short", "long", "kick-2", "kick-50"])
def test_a_walk_keeps_its_books(operators):
    made, landscape, state, rng = begun(operators)
    with np.errstate(over="ignore"):
        for _ in range(20):
            best = state.best_f[0]
            outcome = made.operators[0].apply(made, landscape, state, rng)
            assert landscape.fitness(state.x) == state.f[0]
            assert landscape.fitness(state.best_x) == state.best_f[0] >= best
            assert (state.memo == landscape.prepare(state.x)).all()
            assert (state.best_memo == landscape.prepare(state.best_x)).all()
            assert (outcome.gain > 0.0) == (state.best_f[0] > best)
            assert outcome.evaluations == 120 + operators.startswith("kick")
    assert state.step[0] == 80
    assert state.until.max() > 80
