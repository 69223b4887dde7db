"""PyVRP: steps, exhaustive searches, stopping."""

import pytest
from pyvrp import (
    IteratedLocalSearch,
    Model,
    PenaltyManager,
    PenaltyParams,
    RandomNumberGenerator,
    Solution,
)
from pyvrp.search import LocalSearch, Relocate1, Swap11, SwapTails, compute_neighbours
from pyvrp.stop import MaxIterations, MultipleCriteria

from eij_core.adapters.pyvrp import JouleSearch, MaxJoules
from eij_core.meters.counters.cputime import CpuTimeCounter

MOVES = {"small": [Relocate1], "large": [Swap11, SwapTails]}


@pytest.fixture(scope="module")
def data():
    model = Model()
    model.add_depot(model.add_location(50, 50))
    for i in range(15):
        place = model.add_location(i * 37 % 100, i * 59 % 100)
        model.add_client(place, delivery=1 + i % 3)
    model.add_vehicle_type(4, capacity=9)
    for a in model.locations:
        for b in model.locations:
            model.add_edge(a, b, distance=abs(a.x - b.x) + abs(a.y - b.y))
    return model.data()


def searches(data, rng):
    made = {}
    for name, moves in MOVES.items():
        made[name] = LocalSearch(data, rng, compute_neighbours(data))
        for move in moves:
            made[name].add_operator(move(data))
    return made


def ils(data, search, rng):
    penalties = PenaltyManager(PenaltyParams().midpoint_penalties(data))
    return IteratedLocalSearch(data, penalties, search, Solution.make_random(data, rng))


def test_steps_are_iterations(data):
    rng = RandomNumberGenerator(seed=1)
    search = JouleSearch(searches(data, rng), budget="5 J", meter="model", compiled=False)
    found = ils(data, search, rng).run(MaxJoules(search))
    result = search.result()
    assert result.spent.decisions == found.num_iterations > 50
    assert {total.name for total in result.operators if total.applications} == set(MOVES)
    assert result.best.fitness == found.cost()
    assert search.steps.is_spent


def test_an_exhaustive_search_belongs_to_its_step(data):
    rng = RandomNumberGenerator(seed=1)
    search = JouleSearch(searches(data, rng), budget="5 J", meter="model", compiled=False)
    start = Solution.make_random(data, rng)
    costs = PenaltyManager(PenaltyParams().midpoint_penalties(data)).cost_evaluator()
    first = search(start, costs)
    last = search(first, costs, exhaustive=True)
    (total,) = [each for each in search.result().operators if each.applications]
    assert total.applications == 1
    assert total.gain == costs.penalised_cost(start) - costs.penalised_cost(last)


def test_on_cpu_time_beside_another_limit(data):
    rng = RandomNumberGenerator(seed=1)
    counter = CpuTimeCounter(10.0)
    search = JouleSearch(searches(data, rng), budget="1 kJ", meter=counter, compiled=False)
    stop = MultipleCriteria([MaxJoules(search), MaxIterations(20)])
    ils(data, search, rng).run(stop)
    assert search.result().spent.decisions == 20
    alone = MaxJoules("50 mJ", CpuTimeCounter(10.0))
    found = ils(data, searches(data, rng)["small"], rng).run(alone)
    assert alone.spending.is_spent
    assert found.num_iterations > 0
