"""Driven with the operators of our own algorithms, a scheduler makes the choices of the loop."""

import time
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eij_core.selectors  # noqa: F401  registers the rules
from eij_core import Belief, Scheduler, Trial, kernel, solve
from eij_core.registry import selectors
from tests.scheduler.by_hand import ByHand

RULES = [name for name in selectors if not selectors.is_private(name)]
FIRST = {"ils": "flip-1", "ssga": "replace-1", "pso": "light"}


def named(rule, algorithm):
    return f"static:operator={FIRST[algorithm]}" if rule == "static" else rule


def same(trial, **options):
    by_hand = ByHand(trial, **options)
    by_hand.start()
    by_hand.steps()
    got, expected = by_hand.scheduler.result(), solve(trial)
    assert got.reason == expected.reason
    assert (got.rows == expected.rows).all() or got.digest == expected.digest
    assert got.digest == expected.digest
    assert got.spent[:3] == expected.spent[:3]
    assert got.spent.start_joules == expected.spent.start_joules
    for mine, theirs in zip(got.operators, expected.operators, strict=True):
        assert mine[:5] == theirs[:5]
    return by_hand


@pytest.mark.parametrize("algorithm", FIRST)
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_chooses_as_in_the_loop(rule, algorithm):
    budget = {"ils": "60 J", "ssga": "6 J", "pso": "20 J"}[algorithm]
    trial = Trial("nk:n=16,k=2", algorithm, named(rule, algorithm), "model", budget, seed=5)
    same(trial, compiled=None)


@given(
    seed=st.integers(0, 2**40),
    repetition=st.integers(0, 3),
    budget=st.sampled_from(["3 J", "200 evaluations", "4 J, 150 evaluations"]),
    grid=st.sampled_from([{"points": 7}, {"points": 1000}, {"every": 1}, {"every": 3}]),
    noise=st.sampled_from([0.0, 0.5]),
    rule=st.sampled_from(["eij", "eij-plus", "uniform", "budgeted-thompson"]),
)
def test_any_seed_budget_and_grid(seed, repetition, budget, grid, noise, rule):
    meter = f"model:touch=0.001,noise={noise}"
    same(
        Trial("nk:n=16,k=2", "ssga", rule, meter, budget, seed=seed, repetition=repetition, **grid),
        compiled=False,
    )


@pytest.mark.compiled
@pytest.mark.parametrize("rule", ["eij", "eij-plus", "thompson"])
def test_compiled_at_once_and_in_between(rule):
    trial = Trial("nk:n=16,k=2", "ils", rule, "model", "60 J", seed=3)
    assert same(trial, compiled=True).scheduler.run.rule.compiled
    by_hand = ByHand(trial, compiled=False)
    by_hand.start()
    by_hand.steps(20)
    rule = by_hand.scheduler.run.rule
    assert not rule.compiled
    rule._may_compile = True
    rule.compile(wait=True)
    assert rule.compiled
    by_hand.steps()
    assert by_hand.scheduler.result().digest == solve(trial).digest
    assert by_hand.scheduler.run.ledger.decisions[0] > 40


@pytest.mark.compiled
def test_compiled_in_the_background(monkeypatch):
    monkeypatch.setattr("eij_core.scheduling.rule.PATIENCE", 0.0)
    monkeypatch.setattr("eij_core.scheduling.rule.find_entry", lambda function, frame: None)
    trial = Trial("nk:n=16,k=2", "ssga", "eij", "model", "8 J", seed=3)
    by_hand = ByHand(trial)
    by_hand.start()
    by_hand.steps(5)
    rule = by_hand.scheduler.run.rule
    while by_hand.scheduler.run.compiling:  # unless it is over already
        time.sleep(0.01)
    by_hand.steps()
    assert rule.compiled
    assert by_hand.scheduler.result().digest == solve(trial).digest


@pytest.mark.compiled
def test_what_numba_refuses_is_interpreted(caplog):
    scheduler = Scheduler(
        ["a", "b"], selector=Unusual(0), budget="1 J", meter="model", compiled=True
    )
    assert not scheduler.run.rule.compiled
    assert "cannot compile" in caplog.text
    for step in scheduler:
        step.gain = 1.0
    assert scheduler.result().spent.decisions > 10


@kernel
class Unusual(NamedTuple):
    """A rule in Python that numba does not know."""

    first: int

    def memory(self, hints, budget):
        return np.zeros(len(hints.names))

    def select(self, stats, left, rng):
        return {"first": self.first}["first"]

    def learn(self, stats, operator, outcome, joules):
        stats[operator] += eval("1.0")

    def belief(self, stats, operator):
        return Belief(0.0, 0.0, 0.0, 0.0, 0.0)
