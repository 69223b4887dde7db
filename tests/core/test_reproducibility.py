"""The same trial gives the same result: compiled or not, in any pieces, in any process."""

import concurrent.futures
import json
import multiprocessing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import Run, Trial, solve
from tests.core.components import digest_of, fingerprint

PROBLEMS = ["knapsack:n=20,r=100", "nk:n=16,k=3", "ecc:words=4,length=6"]
ALGORITHMS = ["ssga:population=12", "pso:swarm=6", "ils:steps=10"]
GOLDEN = Path(__file__).with_name("golden.json")


def small(problem=PROBLEMS[0], algorithm=ALGORITHMS[2], selector="eij", **changes):
    fields = {"meter": "paper", "budget": "9 J, 1500 evaluations", "seed": 11, "points": 100}
    return Trial(problem, algorithm, selector, **(fields | changes))


CELLS = {
    f"{problem}, {algorithm}": small(problem, algorithm)
    for problem in PROBLEMS
    for algorithm in ALGORITHMS
}
WORLDS = {
    problem: small(problem, meter="model", budget="4 J")
    for problem in (
        "maxcut:n=30,degree=4",
        "maxcut:graph=regular,n=30,degree=3,weights=signs",
        "maxcut:graph=torus,n=36,degree=4",
        "qubo:n=30,density=0.3",
        "maxsat:n=20",
        "maxsat:n=20,planted=true",
        "mkp:n=20,m=3",
        "onemax:n=40",
        "leading-ones:n=20",
        "trap:blocks=6,k=4",
        "labs:n=20",
    )
}
SPACES = {
    f"{problem}, {algorithm}": small(problem, algorithm, meter="model", budget="4 J")
    for problem in ("tsp:n=20", "qap:n=12", "flowshop:jobs=12")
    for algorithm in ("permutation-ils:steps=60", "permutation-ga:population=12")
}
SPACES |= {
    f"{problem}, {algorithm}": small(f"{problem}:n=4", algorithm, meter="model", budget="4 J")
    for problem in ("ellipsoid", "rosenbrock")
    for algorithm in ("de:population=10", "real-pso:swarm=10")
}
SPACES |= {
    f"{problem}, tabu": small(problem, "tabu:steps=5", meter="model", budget="20 J")
    for problem in ("maxcut:n=30,degree=4", "qubo:n=30,density=0.3")
}
OTHERS = {
    **{rule: small(selector=rule) for rule in ("static", "uniform", "greedy")},
    "ssga without duplicates": small(
        algorithm="ssga:population=12,distinct=true,flips=1,operators=replace-3+replace-1"
    ),
    "ils, three operators": small(algorithm="ils:steps=10,operators=flip-2+flip-3+flip-7"),
    "noisy model": small(meter="model:touch=0.001,noise=0.5", budget="5 J"),
    "every third decision": small(budget="400 evaluations", every=3),
}
TRIALS = CELLS | WORLDS | SPACES | OTHERS
ONCE = (  # each algorithm and each kind of problem compiled once: every pair would take minutes
    "tsp:n=20, permutation-ils:steps=60",
    "qap:n=12, permutation-ga:population=12",
    "ellipsoid, de:population=10",
    "rosenbrock, real-pso:swarm=10",
    "maxcut:n=30,degree=4, tabu",
)


@pytest.mark.compiled
@pytest.mark.parametrize("name", [*CELLS, *WORLDS, *ONCE, *OTHERS])
def test_compiled_equals_interpreted(name):
    run = Run(TRIALS[name])
    assert run.loop.compiled
    for _ in run:
        pass
    assert run.result().digest == solve(TRIALS[name], compiled=False).digest


# --- chunks ---------------------------------------------------------------------------------------


def in_pieces(trial, pieces, compiled):
    run = Run(trial, compiled=compiled)
    for piece in pieces:
        run.advance(piece)
    for _ in run:
        pass
    return run.result().digest


@given(
    st.sampled_from(ALGORITHMS),
    st.lists(st.integers(0, 40), max_size=12),
    st.sampled_from([{}, {"every": 1}, {"budget": "80 evaluations"}, {"points": 7}]),
)
def test_chunks_change_nothing(algorithm, pieces, changes):
    trial = small(algorithm=algorithm, **({"budget": "2 J"} | changes))
    whole = Run(trial, compiled=False)
    whole.advance(10**9)
    assert in_pieces(trial, pieces, compiled=False) == whole.result().digest


@pytest.mark.compiled
@given(st.lists(st.integers(0, 2000), max_size=12))
def test_chunks_change_nothing_compiled(pieces):
    trial = small(budget="50 J")
    assert in_pieces(trial, pieces, compiled=True) == digest_of(trial)


# --- processes and executors ----------------------------------------------------------------------


@pytest.mark.compiled
def test_processes_and_threads_agree():
    trials = [small(seed=seed) for seed in range(4)]
    here = [digest_of(trial) for trial in trials]
    assert len(set(here)) == len(here)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        assert list(pool.map(digest_of, trials)) == here
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=spawn) as pool:
        assert list(pool.map(digest_of, trials)) == here


# --- golden ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRIALS)
def test_results_of_record(name):
    """What a trial gave once it gives for ever, on any machine: see `fingerprint`.

    A change on purpose is recorded with `python -m tests.core.golden`, and told in the changelog.
    """
    recorded = json.loads(GOLDEN.read_text("utf-8"))
    assert fingerprint(solve(TRIALS[name], compiled=False)) == recorded[name]


def test_every_record_is_tested():
    assert set(json.loads(GOLDEN.read_text("utf-8"))) == set(TRIALS)
