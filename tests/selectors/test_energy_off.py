"""`cost=off`: the choices do not depend on Joules, and `eij list selectors` says so."""

import math

import numpy as np
import pytest

from eij_core import Run, Trial
from eij_core.meters.model import Model
from eij_core.registry import selectors
from eij_core.zoo.cases import reprice
from tests.selectors.scripted import Player

DESCRIBED = {
    name: parameter.range.about
    for name in selectors
    for parameter in selectors.parameters(name)
    if parameter.name == "cost"
}
# They never look at Joules, so there is nothing to turn off.
ALWAYS_BLIND = {"uniform", "static"}
# Under a budget in Joules these two still read them, for what fits and for what is forgotten.
BUDGETED = {"kube", "log-ei"}
PRICES = {"even": np.array([1.0, 1.0, 1.0]), "one dear": np.array([1.0, 40.0, 1.0])}


def choices(spec, prices, budget, decisions=150):
    """Play a script of gains that is the same for all prices; the dear one gains most."""
    gains = np.random.default_rng(7).normal(0.0, 0.6, (decisions, 3, 2))
    gains += np.array([0.3, 0.9, 0.3])[:, None]
    player = Player(spec, 3, budget=budget, seed=4, known=prices)
    chosen = []
    for t in range(decisions):
        operator = player.select()
        player.learn(operator, gains[t, operator], prices[operator])
        chosen.append(operator)
    return chosen


def test_every_rule_that_reads_joules_can_be_told_not_to():
    assert set(DESCRIBED) == set(selectors) - ALWAYS_BLIND


@pytest.mark.parametrize("name", DESCRIBED)
def test_the_list_documents_what_off_means(name):
    assert "off: " in DESCRIBED[name]
    assert ("Joule budget" in DESCRIBED[name]) == (name in BUDGETED)


@pytest.mark.parametrize("name", DESCRIBED)
def test_without_cost_the_prices_change_no_choice(name):
    even, dear = (choices(f"{name}:cost=off", prices, math.inf) for prices in PRICES.values())
    assert even == dear


@pytest.mark.parametrize("name", sorted(set(DESCRIBED) - BUDGETED))
def test_without_cost_a_budget_in_joules_changes_no_choice_either(name):
    even, dear = (choices(f"{name}:cost=off", prices, 1e5) for prices in PRICES.values())
    assert even == dear


@pytest.mark.parametrize("name", DESCRIBED)
def test_with_cost_the_prices_do_change_the_choices(name):
    even, dear = (choices(name, prices, math.inf) for prices in PRICES.values())
    assert even != dear


class OneDear:
    """Simulated Joules, those of the second operator times a factor."""

    def __init__(self, factor):
        self.factor = factor
        self.info = Model().info

    def attach(self, problem, algorithm, operators):
        meter = Model().attach(problem, algorithm, operators)
        ones = [1.0] * len(operators)
        reprice(meter, ones, [1.0, self.factor, *ones[2:]])
        return meter


def applied(selector, factor):
    trial = Trial(
        "nk:n=12,k=2",
        "ils",
        selector,
        OneDear(factor),
        budget="6000 evaluations",
        seed=3,
        every=1,
    )
    run = Run(trial, compiled=False)
    for _ in run:
        pass
    operators = run.rows()["operator"]
    return operators[operators >= 0].tolist(), float(run.ledger.joules[0])


@pytest.mark.parametrize("name", ["eij", "eij-plus", "log-ei", "kube", "ucb1"])
def test_a_trial_without_cost_makes_the_same_choices_at_other_prices(name):
    (even, cheap), (dear, more) = (applied(f"{name}:cost=off", factor) for factor in (1.0, 30.0))
    assert len(even) > 20
    assert len(set(even)) == 2
    assert even == dear
    assert more > 2 * cheap
