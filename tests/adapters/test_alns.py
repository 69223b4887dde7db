"""ALNS: its own tests with our scheme; couplings, gains, stopping."""

import inspect
import math

import numpy as np
import pytest
from alns import ALNS
from alns.accept import HillClimbing
from alns.select.tests import test_random_select, test_roulette_wheel
from alns.stop import MaxIterations
from alns.tests import test_alns
from alns.tests.states import One, VarObj, Zero

from eij_core import RunError
from eij_core.adapters.alns import JouleSelect, MaxJoules
from eij_core.meters.settlement.counted import Counted
from tests.meters.virtual import CYCLES_PER_NS, Machine, Scripted

SIMULATED = {"meter": "model", "budget": "1 MJ", "compiled": False}
THEIR_OWN = {
    "properties", "raises_invalid_decay", "does_not_raise_valid_decay", "update",
    "nonnegative_max_runtime", "fixed_seed_outcomes",
}  # fmt: skip
"""Tests of the wheel that speak of a roulette wheel's weights and draws, or depend on the clock."""


def scheme(*arguments, op_coupling=None, **options):
    """Our scheme, made like theirs, without the scores and the decay that theirs begin with."""
    if isinstance(arguments[0], list):
        arguments = arguments[2:]
    *sizes, coupling = [*arguments, op_coupling][:3]
    return JouleSelect(*sizes, coupling, **options, **SIMULATED)


def of_any_scheme(module, name):
    """The tests of a module that make such a scheme, and each of their cases."""
    for each, test in inspect.getmembers(module, inspect.isfunction):
        about = each.removeprefix("test_")
        if about != each and f"{name}(" in inspect.getsource(test) and about not in THEIR_OWN:
            for number, case in enumerate(cases_of(test)):
                yield pytest.param(module, name, test, case, id=f"{about}-{number}")


def cases_of(test):
    for mark in getattr(test, "pytestmark", ()):
        names, values = mark.args
        return values if "," in names else [(value,) for value in values]
    return [()]


@pytest.mark.parametrize(
    ("module", "name", "test", "case"),
    [
        *of_any_scheme(test_alns, "RouletteWheel"),
        *of_any_scheme(test_roulette_wheel, "RouletteWheel"),
        *of_any_scheme(test_random_select, "RandomSelect"),
    ],
)
def test_their_tests_of_any_scheme(module, name, test, case, monkeypatch):
    options = {"selector": "uniform"} if name == "RandomSelect" else {}
    monkeypatch.setattr(module, name, lambda *given, **more: scheme(*given, **more, **options))
    test(*case)


def test_their_tests_were_found():
    found = [case.id for case in of_any_scheme(test_roulette_wheel, "RouletteWheel")]
    assert {"select_coupled_operators-4", "raises_wrong_op_coupling_shape-2"} <= set(found)
    assert len(list(of_any_scheme(test_random_select, "RandomSelect"))) == 4
    assert len(list(of_any_scheme(test_alns, "RouletteWheel"))) >= 9


def halved(state, rng):
    return VarObj(state.obj / 2)


def worse(state, rng):
    return VarObj(state.obj + 1)


def same(state, rng):
    return state


def search():
    made = ALNS(np.random.default_rng(1))
    made.add_destroy_operator(halved)
    made.add_destroy_operator(worse)
    made.add_repair_operator(same)
    made.add_repair_operator(same, "again")
    return made


def test_pairs_of_no_coupling_are_never_applied():
    coupling = [[True, False], [True, True]]
    select = JouleSelect.of(search(), coupling, **{**SIMULATED, "budget": "3 J"})
    search().iterate(One(), select, HillClimbing(), MaxJoules(select))
    names = [total.name for total in select.result().operators]
    assert names == ["halved + same", "worse + same", "worse + again"]
    assert select.result().spent.decisions > 20


def test_it_learns_what_halves():
    select = JouleSelect.of(search(), **{**SIMULATED, "budget": "3 J"})
    found = search().iterate(One(), select, HillClimbing(), MaxJoules(select))
    result = select.result()
    assert result.best.fitness == found.best_state.objective()
    assert select.steps.is_spent
    by_name = {total.name: total.applications for total in result.operators}
    assert by_name["halved + same"] + by_name["halved + again"] > by_name["worse + same"]
    assert sum(by_name.values()) == len(found.statistics.objectives) - 1


def test_the_step_is_the_iteration_and_not_what_surrounds_it(monkeypatch):
    """On a counter in virtual time: operators run for 1 ms, choosing and accepting for 1 ms."""
    machine = Machine()
    monkeypatch.setattr("eij_core.meters.meter.cycle_count", lambda: machine.wall * CYCLES_PER_NS)
    monkeypatch.setattr("eij_core.meters.meter.thread_ns", lambda: machine.cpu)
    monkeypatch.setattr("eij_core.scheduling.open_run.CHUNK_NS", 0)
    meter = Counted(Scripted(machine), clocks=machine)
    select = JouleSelect(2, 1, budget="4 J", meter=meter, compiled=False)
    stop, count = MaxJoules(select), 0
    while not stop(None, Zero(), Zero()):
        machine.run(1_000_000, 20.0)
        d, r = select(None, Zero(), One())
        machine.run(1_000_000, 20.0)
        select.update(Zero(), d, r, 0)
        count += 1
    result = select.result()
    assert result.spent.joules == pytest.approx(4.0, rel=0.02)
    assert count == pytest.approx(4.0 / 0.02, rel=0.03)


def test_an_operator_that_raises_has_failed():
    made = ALNS(np.random.default_rng(1))
    made.add_destroy_operator(lambda state, rng: 1 / 0, "broken")
    made.add_repair_operator(same)
    select = JouleSelect.of(made, **SIMULATED)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            made.iterate(One(), select, HillClimbing(), MaxIterations(3))
    assert select.result().spent.decisions == 2
    assert select.scheduler.failures.tolist() == [2]


def test_an_infinite_objective_gains_nothing():
    select = JouleSelect(1, 1, **SIMULATED)
    for before, after in ((1.0, math.inf), (math.inf, 1.0), (3.0, 1.0)):
        d, r = select(None, None, VarObj(before))
        select.update(VarObj(after), d, r, 3)
    (total,) = select.result().operators
    assert total.gain == 2.0
    assert select.result().best.fitness == 1.0


def test_without_a_stop_it_says_what_to_do():
    select = JouleSelect.of(search(), **{**SIMULATED, "budget": "1 J"})
    with pytest.raises(RunError, match="stands beside this adapter"):
        search().iterate(One(), select, HillClimbing(), MaxIterations(10**6))


def test_other_limits_may_end_it_first():
    select = JouleSelect.of(search(), **SIMULATED)
    stop, limit = MaxJoules(select), MaxIterations(7)
    search().iterate(One(), select, HillClimbing(), lambda *each: stop(*each) or limit(*each))
    assert select.result().spent.decisions == 7
    select.scheduler.stop()
    assert select.result().reason == "stopped"
