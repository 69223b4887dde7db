"""The loop: what is spent, when it stops, what is recorded."""

import importlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import Run, Trial
from eij_core import run as run_module
from eij_core.engine.histogram import BINS, EDGES
from eij_core.engine.loop import due, spend
from eij_core.engine.rows import Limits, new_ledger, row_dtype
from eij_core.protocols import Outcome
from tests.core.components import Frugal, OneMax

kernel = importlib.import_module("eij_core.engine.kernel")

ALGORITHMS = ["ils:steps=3", "ssga:population=4", "pso:swarm=3"]
METERS = ["model", "model:noise=0", "model:application=0.5,evaluation=0,touch=0.001,noise=1"]


BUDGETS = ["3 J", "0.7 J", "60 evaluations", "2 J, 90 evaluations"]


@st.composite
def trials(draw, every=0):
    return Trial(
        draw(st.sampled_from(["nk:n=10,k=2", "knapsack:n=10,r=50", "ecc:words=3,length=5"])),
        draw(st.sampled_from(ALGORITHMS)),
        draw(st.sampled_from(["eij", "uniform", "greedy", "static"])),
        draw(st.sampled_from(METERS)),
        draw(st.sampled_from(BUDGETS)),
        seed=draw(st.integers(0, 2**32)),
        points=draw(st.sampled_from([1, 7, 50, 1000])),
        every=every,
    )


def finished(trial):
    run = Run(trial, compiled=False)
    for _ in run:
        pass
    return run


@given(trials(every=1))
def test_budgets_are_overrun_by_the_last_application_alone(trial):
    run = finished(trial)
    rows, budget = run.rows(), trial.budget
    before, after = rows[:-1], rows[-1]
    assert (before["spent"] < budget.joules).all()
    assert (before["evaluations"] < budget.evaluations).all()
    assert after["spent"] >= budget.joules or after["evaluations"] >= budget.evaluations
    spent = run.result().spent
    assert spent.overshoot == max(0.0, spent.joules - budget.joules)
    assert spent.overshoot <= after["joules"]


@given(trials(every=1))
def test_energy_strictly_increases_and_adds_up(trial):
    run = finished(trial)
    rows, ledger = run.rows(), run.ledger
    assert (rows["joules"] > 0.0).all()
    assert (np.diff(rows["spent"]) > 0.0).all()
    assert (np.diff(rows["best"]) >= 0.0).all()
    assert rows["spent"][-1] == ledger.joules[0]
    assert rows["joules"].sum() == pytest.approx(ledger.joules[0])
    assert run.start_joules + ledger.operator_joules.sum() == pytest.approx(ledger.joules[0])
    assert ledger.applications.sum() == ledger.decisions[0] == len(rows) - 1
    assert run.state.opening + ledger.operator_evaluations.sum() == ledger.evaluations[0]
    for o in range(len(run.names)):
        own = rows[rows["operator"] == o]
        assert len(own) == ledger.applications[o]
        assert own["gain"].sum() == pytest.approx(ledger.operator_gain[o])
        assert own["joules"].sum() == pytest.approx(ledger.operator_joules[o])
        counts, _ = np.histogram(own["joules"], EDGES)
        assert (counts == ledger.histogram[o]).all()
        assert (rows["applications"][:, o] == np.cumsum(rows["operator"] == o)).all()


@given(trials())
def test_the_grid_picks_rows_of_the_full_record(trial):
    """A row on the grid is the row that a record of every decision has there."""
    coarse = finished(trial)
    fine = finished(Trial.from_dict(trial.to_dict() | {"every": 1})).rows()
    rows = coarse.rows()
    assert rows["decision"][0] == 0
    assert rows["decision"][-1] == coarse.ledger.decisions[0]
    assert len(rows) <= trial.points + 2
    assert (np.diff(rows["decision"]) > 0).all()
    assert rows.tobytes() == fine[rows["decision"]].tobytes()


