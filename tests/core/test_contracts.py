"""What every registered component promises, whoever wrote it."""

import importlib
import pickle

import numpy as np
import pytest

from eij_core import MeterUnavailable, Outcome, Run, Trial, solve
from eij_core.algorithms.permutation_ils import Descent
from eij_core.components import check_component
from eij_core.contracts.findings import same
from eij_core.contracts.samples import solutions_of
from eij_core.engine.rng import streams_for
from eij_core.engine.spaces import searched, space_of
from eij_core.meters.meter import CompiledMeter
from eij_core.protocols import EnergyInfo, Provenance
from eij_core.registry import algorithms, meters, problems, selectors

SIMULATED = ("model", "paper")

SMALL_PROBLEMS = {
    "knapsack": "knapsack:n=12,r=50",
    "nk": "nk:n=12,k=2",
    "ecc": "ecc:words=3,length=5",
    "maxcut": "maxcut:n=12,degree=3",
    "qubo": "qubo:n=12,density=0.4",
    "maxsat": "maxsat:n=12,planted=true",
    "mkp": "mkp:n=12,m=3",
    "onemax": "onemax:n=12",
    "leading-ones": "leading-ones:n=12",
    "trap": "trap:blocks=4,k=3",
    "labs": "labs:n=12",
    "tsp": "tsp:n=9",
    "qap": "qap:n=7",
    "flowshop": "flowshop:jobs=7,machines=3",
    **{
        name: f"{name}:n=5" for name in ("sphere", "ellipsoid", "rastrigin", "ackley", "rosenbrock")
    },
    "griewank": "griewank:n=5",
}
SMALL_ALGORITHMS = {
    "ils": "ils:steps=4",
    "ssga": "ssga:population=6",
    "pso": "pso:swarm=5",
    "permutation-ils": "permutation-ils:steps=40",
    "permutation-ga": "permutation-ga:population=6",
    "de": "de:population=7",
    "real-pso": "real-pso:swarm=5",
    "tabu": "tabu:steps=3",
}
SAMPLES = {"bits": "nk:n=12,k=2", "permutation": "tsp:n=12", "real": "sphere:n=6"}
"""A small problem of each space."""
PAPERS = ("ils", "ssga", "pso")
"""Algorithms that the paper's machine has prices for."""


def offered(registry):
    return [name for name in registry if not registry.is_private(name)]


def operators():
    """Every operator of every algorithm, by name."""
    return [
        (algorithm, name)
        for algorithm in offered(algorithms)
        for name in importlib.import_module(algorithms[algorithm].__module__).OPERATORS
    ]


def algorithm_with(algorithm, operator):
    return algorithms.make(f"{SMALL_ALGORITHMS[algorithm]},operators={operator}")


def test_small_versions_of_all():
    assert set(SMALL_PROBLEMS) == set(offered(problems))
    assert set(SMALL_ALGORITHMS) == set(offered(algorithms))


# --- problems -------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [*offered(problems), *SMALL_PROBLEMS.values()])
def test_a_problem_keeps_its_contract(spec):
    problem = problems.make(spec)
    assert check_component(problem) == []
    again = pickle.loads(pickle.dumps(problem))
    assert same(again, problem)
    (x, *_) = solutions_of(problem, space_of(problem), np.random.default_rng(1))
    assert again.fitness(x) == problem.fitness(x)
    name = spec.partition(":")[0]
    assert problems.space(name) == space_of(problem)


# --- operators and algorithms ---------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", offered(algorithms))
def test_an_algorithm_keeps_its_contract(algorithm):
    made = algorithms.make(SMALL_ALGORITHMS[algorithm])
    assert check_component(made) == []
    assert same(pickle.loads(pickle.dumps(made)), made)
    assert len(made.operators) >= 2
    assert algorithms.space(algorithm) == space_of(made)


@pytest.mark.parametrize(("algorithm", "operator"), operators())
def test_an_operator_keeps_its_contract(algorithm, operator):
    made = algorithm_with(algorithm, operator)
    (applied,) = made.operators
    assert applied.name == operator
    assert pickle.loads(pickle.dumps(applied)) == applied
    assert check_component(made) == []
    problem = searched(problems.make(SAMPLES[space_of(made)]))
    state = made.begin(problem, streams_for(3).moves)
    outcome = applied.apply(made, problem, state, streams_for(4).moves)
    # A descent may stop on a summit, so its forecast is the most that it takes.
    most = applied.forecast(made, problem).evaluations
    assert outcome.evaluations == most or isinstance(applied, Descent)
    assert outcome.evaluations <= most


@pytest.mark.parametrize("algorithm", offered(algorithms))
@pytest.mark.parametrize("operators", ["", "nothing", "{0}+{0}", "{0}+"])
def test_a_portfolio_that_cannot_be(algorithm, operators):
    first = algorithms.make(algorithm).operators[0].name
    names = operators.format(first)
    registry = importlib.import_module(algorithms[algorithm].__module__)
    with pytest.raises(ValueError, match=f"{algorithm}:operators"):
        getattr(registry, algorithm.replace("-", "_"))(operators=names)


