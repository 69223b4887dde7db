"""Problems: fitness, incremental evaluation, optima, feasibility, bad input."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import InputError
from eij_core.problems.bits.ecc import ecc
from eij_core.problems.bits.external import External, external
from eij_core.problems.bits.knapsack import (
    Family,
    Knapsack,
    build,
    knapsack,
    optimal_profit,
    pisinger,
)
from eij_core.problems.bits.nk import nk
from eij_core.registry import problems
from tests import oracles
from tests.core.components import OneMax, ones

FAMILIES = Family.__args__
NK_TABLES = [
    [2198257139, 4082210491, 619160822, 4074418350],
    [1339305888, 1818173253, 3554955571, 1757496908],
    [2360486914, 118365490, 3236314158, 2311307930],
    [1416186938, 3386275496, 1302211876, 1947758604],
]
NK_NEIGHBOURS = [[0, 3], [1, 0], [2, 3], [3, 1]]


def bits_of(text):
    return np.array([int(c) for c in text], np.uint8)


@st.composite
def knapsacks(draw):
    """Pisinger's small instances, and arbitrary numbers."""
    if draw(st.booleans()):
        family, n = draw(st.sampled_from(FAMILIES)), draw(st.integers(1, 20))
        return knapsack(family, n, draw(st.integers(10, 5000)), draw(st.integers(1, 1000)))
    items = st.lists(st.integers(1, 10**6), min_size=1, max_size=12)
    weights = np.array(draw(items))
    profits = np.array(draw(st.lists(st.integers(1, 10**6), min_size=12, max_size=12)))
    return build(profits[: len(weights)], weights, draw(st.integers(0, 2 * 10**6)))


@st.composite
def landscapes(draw):
    n = draw(st.integers(1, 10))
    neighbours = draw(st.sampled_from(["random", "adjacent"]))
    return nk(n, draw(st.integers(0, min(n - 1, 4))), draw(st.integers(0, 2**31 - 1)), neighbours)


@st.composite
def codes(draw):
    length = draw(st.integers(1, 10))
    return ecc(draw(st.integers(2, min(2**length, 8))), length)


anything = st.one_of(knapsacks(), landscapes(), codes(), st.builds(OneMax, st.integers(1, 20)))


@st.composite
def points(draw, kinds=anything):
    """A problem and one of its strings."""
    problem = draw(kinds)
    x = draw(st.lists(st.integers(0, 1), min_size=problem.n, max_size=problem.n))
    return problem, np.array(x, np.uint8)


# --- fitness --------------------------------------------------------------------------------------


@given(points(knapsacks()))
def test_knapsack_fitness(point):
    problem, x = point
    exact = oracles.knapsack(problem.profits, problem.weights, problem.capacity, x)
    assert problem.fitness(x) == pytest.approx(float(exact), rel=1e-12)
    assert problem.feasible(x) == (sum(problem.weights[x == 1]) <= problem.capacity)
    if problem.feasible(x):
        assert problem.fitness(x) == exact


@given(points(landscapes()))
def test_nk_fitness(point):
    problem, x = point
    exact = oracles.nk(problem.neighbours, problem.tables, x)
    assert problem.fitness(x) == pytest.approx(float(exact), rel=1e-15)
    assert 0.0 <= problem.fitness(x) < 1.0


@given(points(codes()))
def test_ecc_fitness(point):
    problem, x = point
    exact = oracles.ecc(x.reshape(problem.words, problem.length).tolist())
    assert problem.fitness(x) == float(exact)
    assert problem.feasible(x) == (exact > 0)


@pytest.mark.parametrize(("words", "length"), [(24, 12), (10, 30), (40, 62)])
def test_ecc_fitness_of_long_words(words, length):
    """Beyond 62 bits of common multiples the costs are rounded, by no more than this."""
    rng = np.random.Generator(np.random.PCG64(1))
    problem = ecc(words, length)
    x = rng.integers(0, 2, problem.n, dtype=np.uint8)
    exact = float(oracles.ecc(x.reshape(words, length).tolist()))
    assert problem.fitness(x) == pytest.approx(exact, rel=1e-9)