@given(trials())
def test_every_grid_point_that_is_crossed_has_a_row(trial):
    run = finished(trial)
    rows = run.rows()
    axis = "spent" if run.limits.by_joules else "evaluations"
    cells = np.floor(rows[axis] / run.limits.step)
    fine = finished(Trial.from_dict(trial.to_dict() | {"every": 1})).rows()
    assert set(np.floor(fine[axis] / run.limits.step)) == set(cells)


@pytest.mark.parametrize("every", [2, 3, 10])
def test_every_so_many_decisions(every):
    run = finished(Trial("nk:n=10,k=2", "ils:steps=3", meter="model", budget="3 J", every=every))
    rows = run.rows()
    assert (rows["decision"][1:-1] % every == 0).all()
    assert rows["decision"][-1] == run.ledger.decisions[0]


def test_a_thousand_points_are_about_a_thousand_rows():
    run = finished(Trial("nk:n=10,k=2", "ils:steps=1", meter="model:noise=0", budget="60 J"))
    assert run.ledger.decisions[0] > 2000
    assert 990 <= len(run.rows()) <= 1002


@pytest.mark.long
def test_without_an_end_the_grid_widens():
    """A budget in seconds has no axis to divide: the points lie ever further apart."""
    run = Run(Trial(OneMax(6), "ils:steps=1", meter="model", budget="100 s"), compiled=False)
    run.advance(4000)
    rows = run.rows()
    assert len(rows) < 600
    gaps = np.diff(rows["evaluations"])
    assert gaps[0] <= 2
    assert gaps[-1] > 20
    assert (np.diff(rows["evaluations"]) <= 2 + 0.011 * rows["evaluations"][1:]).all()


@given(st.lists(st.floats(2.0**-41, 2.0**23, exclude_max=True), min_size=1, max_size=20))
def test_the_histogram_counts_in_the_bins_of_its_edges(joules):
    ledger = new_ledger(1)
    for value in joules:
        spend(ledger, 0, Outcome(0.0, 1, 0, np.zeros(0)), value)
    counts, _ = np.histogram(joules, EDGES)
    assert (ledger.histogram[0] == counts).all()


@pytest.mark.parametrize(("joules", "bin_"), [(1e-300, 0), (1e300, BINS - 1), (1.0, None)])
def test_beyond_its_edges_the_histogram_counts_in_the_outermost_bins(joules, bin_):
    ledger = new_ledger(2)
    spend(ledger, 1, Outcome(2.0, 3, 0, np.zeros(0)), joules)
    found = np.flatnonzero(ledger.histogram[1])
    assert len(found) == 1
    assert bin_ in (None, found[0])
    assert ledger.histogram[0].sum() == 0
    assert (np.diff(EDGES) > 0).all()
    if bin_ is None:
        assert EDGES[found[0]] <= joules < EDGES[found[0] + 1]


def test_one_step_over_many_points_makes_one_row():
    ledger, limits = new_ledger(1), Limits(10.0, math.inf, 0.1, True, 0)
    ledger.joules[0] = 0.05
    assert due(ledger, limits)
    ledger.joules[0] = 0.09
    assert not due(ledger, limits)
    ledger.joules[0] = 7.33
    assert due(ledger, limits)
    assert ledger.mark[0] == pytest.approx(7.4)


def test_a_small_trace_changes_nothing(monkeypatch):
    trial = Trial("nk:n=10,k=2", "ils:steps=3", meter="model", budget="2 J", every=1)
    expected = finished(trial).result().digest
    monkeypatch.setattr(run_module, "ROOM", 3)
    assert finished(trial).result().digest == expected


def test_a_selector_may_find_nothing_affordable():
    trial = Trial(OneMax(6), "ils:steps=3", Frugal(1.0), "model:noise=0", "2 J")
    run = finished(trial)
    assert run.reason == "no operator fits in the Joules left"
    assert 0.0 < run.left < 1.0
    assert run.rows()["decision"][-1] == run.ledger.decisions[0]


def test_the_row_type_is_documented():
    names = row_dtype(3).names
    assert names == (
        "decision", "operator", "gain", "joules", "spent", "evaluations", "best",
        "applications", "operator_joules", "beliefs",
    )  # fmt: skip
    assert all(name in row_dtype.__doc__ for name in names)
