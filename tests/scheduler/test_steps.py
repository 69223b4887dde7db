"""Steps: three ways to make them, what is refused, what an exception costs, how a budget ends."""

import math
import time

import numpy as np
import pytest

from eij_core import Forecast, InputError, RunError, Scheduler
from eij_core.registry import selectors

PRICES = "model:application=0.125,evaluation=0,noise=0"


def scheduler_on(meter=PRICES, **options):
    options = {"budget": "2 J", "compiled": False, **options}
    return Scheduler(["a", "b", "c"], meter=meter, **options)


def rows_of(scheduler):
    return scheduler.result().rows.tobytes()


def test_three_ways_are_one():
    def gain(step):
        return {"a": 0.5, "b": 2.0, "c": -1.0}[step.name]

    by_loop = scheduler_on()
    for step in by_loop:
        step.gain = gain(step)
    by_block = scheduler_on()
    while not by_block.done:
        with by_block.step() as step:
            if step is None:
                break
            step.gain = gain(step)
    by_hand = scheduler_on()
    while step := by_hand.ask():
        by_hand.tell(step, gain(step))
    assert rows_of(by_loop) == rows_of(by_block) == rows_of(by_hand)
    assert by_loop.result().spent.decisions == 16


def test_operators_are_what_was_given():
    def double(x):
        return 2 * x

    scheduler = Scheduler([double, "half"], budget="1 J", meter=PRICES, compiled=False)
    assert scheduler.run.names == ("double", "half")
    for step in scheduler:
        step.gain = step.operator(3) if callable(step.operator) else 1.0
    assert scheduler.belief()["double"].score > scheduler.belief()["half"].score


@pytest.mark.parametrize("operators", [[], ["a", "a"], "abc", [""], [lambda x: x, lambda x: -x]])
def test_operators_need_names_of_their_own(operators):
    with pytest.raises(InputError, match="operators"):
        Scheduler(operators, budget="1 J", meter="model")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"sense": "up"}, "sense"),
        ({"budget": "7"}, "budget"),
        ({"selector": "eij-plu"}, "eij-plus"),
        ({"meter": "modelx"}, "model"),
        ({"forecasts": {"d": Forecast(1, 1, 0)}}, "forecasts"),
        ({"charge_overhead": True}, "price lists have no price"),
    ],
)
def test_arguments_are_checked(options, word):
    with pytest.raises(InputError, match=word):
        scheduler_on(**options)


@pytest.mark.parametrize(
    ("told", "word"),
    [
        ({}, "has no gain"),
        ({"gain": math.nan}, "gain"),
        ({"gain": math.inf}, "gain"),
        ({"gain": 1.0, "gains": [math.nan]}, "gains"),
        ({"gain": 1.0, "evaluations": 1.5}, "evaluations"),
        ({"gains": []}, "gains"),
        ({"gains": [[1.0]]}, "gains"),
        ({"gain": 1.0, "evaluations": -1}, "evaluations"),
        ({"gain": 1.0, "touches": -1}, "touches"),
        ({"gain": 1.0, "best": math.nan}, "best"),
        ({"gain": 1.0, "solution": "x"}, "best"),
        ({"gain": 1.0, "joules": -1.0}, "joules"),
    ],
)
def test_a_step_that_cannot_be_booked_stays_open(told, word):
    scheduler = scheduler_on()
    step = scheduler.ask()
    with pytest.raises((InputError, RunError), match=word):
        scheduler.tell(step, **told)
    assert scheduler.spent == 0.0
    again = scheduler.ask()
    scheduler.tell(again, 1.0)
    step.gain, step.gains, step.best, step.solution, step.joules = 1.0, None, None, None, None
    step.evaluations, step.touches = 1, 0
    assert scheduler.tell(step) == 0.125
    assert scheduler.spent == 0.25


def test_a_step_is_told_once_and_to_its_own_scheduler():
    one, other = scheduler_on(), scheduler_on()
    step = one.ask()
    with pytest.raises(RunError, match="not an open step"):
        other.tell(step, 1.0)
    one.tell(step, 1.0)
    with pytest.raises(RunError, match="told> is not an open step"):
        one.tell(step, 1.0)
    assert one.result().spent.decisions == 1