# --- selectors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", offered(selectors))
def test_a_selector_in_a_run(name):
    selector = selectors.make(name)
    assert same(pickle.loads(pickle.dumps(selector)), selector)
    trial = Trial("nk:n=12,k=2", "ils:steps=4,operators=flip-1+flip-2+flip-5", name, "model", "4 J")
    run = Run(trial, compiled=False)
    while not run.done:
        announced = run.explain().operator
        before = run.ledger.applications.copy()
        run.advance(1)
        applied = np.flatnonzero(run.ledger.applications - before).tolist()
        assert applied == ([announced] if announced >= 0 else [])
    assert run.ledger.applications.sum() == run.ledger.decisions[0] > 20
    assert solve(trial, compiled=False).digest == run.result().digest


@pytest.mark.parametrize("algorithm", offered(algorithms))
def test_no_operator_starves_by_an_unlucky_first_try(algorithm):
    for seed in range(5):
        problem = SAMPLES[algorithms.space(algorithm)]
        trial = Trial(problem, SMALL_ALGORITHMS[algorithm], "eij", "model", "9 J", seed=seed)
        applied = [total.applications for total in solve(trial, compiled=False).operators]
        assert min(applied) >= 2


@pytest.mark.compiled
def test_more_first_tries_lock_fewer_operators_out():
    """The SSGA's operators are alike per Joule, yet an unlucky start locks one out for good.

    Tried once, as the paper has it, about 1 run in 6; twice, the default, 1 in 14; five times,
    1 in 100 (shares of 200 runs).
    """

    def locked_out(tries):
        trials = (
            Trial("knapsack", "ssga", f"eij:tries={tries}", "paper", "300 J", seed=seed, points=1)
            for seed in range(200)
        )
        applied = (np.array([o.applications for o in solve(t).operators]) for t in trials)
        return np.mean([each.min() < 0.02 * each.sum() for each in applied])

    once, twice, five = (locked_out(tries) for tries in (1, 2, 5))
    assert once > twice > five
    assert twice < 0.13
    assert five < 0.04


# --- meters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in offered(meters) if name in SIMULATED])
@pytest.mark.parametrize("problem", ["knapsack", "nk", "ecc"])  # the paper's meter has these alone
@pytest.mark.parametrize("algorithm", PAPERS)
def test_a_simulated_meter(name, problem, algorithm):
    source = meters.make(name)
    assert check_component(source) == []
    assert pickle.loads(pickle.dumps(source)) == source
    assert isinstance(source.info, EnergyInfo)
    assert source.info.provenance is Provenance.SIMULATED
    operators = algorithms.make(algorithm).operators
    meter = source.attach(problem, algorithm, operators)
    assert isinstance(meter, CompiledMeter)
    rng = streams_for(1).noise
    for o in range(len(operators) + 1):  # the last one is the start
        outcome = Outcome(1.0, 100, 500, np.zeros(0))
        charged = [meter.stop(meter.start(), o, outcome, rng) for _ in range(400)]
        assert min(charged) > 0.0
        assert np.mean(charged) == pytest.approx(meter.expected(o, outcome), rel=0.03)
        assert np.log(charged).std() == pytest.approx(0.1, rel=0.15)


def test_a_meter_never_reads_zero():
    meter = meters.make("model:application=0,evaluation=0,noise=0").attach("nk", "ils", (1,))
    assert meter.stop(0, 0, Outcome(0.0, 1, 0, np.zeros(0)), streams_for(1).noise) > 0.0


@pytest.mark.parametrize(
    ("problem", "algorithm"), [("onemax", "ils"), ("nk", "annealing"), ("OneMax", "Walk")]
)
def test_the_papers_machine_has_prices_for_the_papers_cells_alone(problem, algorithm):
    with pytest.raises(MeterUnavailable, match="use the meter model"):
        meters.make("paper").attach(problem, algorithm, ())


def test_the_papers_machine_prices_portfolios_beyond_the_paper():
    """Between and beyond the published rows the prices go on in proportion."""
    meter = meters.make("paper").attach(
        "knapsack", "ils", algorithms.make("ils:operators=flip-1+flip-3+flip-5+flip-9").operators
    )
    steps = np.diff(meter.per_evaluation[:4]) / [2, 2, 4]
    np.testing.assert_allclose(steps, steps[0])
    meter = meters.make("paper").attach(
        "ecc", "ssga", algorithms.make("ssga:operators=replace-1+replace-5+replace-10").operators
    )
    outcomes = [Outcome(0.0, k, 0, np.zeros(0)) for k in (1, 5, 10)]
    costs = [meter.expected(o, outcome) for o, outcome in enumerate(outcomes)]
    assert costs[0] == pytest.approx(7446.86 / 15_000)
    assert costs[1] == pytest.approx(5 * 7379.68 / 15_000)
    assert (costs[2] - costs[1]) / 5 == pytest.approx((costs[1] - costs[0]) / 4)