@given(points(), st.lists(st.tuples(st.integers(0, 10**6), st.booleans()), max_size=12))
def test_flips_equal_full_evaluation_bit_for_bit(point, moves):
    problem, x = point
    home, memo = x.copy(), problem.prepare(x)
    at_home = memo.copy()
    visited = [i % problem.n for i, _ in moves]
    for i, (_, asked) in zip(visited, moves, strict=True):
        if asked:
            assert problem.flip(x, memo, i) == problem.fitness(x)
        else:
            problem.toggle(x, memo, i)
        assert (memo == problem.prepare(x)).all()
    for i in reversed(visited):
        problem.toggle(x, memo, i)
    assert (x == home).all()
    assert (memo == at_home).all()
    assert problem.flip(x, memo, 0) == problem.fitness(x)
    assert problem.flip(x, memo, 0) == problem.fitness(home)


@given(points(), st.data())
def test_previews_equal_full_evaluation_and_leave_no_trace(point, data):
    problem, x = point
    bits = data.draw(st.lists(st.integers(0, problem.n - 1), min_size=1, max_size=9, unique=True))
    memo, flipped = problem.prepare(x), x.copy()
    flipped[bits] ^= 1
    before = x.copy(), memo.copy()
    room = np.array([*bits, -1], np.int64)  # what lies beyond the count is not looked at
    assert problem.preview(x, memo, room, len(bits)) == problem.fitness(flipped)
    assert (x == before[0]).all()
    assert (memo == before[1]).all()


@pytest.mark.long
@given(points())
def test_evaluation_leaves_the_string_alone(point):
    problem, x = point
    before = x.copy()
    problem.fitness(x)
    problem.prepare(x)
    assert (x == before).all()


# --- instances and optima -------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
@given(n=st.integers(1, 50), r=st.integers(10, 10**5), instance=st.integers(1, 1000))
def test_pisinger_generator(family, n, r, instance):
    profits, weights, capacity = pisinger(family, n, r, instance)
    assert (profits.tolist(), weights.tolist(), capacity) == oracles.pisinger(
        family, n, r, instance
    )
    assert profits.min() >= 1
    assert capacity >= weights.max()


def test_the_papers_knapsack():
    problem = knapsack()
    pairs = list(zip(problem.profits.tolist(), problem.weights.tolist(), strict=True))
    assert pairs[:3] == [(94, 485), (506, 326), (416, 248)]
    assert (sum(p for p, _ in pairs), sum(w for _, w in pairs)) == (50044, 50378)
    assert (problem.capacity, problem.optimum) == (995, 9147.0)
    assert problem.penalty == pytest.approx(8788.9, rel=1e-4)


@pytest.mark.parametrize(
    ("family", "instance", "optimum"),
    [
        ("uncorrelated", 1, 9147),
        ("weakly-correlated", 1, 1514),
        ("strongly-correlated", 1, 2397),
        ("inverse-strongly-correlated", 1, 997),
        ("almost-strongly-correlated", 1, 2295),
        ("subset-sum", 1, 997),
        ("uncorrelated", 500, 38155),
        ("weakly-correlated", 500, 26183),
        ("strongly-correlated", 500, 30941),
    ],
)
def test_known_optima_of_pisingers_instances(family, instance, optimum):
    assert knapsack(family, 100, 1000, instance).optimum == optimum


@given(knapsacks().filter(lambda problem: problem.n <= 9))
def test_knapsack_optimum_by_brute_force(problem):
    best = oracles.knapsack_optimum(problem.profits, problem.weights, problem.capacity)
    assert optimal_profit(problem.profits, problem.weights, problem.capacity) == best


def test_the_optimum_is_left_out_where_it_takes_long():
    assert math.isnan(knapsack(n=1000, r=10**6).optimum)
    assert math.isnan(nk(10, 2).optimum)
    assert math.isnan(nk(100, 12, neighbours="adjacent").optimum)
    assert math.isnan(ecc(4, 4).optimum)


