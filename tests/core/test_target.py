"""A run stops at its target, at the very application, and says what it took."""

import math

import pytest

from eij_core import InputError, Run, Scheduler, Trial, solve
from eij_core.records import read, write
from eij_core.target import fitness_of

ONEMAX = Trial("onemax:n=30", "ils:steps=5", meter="model", budget="50 J", seed=3)


def with_target(target, trial=ONEMAX):
    return Trial.from_dict({**trial.to_dict(), "target": target})


@pytest.mark.both
@pytest.mark.parametrize("target", ["optimum", "10%", "27", 27, 0])
def test_a_run_stops_where_it_reaches_its_target(target):
    result = solve(with_target(target))
    wanted = {"optimum": 30.0, "10%": 27.0, 0: 0.0}.get(target, 27.0)
    assert result.best.fitness >= wanted
    assert result.reached.fitness == wanted
    assert result.reason == {"optimum": "optimum reached"}.get(target, f"target {target} reached")
    assert result.reached.joules == result.spent.joules == result.rows["spent"][-1]
    assert result.reached.decision == result.spent.decisions
    assert (result.rows["best"][:-1] < wanted).all()


def test_the_rows_before_the_target_are_those_of_the_run_without_it():
    whole, ended = solve(ONEMAX, compiled=False), solve(with_target("optimum"), compiled=False)
    assert whole.rows[: len(ended.rows) - 1].tobytes() == ended.rows[:-1].tobytes()
    assert whole.spent.joules > ended.spent.joules
    assert whole.reached.joules >= ended.reached.joules  # by the recorded grid
    assert whole.reason != ended.reason


def test_chunks_do_not_change_where_it_stops():
    run = Run(with_target("optimum"), compiled=False)
    while not run.done:
        run.advance(1)
    assert run.result().digest == solve(with_target("optimum"), compiled=False).digest


def test_a_start_that_is_good_enough_takes_no_decision():
    result = solve(with_target(1), compiled=False)
    assert (result.spent.decisions, result.reason) == (0, "target 1 reached")


def test_trials_without_a_target_are_written_as_before():
    assert "target" not in ONEMAX.to_dict()
    assert with_target("").key == with_target(None).key == ONEMAX.key
    assert with_target("Optimum ").key == with_target("optimum").key != ONEMAX.key
    assert Trial.from_toml(with_target("1 %").to_toml()) == with_target("1%")


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_a_record_knows_the_target(suffix):
    result = solve(with_target("optimum"), compiled=False)
    record = read(write(result, suffix), "this file")
    assert record.result().reached == result.reached
    assert record.metadata["target"]["joules"] == result.spent.joules


def test_a_target_that_is_missed_says_so():
    result = solve(with_target(31), compiled=False)
    assert not result.reached.yes
    assert "target 31 missed" in repr(result)
    assert result.to_dict()["target"]["joules"] is None


@pytest.mark.parametrize("target", ["best", "-1%", math.inf, True, "1 J"])
def test_what_is_no_target_is_refused(target):
    with pytest.raises(InputError, match="target"):
        with_target(target)


def test_without_a_known_optimum():
    unknown = Trial("nk:n=12,k=2", "ils", budget="20 J")
    result = solve(with_target("optimum", unknown), compiled=False)
    assert result.reached is None
    assert "reached" not in result.reason
    with pytest.raises(InputError, match="not known"):
        Run(with_target("1%", unknown))


def test_a_gap_is_above_an_optimum_that_is_minimised():
    assert fitness_of("5%", -100.0) == -105.0
    assert fitness_of("5%", 100.0, "min") == pytest.approx(105.0)


@pytest.mark.parametrize(("sense", "values"), [("max", [1, 5, 9]), ("min", [9, 5, 1])])
def test_a_scheduler_stops_at_its_target(sense, values):
    scheduler = Scheduler(
        ["a", "b"], meter="model", budget="1 kJ", sense=sense, target=5, compiled=False
    )
    for step, value in zip(scheduler, values, strict=False):
        step.gain, step.best = 1.0, value
    result = scheduler.result()
    assert (result.reason, result.spent.decisions) == ("target 5 reached", 2)
    assert result.reached.joules == result.spent.joules


@pytest.mark.parametrize("target", ["optimum", "2%"])
def test_a_scheduler_knows_no_optimum(target):
    with pytest.raises(InputError, match="target = "):
        Scheduler(["a", "b"], meter="model", target=target)
