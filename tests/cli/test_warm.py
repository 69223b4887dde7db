"""`eij warm`: what it compiles, in which order, and what it says meanwhile."""

import sys

import pytest

from eij_core import Trial
from eij_core.cli import warm as warming
from eij_core.trial import FAMILIES

PAGE_FIRST = [
    ("ils on knapsack", ["eij-plus", "uniform", "static"]),
    ("pso on nk", ["eij-plus", "uniform", "static"]),
    ("ssga on nk", ["eij", "uniform", "static"]),
    ("ils of flip-1 and dear-twin-1 on knapsack", ["eij", "uniform", "static"]),
    ("ils of flip-1 and idle on knapsack", ["eij", "uniform", "static"]),
    ("ils on knapsack", ["eij"]),
    ("pso on nk", ["eij"]),
    ("ils on ecc", ["eij", "uniform", "static"]),
]
"""The page's own combination and its baselines, then the lessons in their order."""


def rules_of(step):
    return [trial.name_of("selector") for trial in step.trials]


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(warming, "PROBLEMS", ("knapsack", "nk"))
    monkeypatch.setattr(warming, "ALGORITHMS", ("ils",))
    monkeypatch.setattr(warming, "SELECTORS", ("static", "uniform"))
    monkeypatch.setattr(warming, "PAGE", "app.is_not_installed")


def test_the_page_s_own_combination_comes_first_then_the_lessons():
    steps = warming.steps_of()
    assert [(step.name, rules_of(step)) for step in steps[: len(PAGE_FIRST)]] == PAGE_FIRST


def test_each_combination_comes_once():
    combinations = [(step.name, rule) for step in warming.steps_of() for rule in rules_of(step)]
    assert len(combinations) == len(set(combinations)) == 36 + 6


def test_without_the_dashboard_the_rest_remains(monkeypatch):
    monkeypatch.setitem(sys.modules, f"app.{warming.PAGE}", None)
    steps = warming.steps_of()
    assert len(steps) == 9
    assert all(rules_of(step) == list(warming.SELECTORS) for step in steps)


def test_all_names_everything_that_is_public():
    found = {
        (trial.name_of("problem"), trial.name_of("algorithm"), trial.name_of("selector"))
        for step in warming.steps_of(everything=True)
        for trial in step.trials
    }
    for family, place in (("algorithm", 1), ("selector", 2)):
        assert set(FAMILIES[family]) <= {names[place] for names in found}
    problems = FAMILIES["problem"]
    public = {name for name in problems if not problems.is_private(name)}
    assert {names[0] for names in found} == public


def test_it_compiles_in_order_and_says_so_when_piped(eij, few, monkeypatch):
    compiled = []
    monkeypatch.setattr(warming, "compile_trial", compiled.append)
    code, out, err = eij("warm", "--jobs", 1)
    assert (code, out) == (0, "4 combinations are compiled\n")
    assert err.splitlines() == [
        "compiling 4 combinations",
        "2 of 4 compiled: ils on knapsack with static, uniform",
        "4 of 4 compiled: ils on nk with static, uniform",
    ]
    expected = [(problem, rule) for problem in ("knapsack", "nk") for rule in warming.SELECTORS]
    assert [(t.name_of("problem"), t.name_of("selector")) for t in compiled] == expected


def test_quiet_says_nothing(eij, few):
    assert eij("warm", "--jobs", 1, "--quiet") == (0, "", "")


@pytest.mark.long
def test_lines_come_while_it_compiles(spawn):
    process = spawn("warm", "--jobs", "1")  # interpreted, so no combination takes long
    lines = iter(process.stderr.readline, "")
    assert next(lines) == "compiling 42 combinations\n"
    assert next(lines) == "3 of 42 compiled: ils on knapsack with eij-plus, uniform, static\n"
    assert process.poll() is None  # it has not ended, and its lines are here


def test_what_is_compiled_can_be_sent_to_other_processes():
    import pickle

    steps = warming.steps_of()
    sent = pickle.loads(pickle.dumps(steps))
    assert sent == steps
    assert all(isinstance(trial, Trial) for step in sent for trial in step.trials)
