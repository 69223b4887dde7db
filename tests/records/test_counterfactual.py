"""Re-scheduling a recorded stream."""

import json

import numpy as np
import pytest

from eij_core import InputError, Trial, solve
from eij_core.cli import call
from eij_core.records import save
from eij_core.records.counterfactual import CAVEAT, reschedule
from eij_core.registry import selectors


@pytest.fixture(scope="module")
def recorded():
    trial = Trial("nk:n=20,k=3", "ils:steps=10", "uniform", "model", "30 J", seed=3, every=1)
    result = solve(trial, compiled=False)
    return result.rows, tuple(total.name for total in result.operators)


@pytest.mark.parametrize("rule", list(selectors))
def test_every_rule_can_be_asked(recorded, rule):
    rows, names = recorded
    again = reschedule(rows, names, rule, budget=10.0)
    assert again.operator.size == again.recorded.size == again.spent.size > 0
    assert (np.diff(again.spent) > 0).all()
    assert sum(theirs for _, theirs in again.shares().values()) == pytest.approx(1.0)


def test_the_same_rule_with_the_same_draws_repeats_itself(recorded):
    rows, names = recorded
    again = reschedule(rows, names, "uniform", seed=3)
    assert again.agreement == 1.0
    assert again.exhausted == ""


def test_it_ends_where_the_record_of_an_operator_ends(recorded):
    rows, names = recorded
    again = reschedule(rows, names, f"static:operator={names[0]}")
    assert again.exhausted == names[0]
    assert again.operator.size == np.sum(rows["operator"] == 0)


def test_a_record_with_gaps_is_refused(recorded):
    rows, names = recorded
    with pytest.raises(InputError, match="every=1"):
        reschedule(rows[::2], names, "ucb1")


def test_a_record_without_decisions_is_refused(recorded):
    rows, names = recorded
    with pytest.raises(InputError, match="at least one decision"):
        reschedule(rows[:1], names, "ucb1")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("records") / "run.json"
    trial = Trial("nk:n=20,k=3", "ils:steps=10", "uniform", "model", "5 J", seed=3, every=1)
    save(solve(trial, compiled=False), path)
    return str(path)


def test_the_command_asks_other_rules(file, capsys):
    assert call(["counterfactual", file, "--selector", "uniform", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["agreement"] == 1.0 and told["caveat"] == CAVEAT
    assert sum(told["shares"].values()) == pytest.approx(1.0)
    assert call(["counterfactual", file]) == 0
    out = capsys.readouterr().out
    assert all(word in out for word in ("ucb1", "flip-1", "flip-5", "gone elsewhere"))


def test_the_command_needs_every_decision(tmp_path, capsys):
    path = tmp_path / "gaps.json"
    trial = Trial("nk:n=20,k=3", "ils:steps=10", "uniform", "model", "5 J", points=5)
    save(solve(trial, compiled=False), path)
    assert call(["counterfactual", str(path)]) == 2
    assert "every=1" in capsys.readouterr().err