@given(st.integers(1, 9), st.integers(0, 4), st.integers(0, 1000))
def test_adjacent_nk_optimum_by_brute_force(n, k, instance):
    problem = nk(n, min(k, n - 1), instance, "adjacent")
    every = (bits_of(f"{value:0{n}b}") for value in range(2**n))
    assert problem.optimum == max(problem.fitness(x) for x in every)


def test_random_neighbours_are_distinct_and_lead_with_the_bit_itself():
    problem = nk(30, 6, 5)
    assert (problem.neighbours[:, 0] == np.arange(30)).all()
    assert all(len(set(row)) == 7 for row in problem.neighbours.tolist())
    assert problem.neighbours.min() >= 0
    assert problem.neighbours.max() < 30
    assert not np.array_equal(problem.tables, nk(30, 6, 6).tables)


@given(landscapes())
def test_nk_readers_are_the_neighbours_inverted_in_fours(problem):
    for bit in range(problem.n):
        places = slice(int(problem.first[bit]), int(problem.first[bit + 1]))
        tables, weights = problem.readers[places], problem.weights[places]
        assert tables.size % 4 == 0
        assert tables.size < np.count_nonzero(weights) + 4
        assert {(int(t), int(w)) for t, w in zip(tables, weights, strict=True) if w} == {
            (table, 1 << (problem.k - place))
            for table, row in enumerate(problem.neighbours.tolist())
            for place, neighbour in enumerate(row)
            if neighbour == bit
        }


def test_nk_instances_never_change():
    """Instances go by number: the numbers must mean the same for ever."""
    problem = nk(4, 1, 1)
    assert problem.tables.tolist() == NK_TABLES
    assert problem.neighbours.tolist() == NK_NEIGHBOURS


def test_a_hadamard_code_is_the_optimum():
    problem = ecc()
    code = np.array(oracles.hadamard_code(), np.uint8).ravel()
    assert problem.fitness(code) == problem.optimum == 6 / 89
    memo = problem.prepare(code)
    for i in range(problem.n):  # no single flip improves it
        assert problem.flip(code, memo, i) < problem.optimum
        problem.flip(code, memo, i)


def test_two_equal_words_are_infeasible():
    problem = ecc(3, 4)
    assert problem.fitness(bits_of("000011110000")) == 0.0
    assert not problem.feasible(bits_of("000011110000"))
    assert problem.feasible(bits_of("000011110011"))


# --- bad input, and Python functions --------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ("nk:n=5,k=5", "nk:k"),
        ("nk:n=100000,k=20", "nk:k"),
        ("nk:neighbours=ring", "nk:neighbours"),
        ("nk:n=0", "nk:n"),
        ("ecc:words=5,length=2", "ecc:words"),
        ("ecc:length=63", "ecc:length"),
        ("knapsack:family=spanner", "knapsack:family"),
        ("knapsack:instance=1001", "knapsack:instance"),
        ("external:function=nowhere.at.all", "external:function"),
        ("external:function=sum", "external:function"),
        ("external:function=tests.core.components.not_a_function", "external:function"),
        ("external:function=tests.core.components.absent", "external:function"),
        ("external", "external:function"),
    ],
)
def test_bad_input_names_the_field(spec, field):
    with pytest.raises(InputError) as caught:
        problems.make(spec)
    assert caught.value.field == field


def test_the_generator_refuses_an_unknown_family():
    with pytest.raises(InputError, match="uncorrelated"):
        pisinger("spanner", 3, 10, 1)


def test_external_calls_the_function():
    problem = external("tests.core.components.ones", 3)
    assert problem == External(3, ones)
    assert problem.fitness(bits_of("101")) == 2.0
    assert problem.interpreted
    assert problem.flip(bits_of("101"), problem.prepare(bits_of("101")), 1) == 3.0


def test_a_problem_is_its_numbers():
    assert isinstance(knapsack(), Knapsack)
    assert knapsack()._replace(capacity=5).capacity == 5
