"""Budgets in Joules: one for all libraries; what is missing is named."""

import copy
import subprocess
import sys

import pytest

from eij_core import InputError
from eij_core.adapters.joules import JouleBudget, spending
from eij_core.meters.counters.cputime import CpuTimeCounter
from tests.meters.virtual import Machine, Scripted

EXTRAS = {
    "alns": "alns", "pymoo": "pymoo", "pyvrp": "pyvrp", "nevergrad": "nevergrad",
    "optuna": "optuna", "jmetalpy": "jmetal",
}  # fmt: skip


def test_it_counts_from_the_first_look():
    machine = Machine()
    counter = Scripted(machine, watts=20.0)
    budget = JouleBudget("10 J", counter)
    machine.run(1_000_000_000, 20.0)
    assert not budget.is_spent
    assert budget.spent == 0.0
    machine.run(250_000_000, 20.0)
    assert budget.progress == pytest.approx(0.5, abs=0.01)
    machine.run(250_000_000, 20.0)
    assert budget.is_spent
    assert counter.closed
    spent = budget.spent
    machine.run(250_000_000, 20.0)
    assert budget.spent == spent
    assert budget.progress == 1.0
    assert str(budget).endswith(f"of 10.0 J, {budget.info.provenance}, scripted")


def test_a_copy_spends_the_same_joules():
    budget = JouleBudget("1 J", CpuTimeCounter(10.0))
    assert copy.deepcopy([budget])[0] is budget


@pytest.mark.parametrize("text", ["10 s", "1 J, 5 evaluations", "1 J, 2 s"])
def test_joules_alone(text):
    with pytest.raises(InputError, match="Joules alone"):
        JouleBudget(text, CpuTimeCounter(10.0))


@pytest.mark.parametrize("meter", ["model", "paper", "told"])
def test_counters_alone(meter):
    with pytest.raises(InputError, match="a price list counts no Joules"):
        JouleBudget("1 J", meter)


def test_an_adapter_shares_its_budget():
    class Adapter:
        steps = object()

    assert spending(Adapter) is Adapter.steps


def test_what_is_missing_is_named_with_its_remedy_and_nothing_of_it_comes_with_eij():
    code = f"""
import importlib, sys
import eij_core, eij_core.scheduler, eij_core.adapters.deap, eij_core.adapters.mealpy
assert not {{*sys.modules}} & {{"deap", "mealpy", *{list(EXTRAS.values())}}}
for extra, package in {EXTRAS}.items():
    sys.modules[package] = None
    try:
        importlib.import_module(f"eij_core.adapters.{{extra}}")
    except ModuleNotFoundError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        f"{package} is not installed: pip install 'eij[{extra}]'"
        for extra, package in EXTRAS.items()
    ]
