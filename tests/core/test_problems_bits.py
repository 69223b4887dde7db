"""MaxCut, QUBO, MAX-SAT, the multidimensional knapsack, and functions with a known shape."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import InputError
from eij_core.problems.bits import maxsat as maxsat_module
from eij_core.problems.bits import mkp as mkp_module
from eij_core.problems.bits.labs import LEAST_ENERGIES, labs
from eij_core.problems.bits.leading_ones import leading_ones
from eij_core.problems.bits.maxcut import cut, maxcut
from eij_core.problems.bits.maxsat import Formula, maxsat
from eij_core.problems.bits.mkp import mkp
from eij_core.problems.bits.onemax import onemax
from eij_core.problems.bits.qubo import matrix, qubo
from eij_core.problems.bits.trap import trap
from eij_core.problems.draws import draw, draw_pairs, stream_of
from eij_core.registry import problems
from tests import oracles

weights = st.integers(-(2**40), 2**40) | st.integers(-1, 1)


def table_of(rows):
    table = np.array(rows, np.int64).reshape(-1, 3)
    return table[:, :2].copy(), table[:, 2].copy()


@st.composite
def cuts(draw):
    """A graph with any edges, some of them twice, and the shortest evaluation of its cuts."""
    n = draw(st.integers(2, 9))
    vertices = st.permutations(range(n)).map(lambda order: tuple(order[:2]))
    edges = draw(st.lists(st.tuples(vertices, weights), max_size=25))
    edges = [(i, j, w) for (i, j), w in edges]
    return cut(n, *table_of(edges)), lambda x: oracles.maxcut(edges, x)


@st.composite
def matrices(draw):
    n = draw(st.integers(1, 9))
    bits = st.integers(0, n - 1)
    entries = draw(st.lists(st.tuples(bits, bits, weights), max_size=25))
    return matrix(n, *table_of(entries)), lambda x: oracles.qubo(entries, x)


@st.composite
def formulas(draw):
    """Clauses with literals twice, with a variable and its negation, without any literal."""
    n = draw(st.integers(1, 8))
    literals = st.integers(-n, n).filter(bool)
    clauses = draw(st.lists(st.lists(literals, max_size=4), min_size=1, max_size=20))
    size = len(clauses)
    kinds = st.integers(0, 2**40) | st.integers(0, 1)
    costs = draw(st.lists(kinds, min_size=size, max_size=size))
    problem = maxsat_module.build(Formula(n, clauses, costs))
    return problem, lambda x: oracles.maxsat(clauses, costs, x)


@st.composite
def knapsacks(draw):
    n, m = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    numbers = st.integers(0, 10**6)
    rows = [draw(st.lists(numbers, min_size=n, max_size=n)) for _ in range(m)]
    limits = draw(st.lists(st.integers(0, 3 * 10**6), min_size=m, max_size=m))
    profits = draw(st.lists(numbers, min_size=n, max_size=n))
    parts = (np.array(each, np.int64) for each in (profits, np.transpose(rows), limits))
    problem = mkp_module.build(*parts)
    return problem, lambda x: oracles.mkp(profits, rows, limits, x)


def merit(n):
    return lambda x: n * n / (2 * oracles.energy(x))


sizes = st.integers(1, 12)
shaped = st.one_of(
    sizes.map(lambda n: (onemax(n), sum)),
    sizes.map(lambda n: (leading_ones(n), oracles.leading_ones)),
    sizes.map(lambda n: (labs(n + 1), merit(n + 1))),
    st.tuples(st.integers(1, 4), st.integers(2, 4)).map(
        lambda pair: (trap(*pair), lambda x: oracles.trap(pair[1], x))
    ),
)
anything = st.one_of(cuts(), matrices(), formulas(), knapsacks(), shaped)


@st.composite
def points(draw, kinds=anything):
    """A problem, its shortest evaluation, and one of its strings."""
    problem, oracle = draw(kinds)
    x = draw(st.lists(st.integers(0, 1), min_size=problem.n, max_size=problem.n))
    return problem, oracle, np.array(x, np.uint8)


# --- every problem --------------------------------------------------------------------------------


@given(points())
def test_fitness(point):
    problem, oracle, x = point
    before = x.copy()
    assert problem.fitness(x) == float(oracle(x.tolist()))
    assert (x == before).all()


@given(points(), st.lists(st.tuples(st.integers(0, 100), st.booleans()), max_size=20))
def test_flips_and_toggles_equal_full_evaluation(point, moves):
    problem, oracle, x = point
    memo = problem.prepare(x)
    for place, asked in moves:
        i = place % problem.n
        if asked:
            assert problem.flip(x, memo, i) == float(oracle(x.tolist())) == problem.fitness(x)
        else:
            problem.toggle(x, memo, i)
        assert (memo == problem.prepare(x)).all()


@given(points(), st.data())
def test_previews_equal_full_evaluation_and_leave_no_trace(point, data):
    problem, oracle, x = point
    bits = data.draw(st.lists(st.integers(0, problem.n - 1), min_size=1, max_size=9, unique=True))
    memo, flipped = problem.prepare(x), x.copy()
    flipped[bits] ^= 1
    before = x.copy(), memo.copy()
    room = np.array([*bits, -1], np.int64)  # what lies beyond the count is not looked at
    assert problem.preview(x, memo, room, len(bits)) == float(oracle(flipped.tolist()))
    assert (x == before[0]).all()
    assert (memo == before[1]).all()


@given(anything)
def test_a_known_optimum_is_the_best_of_all_strings(pair):
    problem, oracle = pair
    if problem.n <= 8 and not math.isnan(problem.optimum):
        assert problem.optimum == float(oracles.best(problem.n, oracle))


# --- MaxCut ---------------------------------------------------------------------------------------


def edges_of(problem):
    rows = np.repeat(np.arange(problem.n), np.diff(problem.first.astype(np.int64)))
    pairs = zip(rows.tolist(), problem.neighbours.tolist(), strict=True)
    return {pair: int(c) for pair, c in zip(pairs, problem.couplings, strict=True)}


@given(st.sampled_from(["random", "regular"]), st.integers(2, 30), st.integers(1, 29), st.data())
def test_generated_graphs(graph, n, degree, data):
    degree = min(degree, n - 1)
    if graph == "regular" and n * degree % 2:
        degree -= 1
    if degree == 0:
        return
    signs = data.draw(st.sampled_from(["ones", "signs"]))
    problem = maxcut(graph, n, degree, signs, data.draw(st.integers(0, 1000)))
    edges = edges_of(problem)
    assert len(edges) == n * degree // 2 * 2
    assert all(edges[j, i] == c and i != j for (i, j), c in edges.items())
    assert set(edges.values()) <= ({-2} if signs == "ones" else {-2, 2})
    degrees = np.diff(problem.first.astype(np.int64))
    assert graph == "random" or set(degrees.tolist()) == {degree}


def test_regular_graphs_forget_the_ring():
    ring = {(i, (i + d) % 60) for i in range(60) for d in (1, 2, 58, 59)}
    kept = [len(ring & set(edges_of(maxcut("regular", 60, 4, instance=i)))) for i in range(20)]
    assert np.mean(kept) < 40  # of 240, where 4/59 of all pairs, 16, would be there by chance


@pytest.mark.parametrize(
    ("n", "degree", "sides"),
    [(9, 4, (3, 3)), (800, 4, (25, 32)), (27, 6, (3, 3, 3)), (512, 6, (8, 8, 8))],
)
def test_a_torus_joins_neighbours_on_every_side(n, degree, sides):
    edges = set(edges_of(maxcut("torus", n, degree)))
    assert len(edges) == n * degree
    for place in np.ndindex(*sides):
        here = np.ravel_multi_index(place, sides)
        for axis, step in ((a, s) for a in range(len(sides)) for s in (1, -1)):
            there = list(place)
            there[axis] = (there[axis] + step) % sides[axis]
            assert (here, np.ravel_multi_index(there, sides)) in edges


def test_an_even_torus_is_cut_whole_and_an_odd_one_is_not():
    problem = maxcut("torus", 64, 4)
    chessboard = np.indices((8, 8)).sum(axis=0).ravel() % 2
    assert problem.optimum == problem.fitness(chessboard.astype(np.uint8)) == 128.0
    assert math.isnan(maxcut("torus", 9, 4).optimum)
    assert math.isnan(maxcut().optimum)


def test_edges_without_weight_join_nothing():
    """Without them this odd ring is a path, whose edges one cut holds."""
    pairs = np.array([[0, 1], [1, 2], [2, 0]])
    assert cut(3, pairs, np.array([1, 1, 0])).optimum == 2.0
    assert math.isnan(cut(3, pairs, np.array([1, 1, 1])).optimum)
    assert cut(3, pairs, np.array([1, 1, -1])).optimum == 2.0


# --- QUBO, MAX-SAT, knapsacks ---------------------------------------------------------------------


def test_qubo_as_beasley_draws_it():
    problem = qubo(200, 0.1)
    assert problem.neighbours.size == pytest.approx(0.1 * 200 * 199, rel=0.02)
    assert np.abs(problem.linear).max() <= 100
    assert np.abs(problem.couplings).max() <= 200
    assert (problem.couplings % 2 == 0).all()
    assert qubo(5, 0.0).neighbours.size == 0
    assert qubo(5, 1.0).neighbours.size >= 18  # of 20: an entry that is drawn may be 0


def test_all_clauses_can_be_satisfied_where_a_solution_is_planted():
    problem = maxsat(8, 6.0, 3, planted=True, instance=4)
    assert problem.optimum == 48.0
    assert oracles.best(8, lambda x: problem.fitness(np.array(x, np.uint8))) == 48.0
    assert math.isnan(maxsat().optimum)


def test_clauses_have_distinct_variables():
    problem = maxsat(5, 10.0, 4)
    assert problem.clauses.size == 4 * 50
    for i in range(problem.n):
        clauses = problem.clauses[int(problem.first[i]) : int(problem.first[i + 1])].tolist()
        assert len(set(clauses)) == len(clauses)


@given(points(formulas()))
def test_a_broken_hard_clause_outweighs_everything(point):
    problem, _, x = point
    assert problem.feasible(x) == (problem.fitness(x) >= 0)


@given(points(knapsacks()))
def test_the_best_selection_of_a_knapsack_is_feasible(point):
    problem, _, x = point
    loads = problem.weights[x == 1].sum(axis=0)
    assert problem.feasible(x) == bool((loads <= problem.capacities).all())
    if problem.feasible(x):
        assert problem.fitness(x) == problem.profits[x == 1].sum()
    strings = [np.array(list(f"{v:0{problem.n}b}"), np.uint8) for v in range(2**problem.n)]
    assert problem.feasible(max(strings, key=problem.fitness))


def test_mkp_as_chu_and_beasley_draw_it():
    problem = mkp(200, 5, 0.25)
    assert 1 <= problem.weights.min() <= problem.weights.max() <= 1000
    assert (problem.capacities == problem.weights.sum(axis=0) // 4).all()
    bonus = problem.profits - problem.weights.sum(axis=1) // 5
    assert 0 <= bonus.min() <= bonus.max() <= 500


# --- functions of a known shape -------------------------------------------------------------------


@pytest.mark.parametrize("problem", [onemax(7), leading_ones(7), trap(3, 4)])
def test_ones_are_the_optimum(problem):
    assert problem.fitness(np.ones(problem.n, np.uint8)) == problem.optimum == problem.n


def test_a_trap_leads_to_zeros():
    problem = trap(1, 5)
    values = [problem.fitness(np.array([1] * u + [0] * (5 - u), np.uint8)) for u in range(6)]
    assert values == [4.0, 3.0, 2.0, 1.0, 0.0, 5.0]


@pytest.mark.parametrize("n", range(2, 13))
def test_least_energies_by_brute_force(n):
    assert LEAST_ENERGIES[n] == -oracles.best(n, lambda x: -oracles.energy(x))


@pytest.mark.parametrize(
    ("n", "runs"),
    [(7, "3211"), (11, "331211"), (13, "5221111"), (20, "5113112321"), (27, "34313131211211")],
)
def test_published_sequences_have_the_largest_merit_factors(n, runs):
    """Given by the lengths of their runs; the first three are Barker's codes."""
    x = [i % 2 for i, run in enumerate(map(int, runs)) for _ in range(run)]
    problem = labs(n)
    assert problem.fitness(np.array(x, np.uint8)) == problem.optimum


