"""The paper's algorithms, step by step, against slow versions on the same random stream."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import InputError, Run, Trial
from eij_core.algorithms.ils import ils
from eij_core.algorithms.portfolio import delta_of
from eij_core.algorithms.pso import pso
from eij_core.algorithms.ssga import ssga
from eij_core.engine.bits import unpack
from eij_core.engine.rng import streams_for
from eij_core.problems.bits.ecc import ecc
from eij_core.problems.bits.knapsack import knapsack
from eij_core.problems.bits.nk import nk
from tests.core.components import OneMax
from tests.oracles import Local, Particle, Population, Swarm, Xoshiro

PROBLEMS = [nk(11, 2, 3), knapsack(n=13, r=40, instance=300), nk(70, 1, 3), ecc(9, 8)]
problems = st.sampled_from(PROBLEMS)
seeds = st.integers(0, 2**32)


def both(seed):
    """The same stream twice: for the kernel and for the oracle."""
    rng = streams_for(seed).moves
    return rng, Xoshiro([int(word) for word in rng])


def fitness_of(problem):
    return lambda bits: problem.fitness(np.array(bits, np.uint8))


def in_step(rng, random):
    return rng.tolist() == random.state


# --- iterated local search ------------------------------------------------------------------------


@given(problems, seeds, st.lists(st.sampled_from([1, 2, 5]), max_size=5), st.integers(1, 12))
def test_iterated_local_search(problem, seed, moves, steps):
    algorithm = ils("flip-1+flip-2+flip-5", steps)
    operators = {operator.bits: operator for operator in algorithm.operators}
    rng, random = both(seed)
    fitness = fitness_of(problem)
    state = algorithm.begin(problem, rng)
    x = random.bits(problem.n)
    oracle = Local(x, fitness(x))
    assert (state.best_x.tolist(), state.best_f[0], state.opening) == (x, oracle.f, 1)
    for flips in moves:
        outcome = operators[flips].apply(algorithm, problem, state, rng)
        assert outcome.gain == oracle.apply(flips, steps, fitness, random)
        assert outcome.evaluations == steps + 1
        assert outcome.touches == flips * (steps + 1)
        assert (state.best_x.tolist(), state.best_f[0]) == (oracle.x, oracle.f)
        assert (state.best_memo == problem.prepare(state.best_x)).all()
        assert in_step(rng, random)


def test_more_flips_than_bits_are_refused():
    """Distinct positions would be sought for ever."""
    with pytest.raises(InputError, match=r"flip-5.*at most 4 bits"):
        Run(Trial("nk:n=4,k=1", "ils", meter="model"))


# --- particle swarm -------------------------------------------------------------------------------


def swarm_of(state):
    particles = [
        Particle(*(list(a) if np.ndim(a) else float(a) for a in parts))
        for parts in zip(
            state.place, state.velocity, state.fitness, state.own_place, state.own_f, strict=True
        )
    ]
    return Swarm(particles, list(state.best_place), state.best_x.tolist(), float(state.best_f[0]))


@given(
    problems,
    seeds,
    st.lists(st.booleans(), max_size=4),
    st.tuples(st.floats(-1, 1), st.floats(0, 3), st.floats(0, 3), st.floats(0.1, 3)),
)
def test_particle_swarm(problem, seed, moves, weights):
    algorithm = pso("light+full", 4, *weights)
    light, full = algorithm.operators
    rng, random = both(seed)
    fitness = fitness_of(problem)
    state = algorithm.begin(problem, rng)
    random.state = [int(word) for word in rng]
    oracle = swarm_of(state)
    for social in moves:
        outcome = (full if social else light).apply(algorithm, problem, state, rng)
        assert outcome.deltas.tolist() == oracle.apply(social, weights, fitness, random)
        assert outcome.gain == sum(outcome.deltas.tolist())
        assert outcome.evaluations == 4
        assert outcome.touches == (8 if social else 4) * problem.n
        assert swarm_of(state) == oracle
        assert in_step(rng, random)


@given(problems, seeds)
def test_the_first_swarm(problem, seed):
    algorithm = pso("light", 5, vmax=0.3)
    rng, random = both(seed)
    state = algorithm.begin(problem, rng)
    for p in range(5):
        drawn = [(2.0 * random.uniform(), 0.3 * (2.0 * random.uniform() - 1.0)) for _ in state.x]
        assert state.place[p].tolist() == [place for place, _ in drawn]
        assert state.velocity[p].tolist() == [velocity for _, velocity in drawn]
        assert state.fitness[p] == fitness_of(problem)([int(place) for place, _ in drawn])
    assert state.best_f[0] == state.fitness.max() == problem.fitness(state.best_x)
    assert (state.best_place.astype(np.uint8) == state.best_x).all()
    assert in_step(rng, random)


@given(seeds)
def test_particles_stay_in_their_range(seed):
    problem, algorithm = PROBLEMS[0], pso("full", 4, vmax=1.5)
    rng, _ = both(seed)
    state = algorithm.begin(problem, rng)
    for _ in range(5):
        algorithm.operators[0].apply(algorithm, problem, state, rng)
        assert (state.place >= 0.0).all()
        assert (state.place < 2.0).all()
        assert (np.abs(state.velocity) <= 1.5).all()


# --- steady-state genetic algorithm ---------------------------------------------------------------


def members_of(state):
    return [(x.tolist(), float(f)) for x, f in zip(state.members, state.fitness, strict=True)]


def assert_kept_alike(problem, state):
    """Members are kept as bytes, packed, and as the problem's memo."""
    for member, genes, memo in zip(state.members, state.genes, state.memos, strict=True):
        x = np.empty_like(member)
        unpack(genes, x)
        assert x.tolist() == member.tolist()
        assert memo.tolist() == problem.prepare(member).tolist()


