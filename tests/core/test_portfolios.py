"""The larger portfolios: moves of ILS, crossovers of the SSGA."""

import numpy as np
import pytest

from eij_core import Trial, solve
from eij_core.algorithms import ils as ils_module
from eij_core.algorithms import ssga as ssga_module
from eij_core.algorithms.ils import Scan, Segment, Swap
from eij_core.algorithms.ssga import mix, splice
from eij_core.engine.bits import pack, unpack
from eij_core.engine.rng import streams_for
from eij_core.registry import algorithms, problems

PROBLEMS = ["knapsack:n=30", "nk:n=24,k=3", "ecc:words=6,length=5"]


@pytest.fixture(autouse=True)
def words_wrap_around():
    with np.errstate(over="ignore"):
        yield


def begun(problem, algorithm, seed=1):
    problem, algorithm = problems.make(problem), algorithms.make(algorithm)
    streams = streams_for(seed)
    return problem, algorithm, algorithm.begin(problem, streams.moves), streams.moves


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", ["flip-3", "swap", "segment", "scan"])
def test_an_application_reports_what_it_did(problem, name):
    problem, algorithm, state, rng = begun(problem, f"ils:operators={name},steps=15")
    operator = algorithm.operators[0]
    for _ in range(30):
        before = state.best_f[0]
        outcome = operator.apply(algorithm, problem, state, rng)
        assert state.best_f[0] == problem.fitness(state.best_x)
        assert state.best_f[0] - before == pytest.approx(max(outcome.gain, 0.0), abs=1e-9)
        assert outcome.gain == outcome.deltas.sum()
        forecast = operator.forecast(algorithm, problem)
        assert 0 < outcome.evaluations <= forecast.evaluations
        np.testing.assert_array_equal(state.best_memo, problem.prepare(state.best_x))


def test_a_swap_keeps_the_number_of_ones():
    problem, _, state, rng = begun("nk:n=24,k=3", "ils")
    for _ in range(50):
        assert Swap().propose(problem, state, rng) == 2
        a, b = state.bits[:2]
        assert state.x[a] != state.x[b]
    state.x[:] = 1
    assert Swap().propose(problem, state, rng) == 1


def test_a_segment_is_a_run_on_a_ring():
    problem, _, state, rng = begun("nk:n=24,k=3", "ils")
    lengths = set()
    for _ in range(300):
        length = Segment().propose(problem, state, rng)
        run = state.bits[:length]
        assert ((run[1:] - run[:-1]) % 24 == 1).all()
        lengths.add(length)
    assert lengths == set(range(2, 9))


def test_a_scan_takes_the_best_flip():
    problem, algorithm, state, rng = begun("nk:n=24,k=3", "ils:operators=scan")
    state.best_f[0] = -np.inf  # accept whatever comes out
    Scan(bits=1, passes=1).apply(algorithm, problem, state, rng)
    start = state.best_x.copy()
    start_f = problem.fitness(start)
    # One pass later no single flip of the string before the pass would have been better.
    best = []
    for i in range(24):
        neighbour = start.copy()
        neighbour[i] ^= 1
        others = []
        for j in range(24):
            other = neighbour.copy()
            other[j] ^= 1
            others.append(problem.fitness(other))
        best.append(max(others))
    assert any(start_f == value for value in best)


def test_crossovers_take_genes_from_both_parents():
    rng = streams_for(3).moves
    counts = []
    for _ in range(200):
        x, child, other = np.ones(130, np.uint8), np.zeros(3, np.uint64), np.zeros(3, np.uint64)
        pack(x, other)
        mix(child, other, rng)
        unpack(child, x)
        counts.append(x.sum())
        child[:] = 0
        splice(child, other, 130, rng)
        unpack(child, x)
        assert np.count_nonzero(np.diff(x)) <= 2
    assert np.mean(counts) == pytest.approx(65, abs=2)


@pytest.mark.parametrize("name", ["uniform-1", "two-point-3"])
def test_children_enter_the_population(name):
    problem, algorithm, state, rng = begun("nk:n=24,k=3", f"ssga:operators={name}")
    start = state.best_f[0]
    for _ in range(300):
        outcome = algorithm.operators[0].apply(algorithm, problem, state, rng)
        assert outcome.gain == pytest.approx(outcome.deltas.sum())
    assert state.best_f[0] > start
    assert state.best_f[0] == problem.fitness(state.best_x)


def test_portfolios_are_found_by_name():
    for name in ("swap", "segment", "scan"):
        assert ils_module.OPERATORS[name]().name == name
    for name in ("uniform-1", "two-point-10"):
        assert ssga_module.OPERATORS[name]().name == name


@pytest.mark.compiled
@pytest.mark.parametrize(
    "algorithm",
    ["ils:operators=flip-1+swap+segment+scan", "ssga:operators=replace-1+uniform-1+two-point-5"],
)
def test_compiled_equals_interpreted(algorithm):
    trial = Trial("nk:n=24,k=3", algorithm, "uniform", "model", "30 J", seed=1)
    assert solve(trial).digest == solve(trial, compiled=False).digest
