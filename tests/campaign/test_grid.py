import copy

import pytest

from eij_core.campaigns import Campaign
from eij_core.campaigns.grid import key_of
from eij_core.errors import InputError
from eij_core.trial import Trial
from tests.campaign.small import campaign

SMALLEST = """
problems = ["knapsack"]
algorithms = ["ils"]
selectors = ["eij", "uniform"]
meter = "paper"
budget = "300 J"
seeds = 60
"""


def test_the_smallest_file():
    plan = Campaign.from_toml(SMALLEST)
    assert len(plan.trials) == 120
    assert len({trial.key for trial in plan.trials}) == 120
    assert {str(trial.budget) for trial in plan.trials} == {"300 J"}


def test_trials_are_whole_trials():
    """The quick copies that a grid makes are equal to trials that were checked."""
    for trial in Campaign.from_toml(SMALLEST).trials[:5]:
        assert trial == Trial.from_json(trial.to_json())


def test_methods_pair_by_seed_and_come_mixed():
    trials = Campaign.from_toml(SMALLEST).trials
    for i in range(60):
        block = trials[2 * i : 2 * i + 2]
        assert {trial.repetition for trial in block} == {i}
        assert {trial.selector.name for trial in block} == {"eij", "uniform"}
    assert {trial.selector.name for trial in trials[::2]} == {"eij", "uniform"}


def test_tables_multiply_out_and_inherit():
    plan = Campaign.from_toml("""
        meter = {name = "model", noise = 0.0}
        seeds = [3, 5]
        budgets = ["1 J", "100 evaluations"]
        algorithms = ["ils"]
        charge_start = false
        [[grid]]
        problems = [{name = "nk", n = 16, k = [1, 2], instance = [1, 2, 3]}]
        selectors = ["eij"]
        [[grid]]
        problems = ["nk:n=16,k=1"]
        selectors = ["eij", "uniform"]
        algorithms = ["ssga"]
        seeds = 1
    """)
    assert len(plan.trials) == 6 * 2 * 2 + 1 * 2 * 2
    assert {trial.repetition for trial in plan.trials} == {0, 3, 5}
    assert not any(trial.budget.charge_start for trial in plan.trials)
    assert Campaign.from_dict(plan.data) == plan


def test_the_same_trial_twice_is_run_once():
    plan = Campaign.from_dict({**campaign().data, "grid": campaign().data["grid"] * 2})
    assert len(plan.trials) == len(campaign().trials)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ("selector = ['eij']", "campaign"),
        ("budgets = ['1 J']", "budget"),
        ("seeds = 0", "seeds"),
        ("seeds = true", "seeds"),
        ("seeds = [1, -1]", "seeds"),
        ("seeds = []", "seeds"),
        ("problems = 'nk'", "problems"),
        ("problems = []", "problems"),
        ("problems = [{n = 3}]", "problem:name"),
        ("problems = [7]", "problem"),
        ("problems = ['nkk']", "problem"),
        ("problems = ['nk:n=-1']", "nk:n"),
        ("meter = 'sun'", "meter"),
        ("budget = '300'", "budget"),
        ("budget = '0 J'", "budget"),
        ("points = 0", "points"),
        ("seed = -1", "seed"),
        ("charge_start = 1", "charge_start"),
        ("name = 3", "name"),
        ("grid = 3", "grid"),
        ("grid = []", "grid"),
        ("grid = [3]", "grid"),
        ("x = = 3", "campaign file"),
    ],
)
def test_what_is_wrong_is_named(change, field):
    key = change.partition(" ")[0]
    lines = [line for line in SMALLEST.splitlines() if not line.startswith(f"{key} ")]
    with pytest.raises(InputError) as error:
        Campaign.from_toml("\n".join([change, *lines]))
    assert error.value.field == field


@pytest.mark.parametrize("key", ["problems", "budget"])
def test_what_is_missing_is_named(key):
    lines = [line for line in SMALLEST.splitlines() if not line.startswith(f"{key} ")]
    with pytest.raises(InputError, match="missing"):
        Campaign.from_toml("\n".join(lines))
    with pytest.raises(InputError, match="budgets"):
        Campaign.from_toml(SMALLEST.replace("budget =", "budgets ="))


def test_a_diff_says_what_changed():
    other = campaign(budget="3 J", seeds=7)
    assert campaign().diff(campaign().data) == []
    assert set(other.diff(campaign().data)) == {
        '- budgets: "2 J"', '+ budgets: "3 J"', "- seeds: 6", "+ seeds: 7",
    }  # fmt: skip


def test_a_key_depends_on_the_instance_itself():
    trial = Trial("nk:n=16,k=2", "ils", meter="model")
    assert key_of(trial) == key_of(copy.deepcopy(trial))
    assert key_of(trial) != key_of(Trial("nk:n=16,k=2,instance=2", "ils", meter="model"))
    # The same data, another instance: a file that was edited.
    assert key_of(trial) != key_of(trial, {trial.problem: "other"})


def test_a_function_of_ones_own_has_a_lasting_key():
    trial = Trial("external:function=tests.campaign.poison.harmless,n=8", "ils", meter="model")
    assert key_of(trial) == key_of(trial)


@pytest.mark.parametrize(
    "changes",
    [
        {"seeds": 10**9},
        {"selectors": ["eij", "uniform"] * 600, "seeds": 1000},
        {"problems": [{"name": "nk", "n": list(range(2, 3000)), "k": list(range(2000))}]},
    ],
)
def test_a_campaign_too_large_to_hold_is_refused_before_it_is_made(changes):
    grid = {"problems": ["nk"], "algorithms": ["ils"], "selectors": ["eij"], "budget": "1 J"}
    with pytest.raises(InputError, match="at most 1,000,000"):
        Campaign.from_dict({**grid, **changes})