def test_an_exception_is_charged_and_goes_on():
    scheduler = scheduler_on()
    with pytest.raises(KeyError, match="mine"), scheduler.step() as step:
        step.gain, step.best = 5.0, 1.0
        raise KeyError("mine")
    assert step.failed
    with pytest.raises(ZeroDivisionError):
        for _ in scheduler:
            1 / 0  # noqa: B018
    result = scheduler.result()
    assert result.spent.joules == pytest.approx(0.25)
    assert sum(total.gain for total in result.operators) == 0.0
    assert scheduler.failures.sum() == 2
    assert math.isnan(result.best.fitness)
    assert "2 failed" in repr(scheduler)


def test_break_books_the_step_and_a_new_loop_goes_on():
    scheduler = scheduler_on()
    for step in scheduler:
        step.gain = 3.0
        break
    assert not step.failed
    assert scheduler.result().spent.decisions == 1
    for step in scheduler:
        step.gain = 1.0
    assert scheduler.result().spent.decisions == 16
    assert list(scheduler) == []
    assert scheduler.ask() is None


def test_a_gain_that_was_forgotten_is_said():
    scheduler = scheduler_on()
    with pytest.raises(RunError, match="has no gain"):
        for _ in scheduler:
            pass
    assert scheduler.failures.sum() == 1
    with pytest.raises(RunError, match="has no gain"), scheduler.step():
        pass
    assert scheduler.spent == 0.25


@pytest.mark.parametrize(
    ("budget", "reason", "decisions"),
    [
        ("1 J", "joules spent", 8),
        ("1.1 J", "no operator fits in the Joules left", 8),
        ("7 evaluations", "evaluations spent", 7),
    ],
)
def test_how_a_budget_ends(budget, reason, decisions):
    prices = {name: Forecast(1, 1, 0) for name in "abc"}
    scheduler = scheduler_on(budget=budget, forecasts=prices)
    for step in scheduler:
        step.gain = 1.0
    result = scheduler.result()
    assert (result.reason, result.spent.decisions) == (reason, decisions)
    assert scheduler.done
    assert scheduler.progress == 1.0
    assert result.rows["decision"][-1] == decisions


def test_seconds_are_those_of_the_clock():
    scheduler = scheduler_on(budget="60 ms")
    for step in scheduler:
        time.sleep(0.005)
        step.gain = 1.0
    result = scheduler.result()
    assert result.reason == "seconds spent"
    assert 0.06 <= result.spent.seconds < 1.0
    assert 1 <= result.spent.decisions <= 12


def test_done_is_known_when_the_last_step_is_told():
    scheduler = scheduler_on(budget="2 evaluations")
    scheduler.tell(scheduler.ask(), 1.0)
    assert not scheduler.done
    assert scheduler.progress == 0.5
    scheduler.tell(scheduler.ask(), 1.0)
    assert scheduler.done


def test_stop_ends_it():
    scheduler = scheduler_on()
    scheduler.tell(scheduler.ask(), 1.0)
    scheduler.stop("enough")
    assert scheduler.ask() is None
    assert scheduler.result().reason == "enough"


def test_stop_lets_open_steps_be_told():
    scheduler = scheduler_on()
    for step in scheduler:
        step.gain = 1.0
        scheduler.stop("good enough")
        assert not scheduler.done
    assert scheduler.done
    result = scheduler.result()
    assert (result.reason, result.spent.decisions) == ("good enough", 1)
    assert result.rows["decision"].tolist() == [0, 1]


def test_several_open_steps_in_any_order():
    scheduler = scheduler_on("told", selector="uniform")
    steps = [scheduler.ask() for _ in range(3)]
    with pytest.raises(InputError, match="the Joules of every step"):
        scheduler.tell(steps[0], 1.0)
    for step, joules in zip(steps[::-1], (0.3, 0.2, 0.1), strict=True):
        assert scheduler.tell(step, 1.0, joules=joules) == joules
    result = scheduler.result()
    assert result.spent.joules == pytest.approx(0.6)
    for total in result.operators:
        told = [step.joules for step in steps if step.name == total.name]
        assert total.joules == pytest.approx(sum(told))
        assert total.applications == len(told)
    assert (result.meter.name, result.meter.provenance) == ("told", "estimated")


def test_steps_open_at_the_end_are_booked():
    scheduler = scheduler_on("told", budget="1 J")
    steps = [scheduler.ask() for _ in range(3)]
    for step in steps:
        scheduler.tell(step, 1.0, joules=1.0)
        assert scheduler.done
    result = scheduler.result()
    assert result.spent.joules == 3.0
    assert result.spent.overshoot == 2.0
    assert result.rows["decision"].tolist() == [0, 1, 2, 3]
    assert result.reason == "joules spent"
    with pytest.raises(RuntimeError, match="elsewhere"), scheduler_on("told").step() as step:
        raise RuntimeError("elsewhere")