def test_merit_factors_as_published():
    known = {13: 14.08, 20: 7.69, 27: 9.85, 40: 7.41, 51: 8.50, 60: 8.26, 64: 9.85, 66: 8.47}
    assert {n: round(labs(n).optimum, 2) for n in known} == known
    assert sorted(LEAST_ENERGIES) == list(range(2, 67))
    assert math.isnan(labs(67).optimum)


def test_energies_have_the_parity_of_the_number_of_odd_correlations():
    """C_k is odd where n − k is, and odd squares are 1 modulo 8, even ones 0 or 4."""
    for n, least in LEAST_ENERGIES.items():
        assert (least - n // 2) % 4 == 0


# --- instances, bad input -------------------------------------------------------------------------


def test_instances_never_change():
    """Instances go by number: the numbers must mean the same for ever."""
    random = stream_of(7)
    assert draw(random, 0, 99, 6).tolist() == [21, 62, 93, 57, 50, 86]
    assert draw_pairs(random, 9, 4).tolist() == [[2, 3], [0, 6], [2, 4], [3, 6]]
    assert draw_pairs(random, 3, 2).tolist() == [[0, 1], [0, 2]]
    assert maxcut(n=6, degree=2).neighbours.tolist() == [1, 5, 0, 2, 3, 4, 1, 5, 1, 1, 0, 2]
    ring = maxcut("regular", 6, 2, "signs")
    assert ring.neighbours.tolist() == [2, 4, 2, 5, 0, 1, 4, 5, 0, 3, 1, 3]
    assert ring.couplings.tolist() == [-2, 2, -2, -2, -2, -2, 2, 2, 2, 2, -2, 2]
    square = qubo(4, 0.5)
    assert square.linear.tolist() == [18, -30, 51, -33]
    assert square.couplings.tolist() == [-196, -196, -200, -200, -166, -166]
    formula = maxsat(4, 1.0, 2, planted=True)
    assert formula.clauses.tolist() == [0, 0, 1, 3, 1, 2, 3, 2]
    assert formula.negated.tolist() == [1, 0, 1, 1, 0, 0, 0, 1]
    sacks = mkp(3, 1)
    assert sacks.profits.tolist() == [417, 352, 1293]
    assert sacks.weights.ravel().tolist() == [64, 44, 943]
    assert sacks.capacities.tolist() == [525]


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ("maxcut:n=6,degree=6", "maxcut:degree"),
        ("maxcut:n=100000,degree=21", "maxcut:degree"),
        ("maxcut:graph=regular,n=7,degree=3", "maxcut:degree"),
        ("maxcut:graph=torus,degree=5", "maxcut:degree"),
        ("maxcut:graph=torus,n=14,degree=4", "maxcut:n"),
        ("maxcut:graph=torus,n=101,degree=6", "maxcut:n"),
        ("maxcut:graph=wheel", "maxcut:graph"),
        ("maxcut:n=1", "maxcut:n"),
        ("qubo:n=100000,density=0.5", "qubo:density"),
        ("qubo:density=2", "qubo:density"),
        ("maxsat:n=2", "maxsat:k"),
        ("maxsat:n=100000,ratio=6", "maxsat:ratio"),
        ("mkp:n=100000,m=21", "mkp:m"),
        ("mkp:tightness=1.5", "mkp:tightness"),
        ("trap:k=1", "trap:k"),
        ("labs:n=1", "labs:n"),
        ("onemax:n=0", "onemax:n"),
        ("leading-ones:n=0", "leading-ones:n"),
    ],
)
def test_bad_input_names_the_field(spec, field):
    with pytest.raises(InputError) as caught:
        problems.make(spec)
    assert caught.value.field == field
