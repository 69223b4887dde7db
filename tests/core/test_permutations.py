"""Tours, assignments and schedules; their changes, and the searches on them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import InputError, Trial, solve
from eij_core.algorithms import permutation_ga
from eij_core.algorithms.order_journal import EXCHANGED, MOVED, REVERSED, WAITING
from eij_core.engine.orders import exchange_places, move_segment, reverse_segment, shuffle
from eij_core.engine.rng import streams_for
from eij_core.engine.spaces import searched
from eij_core.problems.permutations import qap as qap_module
from eij_core.problems.permutations.flowshop import FlowShop, flowshop, taillard
from eij_core.problems.permutations.qap import qap
from eij_core.problems.permutations.tsp import ATT, CEILING, EUCLIDEAN, RULES, TSP, build, tsp
from eij_core.registry import algorithms
from eij_core.result import solution_of, written
from tests import oracles

numbers = st.integers(0, 10**6)


def table_of(draw, rows, columns):
    row = st.lists(numbers, min_size=columns, max_size=columns)
    return draw(st.lists(row, min_size=rows, max_size=rows))


@st.composite
def maps(draw):
    n, rule = draw(st.integers(2, 9)), draw(st.sampled_from([EUCLIDEAN, CEILING, ATT]))
    places = table_of(draw, n, 2)
    rows = [[oracles.tsplib_distance(RULES[rule], a, b) for b in places] for a in places]
    problem = build(rule, np.array(places, float))
    if draw(st.booleans()):  # as of a map that is too large for a table
        problem = problem._replace(table=np.zeros((0, 0), np.int64))
    return problem, lambda x: oracles.tour(rows, x)


@st.composite
def assignments(draw):
    n = draw(st.integers(2, 7))
    a, b = table_of(draw, n, n), table_of(draw, n, n)
    if draw(st.booleans()):
        a, b = ((np.array(m) + np.transpose(m)).tolist() for m in (a, b))
    problem = qap_module.build(np.array(a), np.array(b))
    return problem, lambda x: oracles.assignment(a, b, x)


@st.composite
def shops(draw):
    n, machines = draw(st.integers(2, 8)), draw(st.integers(1, 4))
    times = table_of(draw, n, machines)
    return FlowShop(n, np.array(times), math.nan), lambda x: oracles.makespan(times, x)


@st.composite
def orders(draw):
    problem, oracle = draw(st.one_of(maps(), assignments(), shops()))
    return problem, oracle, np.array(draw(st.permutations(range(problem.n))))


@st.composite
def changes(draw, n):
    kind = draw(st.sampled_from([EXCHANGED, REVERSED, MOVED]))
    if kind == MOVED:
        return (kind, *sorted(draw(st.permutations(range(n + 1)))[:3]))
    return kind, draw(st.integers(0, n - 1)), draw(st.integers(0, n - 1)), 0


def changed(x, kind, i, j, k):
    """Return the list after a change, by slices."""
    x = list(x)
    if kind == EXCHANGED:
        x[i], x[j] = x[j], x[i]
    elif kind == MOVED:
        x[i:k] = x[j:k] + x[i:j]
    else:
        places = [p % len(x) for p in range(i, j + 1 if i <= j else j + 1 + len(x))]
        for place, value in zip(places, [x[p] for p in places][::-1], strict=True):
            x[place] = value
    return x


# --- changes --------------------------------------------------------------------------------------


@given(st.data(), st.integers(2, 9))
def test_changes_of_an_array(data, n):
    x = np.arange(n)
    kind, i, j, k = data.draw(changes(n))
    do = {EXCHANGED: exchange_places, REVERSED: reverse_segment, MOVED: move_segment}[kind]
    places = (i, j, k) if kind == MOVED else (i, j)
    do(x, *places)
    assert x.tolist() == changed(range(n), kind, i, j, k)
    do(x, *((i, i + k - j, k) if kind == MOVED else places))
    assert x.tolist() == list(range(n))


@given(orders(), st.data())
def test_changes_equal_full_evaluation(order, data):
    problem, oracle, x = order
    assert problem.fitness(x) == oracle(x.tolist())
    memo = problem.prepare(x)
    for _ in range(data.draw(st.integers(0, 8))):
        kind, i, j, k = data.draw(changes(problem.n))
        places = (i, j, k) if kind == MOVED else (i, j)
        hook = {EXCHANGED: "exchange", REVERSED: "reverse", MOVED: "move"}[kind]
        expected, kept = changed(x, kind, i, j, k), (x.copy(), memo.copy())
        assert getattr(problem, f"preview_{hook}")(x, memo, *places) == oracle(expected)
        assert (x == kept[0]).all()
        assert (memo == kept[1]).all()
        getattr(problem, hook)(x, memo, *places)
        # A tour is the same whichever way round; an array is not.
        assert x.tolist() == expected
        assert (memo == problem.prepare(x)).all()


def test_random_permutations():
    seen = set()
    rng, x = streams_for(1).moves, np.zeros(4, np.int64)
    with np.errstate(over="ignore"):
        for _ in range(400):
            shuffle(rng, x)
            seen.add(tuple(x.tolist()))
    assert seen == set(itertools.permutations(range(4)))


# --- problems -------------------------------------------------------------------------------------


def test_an_optimal_trip_over_a_grid():
    problem = tsp("grid", n=6)
    best = min(problem.fitness(np.array(x)) for x in itertools.permutations(range(6)))
    assert best == problem.optimum == 6000.0


def test_neighbours_are_the_nearest():
    problem = tsp("clusters", n=60)
    for a in range(60):
        others = sorted(set(range(60)) - {a}, key=lambda b, a=a: problem.link(a, b))
        far = [problem.link(a, b) for b in others[:10]]
        assert [problem.link(a, b) for b in problem.nearest[a].tolist()] == far


def test_a_large_map_has_no_table(monkeypatch):
    monkeypatch.setattr("eij_core.problems.permutations.tsp.TABLED", 10)
    small, large = tsp(n=10), tsp(n=40)
    assert small.table.shape == (10, 10)
    assert large.table.size == 0
    monkeypatch.undo()
    tabled = tsp(n=40)
    assert (large.nearest == tabled.nearest).all()
    x = np.arange(40)
    assert large.fitness(x) == tabled.fitness(x)


def test_places_that_are_the_same():
    problem = build(EUCLIDEAN, np.zeros((2100, 2)))
    assert all(a not in row for a, row in enumerate(problem.nearest.tolist()))


@pytest.mark.parametrize(
    ("machines", "seed", "first"), [(5, 873654221, [54, 79, 16, 66, 58]), (5, 379008056, None)]
)
def test_taillards_generator(machines, seed, first):
    times = taillard(20, machines, seed)
    assert times.shape == (20, machines)
    assert 1 <= times.min() <= times.max() <= 99
    assert first is None or times[0].tolist() == first


@pytest.mark.parametrize(
    ("spec", "field"),
    [("tsp:n=2", "tsp:n"), ("tsp:layout=grid,n=7", "tsp:n"), ("qap:n=1", "qap:n")],
)
def test_parameters_that_cannot_be(spec, field):
    with pytest.raises(InputError, match=field):
        Trial(spec, "permutation-ils", meter="model").make("problem")


# --- searches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["permutation-ils:steps=200", "permutation-ga:population=20"])
@pytest.mark.parametrize("problem", ["tsp:n=7", "qap:n=6", "flowshop:jobs=6,machines=3"])
def test_small_problems_are_solved(problem, algorithm):
    trial = Trial(problem, algorithm, "eij-plus", "model", "12 J", seed=3)
    result = solve(trial, compiled=False)
    made = trial.make("problem")
    perms = itertools.permutations(range(made.n))
    assert result.best.fitness == min(made.fitness(np.array(x)) for x in perms)
    assert made.fitness(result.best.x) == result.best.fitness
    assert result.sense == "min"
    assert result.rows["best"][-1] == result.best.fitness
    assert (np.diff(result.rows["best"]) <= 0).all()


def test_an_application_that_ends_worse_is_undone():
    made = algorithms.make("permutation-ils:operators=or-2opt-3,steps=60")
    problem = searched(tsp(n=30))
    rng = streams_for(5).moves
    with np.errstate(over="ignore"):
        state = made.begin(problem, rng)
        undone = 0
        for _ in range(120):
            before = state.best_x.copy(), state.best_f[0]
            outcome = made.operators[0].apply(made, problem, state, rng)
            if outcome.gain < 0.0:
                undone += 1
                assert (state.best_x == before[0]).all()
                assert state.tally[WAITING] == 0
            assert state.best_f[0] >= before[1]
            assert problem.fitness(state.best_x) == state.best_f[0]
            assert (state.memo == problem.prepare(state.best_x)).all()
            assert (state.best_x[state.where] == np.arange(30)).all()
    assert undone > 10


@given(st.sampled_from(range(3)), st.integers(2, 9), st.integers(0, 2**31))
def test_children_are_permutations(kind, n, seed):
    rng = streams_for(seed).moves
    made = algorithms.make("permutation-ga:population=2")
    with np.errstate(over="ignore"):
        state = made.begin(searched(qap(n=n)), rng)
        mother, father = state.members
        child = mother.copy()
        permutation_ga.cross(kind, state, child, mother, father, rng)
        assert sorted(child.tolist()) == list(range(n))
        same = mother.copy()
        child[:] = mother
        permutation_ga.cross(kind, state, child, mother, same, rng)
    if kind != permutation_ga.EDGE:
        assert (child == mother).all()
    else:  # from equal parents a child has their edges
        known = {frozenset(pair) for pair in zip(mother, np.roll(mother, -1), strict=True)}
        steps = {frozenset(pair) for pair in itertools.pairwise(child)}
        assert steps <= known


# --- spaces ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "algorithm", "fits"),
    [("tsp", "ils", "permutation-ga, permutation-ils"), ("nk", "permutation-ils", "ils, ")],
)
def test_a_pair_that_does_not_fit(problem, algorithm, fits):
    with pytest.raises(InputError, match=f"algorithm = {algorithm}: expected .*: {fits}") as info:
        Trial(problem, algorithm)
    assert "\n" not in str(info.value)


def test_a_solution_is_written_and_read():
    for x in (np.array([1, 0], np.uint8), np.array([2, 0, 1]), np.array([0.1, 2.0])):
        again = solution_of(written(x))
        assert again.dtype == x.dtype
        assert (again == x).all()


def test_flow_shops_and_tours_by_objects():
    result = solve(
        Trial(flowshop(jobs=5), algorithms.make("permutation-ga"), meter="model", budget="5 J"),
        compiled=False,
    )
    assert result.best.fitness > 0
    assert isinstance(tsp(n=5), TSP)