def test_gains_of_many_candidates():
    gains = np.linspace(-1.0, 1.0, 301)
    one = scheduler_on(every=1)
    one.tell(one.ask(), gains=gains, evaluations=301)
    total = 0.0
    for gain in gains.tolist():
        total += gain
    result = one.result()
    assert result.rows["gain"][-1] == total
    assert result.spent.evaluations == 301
    other = scheduler_on(every=1)
    other.tell(other.ask(), 0.25, gains=[1.0, 2.0])
    assert other.result().rows["gain"][-1] == 0.25


@pytest.mark.parametrize(("sense", "best"), [("max", 9.0), ("min", 2.0)])
def test_one_sense(sense, best):
    scheduler = scheduler_on(sense=sense, every=1)
    scheduler.start(evaluations=4, best=5.0, solution=[5])
    solution = [0]
    for value in (7.0, 2.0, 9.0, 4.0):
        solution[0] = int(value)
        scheduler.tell(scheduler.ask(), 1.0, best=value, solution=solution)
    result = scheduler.result()
    assert result.sense == sense
    assert result.best.fitness == best
    assert scheduler.solution == [int(best)]
    assert result.rows["best"].tolist()[0] == 5.0
    assert result.rows["best"].tolist()[-1] == best
    assert ("least" if sense == "min" else "best") in repr(result)
    assert result.spent.evaluations == 8


def test_the_beginning_is_booked_once_and_first():
    scheduler = scheduler_on("model:application=0,evaluation=0.01,touch=0.001,noise=0")
    scheduler.start(evaluations=10, touches=100, best=1.0, solution=np.array([1, 0]))
    with pytest.raises(RunError, match="once"):
        scheduler.start()
    result = scheduler.result()
    assert result.spent.start_joules == pytest.approx(0.2)
    assert result.best.x.tolist() == [1, 0]
    free = scheduler_on()
    assert free.result().spent.joules == 0.0


def test_looking_inside_changes_nothing():
    plain, watched = scheduler_on(), scheduler_on()
    for step in plain:
        step.gain = 1.0
    while True:
        if not watched.done and watched.run.begun:
            decision = watched.explain()
        watched.belief(), watched.result(), repr(watched)
        step = watched.ask()
        if step is None:
            break
        if watched.run.ledger.decisions[0] > 0:
            assert decision.operator == step.number
        watched.tell(step, 1.0)
    assert rows_of(plain) == rows_of(watched)


def test_adjust_is_kept_in_the_record():
    scheduler = scheduler_on(selector="epsilon-greedy")
    name = selectors.parameters("epsilon-greedy")[0].name
    scheduler.tell(scheduler.ask(), 1.0)
    scheduler.adjust(**{name: 1.0})
    with pytest.raises(InputError, match="selector"):
        scheduler.adjust(nothing=1.0)
    for step in scheduler:
        step.gain = 1.0
    (change,) = scheduler.result().changes
    assert change == (1, name, 1.0)


def test_the_loop_of_such_a_run_is_elsewhere():
    run = scheduler_on().run
    for call in (lambda: run.advance(1), lambda: next(run), run.replace):
        with pytest.raises(RunError, match="elsewhere"):
            call()
    with pytest.raises(RunError, match="own loop"):
        run.problem.fitness(np.zeros(1, np.uint8))
    with pytest.raises(RunError, match="own loop"):
        run.algorithm.begin(run.problem, None)


def test_a_step_that_was_not_applied_is_given_back():
    scheduler = scheduler_on()
    step = scheduler.ask()
    scheduler.withdraw(step)
    with pytest.raises(RunError, match="not an open step"):
        scheduler.tell(step, 1.0)
    scheduler.stop()
    assert scheduler.result().reason == "stopped"
    assert scheduler.result().spent.decisions == 0


def test_overhead_is_shown():
    scheduler = scheduler_on()
    for step in scheduler:
        step.gain = 1.0
    overhead = scheduler.overhead
    assert 0.0 < overhead.seconds < 10.0
    assert overhead.per_decision == pytest.approx(overhead.seconds / 16)
    assert math.isnan(overhead.joules)
    assert "µs a decision" in repr(scheduler.result())