def assert_heap(state):
    """The worst member is at hand, below every branch."""
    assert sorted(state.heap.tolist()) == list(range(state.fitness.size))
    ordered = state.fitness[state.heap]
    assert all(ordered[(i - 1) // 2] <= ordered[i] for i in range(1, ordered.size))


@given(
    problems,
    seeds,
    st.lists(st.sampled_from([1, 3, 5]), max_size=6),
    st.integers(2, 9),
    st.sampled_from([0.0, 0.8, 1.0]),
    st.sampled_from([0.001, 0.5, 1.0, 1000.0]),
    st.booleans(),
)
def test_steady_state_genetic_algorithm(problem, seed, moves, size, crossover, flips, distinct):
    """Children are bred as the oracle breeds them; then the best n of all survive."""
    algorithm = ssga("replace-1+replace-3+replace-5", size, crossover, flips, distinct)
    operators = {operator.children: operator for operator in algorithm.operators}
    rng, random = both(seed)
    fitness = fitness_of(problem)
    state = algorithm.begin(problem, rng)
    started = [random.bits(problem.n) for _ in range(size)]
    assert members_of(state) == [(x, fitness(x)) for x in started]
    assert_heap(state)
    for children in moves:
        before = members_of(state)
        oracle = Population(before)
        outcome = operators[children].apply(algorithm, problem, state, rng)
        born = [oracle.child(crossover, flips, fitness, random) for _ in range(children)]
        assert outcome.deltas.tolist() == [change for _, _, change in born]
        assert outcome.gain == sum(outcome.deltas.tolist())
        assert outcome.evaluations == children
        after = members_of(state)
        everyone = [*before, *((x, f) for x, f, _ in born)]
        assert all(member in everyone for member in after)
        if distinct:
            fresh = [member for member in after if member not in before]
            assert all(fresh.count(member) == 1 for member in fresh)
        else:
            best = sorted((f for _, f in everyone), reverse=True)[:size]
            assert sorted((f for _, f in after), reverse=True) == best
        kept = {i for i in range(size) if after[i] == before[i]}
        gone = [before[i][1] for i in range(size) if i not in kept]
        assert all(f <= min((after[i][1] for i in range(size)), default=math.inf) for f in gone)
        assert_heap(state)
        assert_kept_alike(problem, state)
        assert state.best_f[0] == max(f for _, f in after) == problem.fitness(state.best_x)
        assert in_step(rng, random)


@given(seeds)
def test_distinct_members_stay_distinct(seed):
    problem = nk(6, 1, 1)
    algorithm = ssga("replace-5", 8, 1.0, 0.5, True)
    rng, _ = both(seed)
    state = algorithm.begin(problem, rng)
    doubles = len(members_of(state)) - len({tuple(x) for x, _ in members_of(state)})
    for _ in range(20):
        algorithm.operators[0].apply(algorithm, problem, state, rng)
        left = len(members_of(state)) - len({tuple(x) for x, _ in members_of(state)})
        assert left <= doubles
        doubles = left


@given(seeds)
def test_children_of_a_population_of_one_kind_are_evaluated_from_their_parents(seed):
    """Then none but the mutated bits differ, and most children are copies."""
    problem, algorithm = nk(40, 3, 2), ssga("replace-5", 6)
    rng, random = both(seed)
    state = algorithm.begin(problem, rng)
    random.state = [int(word) for word in rng]
    for array in (state.members, state.genes, state.fitness, state.memos):
        array[:] = array[0]
    oracle = Population(members_of(state))
    outcome = algorithm.operators[0].apply(algorithm, problem, state, rng)
    born = [oracle.child(0.8, 0.5, fitness_of(problem), random) for _ in range(5)]
    assert outcome.deltas.tolist() == [change for _, _, change in born]
    assert in_step(rng, random)


def test_mutation_flips_as_many_bits_as_asked():
    """Without crossover a child is its mother with `flips` bits changed, on average."""
    problem = OneMax(50)
    for flips in (0.5, 1.0, 4.0):
        algorithm = ssga("replace-1", 2, 0.0, flips)
        rng, _ = both(7)
        state = algorithm.begin(problem, rng)
        state.genes[:] = 0
        changed = []
        for _ in range(800):
            state.fitness[:] = 99.0  # nobody is replaced
            algorithm.operators[0].apply(algorithm, problem, state, rng)
            changed.append(int(state.children[0, 0]).bit_count())
        assert np.mean(changed) == pytest.approx(flips, abs=4 * math.sqrt(flips / 800))


@pytest.mark.parametrize("flips", ["1e-300", "5e-324", "1000"])
def test_extreme_mutation_rates(flips):
    """Next to none and all: the rate stays a rate."""
    trial = Trial("nk:n=10,k=1", f"ssga:population=4,flips={flips}", "uniform", "model", "1 J")
    run = Run(trial, compiled=False)
    for _ in run:
        pass
    assert run.ledger.decisions[0] > 10


# --- what counts as a change ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "old", "delta"),
    [(5.0, 3.0, 2.0), (3.0, 5.0, -2.0), (1.0, 1.0, 0.0), (1 + 1e-13, 1.0, 0.0), (1e-9, 0.0, 1e-9)],
)  # fmt: skip
def test_rounding_is_no_improvement(new, old, delta):
    assert delta_of(new, old) == delta
