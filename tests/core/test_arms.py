"""Parameter control: operators of a portfolio with values of their own."""

import dataclasses

import pytest

from eij_core import InputError, Trial, solve
from eij_core.algorithms.arms import Arm, ForecastArm, ProbedArm
from eij_core.components import check_component
from eij_core.registry import algorithms

TRIAL = Trial("onemax:n=30", "ssga:population=8", meter="model", budget="3 J", seed=5)


def names(portfolio, algorithm="ssga"):
    made = algorithms.make(f"{algorithm}:operators={portfolio}")
    return [operator.name for operator in made.operators]


def test_arms_are_named_after_their_values():
    assert names("replace-1@flips=0.25+replace-1@flips=1+replace-5@flips=0.5") == [
        "replace-1 @ flips 0.25",
        "replace-1 @ flips 1",
        "replace-5 @ flips 0.5",
    ]
    assert names("replace-1+uniform-1@crossover=1@distinct=true") == [
        "replace-1",
        "uniform-1 @ crossover 1 @ distinct true",
    ]


def test_a_range_is_several_arms():
    assert names("flip-1@steps=10..1000x3", "ils") == [
        "flip-1 @ steps 10",
        "flip-1 @ steps 100",
        "flip-1 @ steps 1000",
    ]
    assert names("light@w=0..1x3", "pso") == ["light @ w 0", "light @ w 0.5", "light @ w 1"]
    assert len(names("replace-1@flips=0.25..1x3@crossover=0..1x3")) == 9


@pytest.mark.parametrize(
    ("algorithm", "portfolio"),
    [
        ("ssga:population=6", "replace-1@flips=0.25+two-point-3@crossover=0.5@flips=2"),
        ("ils:steps=4", "flip-1@steps=2..6x2+scan@passes=1+segment@longest=4@steps=3"),
        ("pso:swarm=5", "light@vmax=0.2+full@c1=0@w=0.5"),
    ],
)
def test_arms_keep_the_contract(algorithm, portfolio):
    assert check_component(algorithms.make(f"{algorithm},operators={portfolio}")) == []


def test_an_arm_has_the_hooks_of_its_operator():
    made = algorithms.make("ils:operators=flip-1@steps=7+scan@passes=2")
    assert [type(operator) for operator in made.operators] == [ProbedArm, ForecastArm]
    assert Arm._fields == ProbedArm._fields


@pytest.mark.both
@pytest.mark.parametrize("value", ["flips=2", "crossover=0.1"])
def test_an_arm_is_the_operator_of_an_algorithm_with_this_value(value):
    """The whole portfolio with a value is the algorithm with it, to the bit."""
    whole = dataclasses.replace(TRIAL, algorithm=f"ssga:population=8,{value}")
    portfolio = f"replace-1@{value}+replace-5@{value}"
    arms = dataclasses.replace(TRIAL, algorithm=f"ssga:population=8,operators={portfolio}")
    assert solve(arms).digest == solve(whole).digest


def test_an_arm_at_the_algorithms_own_value_changes_nothing():
    arms = dataclasses.replace(
        TRIAL, algorithm="ssga:population=8,operators=replace-1@flips=0.5+replace-5@flips=0.5"
    )
    assert solve(arms, compiled=False).digest == solve(TRIAL, compiled=False).digest


@pytest.mark.parametrize(
    ("portfolio", "said"),
    [
        ("replace-1@flip=1", "did you mean 'flips'"),
        ("replace-1@population=9", "one of crossover, distinct, flips"),
        ("replace-1@flips=-1", "above 0"),
        ("replace-1@flips", "NAME@KEY=VALUE"),
        ("replace-1@flips=", "key=value|NAME@KEY=VALUE"),
        ("replace-1@flips=1@flips=2", "NAME@KEY=VALUE"),
        ("replace-1@flips=2..1x3", "NAME@KEY=VALUE"),
        ("replace-1@flips=0.1..9x99", "NAME@KEY=VALUE"),
        ("replace-1@flips=0.1..9x30@crossover=0..1x30", "at most 64 arms"),
        ("replace-1@flips=1+replace-1@flips=1.0", "with other values"),
        ("replace-1@flips=nan", "above 0"),
        ("replace-0@flips=1", "expected one of"),
    ],
)
def test_what_is_no_arm_is_refused(portfolio, said):
    with pytest.raises(InputError, match=said):
        names(portfolio)


def test_arms_survive_the_trial_and_its_files():
    portfolio = "replace-1@flips=0.25..1x3+replace-5"
    trial = dataclasses.replace(TRIAL, algorithm=f"ssga:population=8,operators={portfolio}")
    assert Trial.from_toml(trial.to_toml()) == trial
    result = solve(trial, compiled=False)
    assert result.operators[0].name == "replace-1 @ flips 0.25"
    assert all(total.applications for total in result.operators)
