"""Checkpoints: a resumed scheduler makes the choices that it would have made."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import InputError, RunError, Scheduler
from eij_core.registry import selectors

RULES = [name for name in selectors if not selectors.is_private(name)]


def made(rule="eij-plus", **options):
    rule = "static:operator=b" if rule == "static" else rule
    options = {"meter": "model", "budget": "1.5 J", "compiled": False, "seed": 4, **options}
    return Scheduler(["a", "b", "c"], selector=rule, **options)


def go_on(scheduler, steps=10**9):
    """A loop whose gains depend on nothing but the number of the decision."""
    for _ in range(steps):
        if (step := scheduler.ask()) is None:
            return scheduler
        number = int(scheduler.run.ledger.decisions[0])
        gains = np.random.default_rng(number).normal(step.number - 1.0, 1.0, 3)
        best = float(number % 17)
        scheduler.tell(step, gains=gains, evaluations=3, best=best, solution=[number, 1])
    return scheduler


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_goes_on_with_the_same_choices(rule, tmp_path):
    whole = go_on(made(rule))
    go_on(made(rule), 15).save(tmp_path / "at.npz")
    resumed = go_on(Scheduler.resume(tmp_path / "at.npz", compiled=False))
    assert resumed.result().digest == whole.result().digest
    assert resumed.result().spent.decisions == whole.result().spent.decisions > 20
    assert resumed.solution == whole.solution or list(resumed.solution) == whole.solution


@given(
    st.lists(st.integers(0, 9), max_size=4), st.integers(0, 100), st.sampled_from(["max", "min"])
)
def test_any_number_of_checkpoints(tmp_path_factory, pauses, seed, sense):
    path = tmp_path_factory.mktemp("at") / "checkpoint"
    options = {"seed": seed, "sense": sense, "every": 2, "budget": "0.8 J, 90 evaluations"}
    whole = made("eij", **options)
    whole.start(evaluations=2, best=3.0)
    parts = made("eij", **options)
    parts.start(evaluations=2, best=3.0)
    for pause in pauses:
        go_on(parts, pause).save(path)
        parts = Scheduler.resume(path, compiled=False)
    got, expected = go_on(parts).result(), go_on(whole).result()
    assert got.digest == expected.digest
    assert (got.reason, got.sense, got.best.fitness) == (
        expected.reason, expected.sense, expected.best.fitness,
    )  # fmt: skip


def test_what_else_is_kept(tmp_path):
    scheduler = made("epsilon-greedy")
    with pytest.raises(KeyError), scheduler.step():
        raise KeyError
    name = selectors.parameters("epsilon-greedy")[0].name
    scheduler.adjust(**{name: 0.75})
    go_on(scheduler, 5).save(tmp_path / "at")
    resumed = Scheduler.resume(tmp_path / "at", compiled=False)
    assert resumed.failures.tolist() == scheduler.failures.tolist()
    assert resumed.overhead.seconds == pytest.approx(scheduler.overhead.seconds, rel=0.5)
    assert resumed.result().changes == scheduler.result().changes
    assert getattr(resumed.run.selector, name) == 0.75
    assert resumed.result().spent.seconds == scheduler.result().spent.seconds


def test_a_finished_one_stays_finished(tmp_path):
    go_on(made()).save(tmp_path / "at")
    resumed = Scheduler.resume(tmp_path / "at")
    assert resumed.ask() is None
    assert resumed.result().reason == "no operator fits in the Joules left"


def test_callables_and_objects_are_given_again(tmp_path):
    def a():
        return 1.0

    rule = selectors.make("eij")
    options = {"selector": rule, "budget": "1 J", "meter": "told", "compiled": False}
    scheduler = Scheduler([a, sorted], **options)
    scheduler.tell(scheduler.ask(), 1.0, joules=0.1)
    scheduler.save(tmp_path / "at")
    with pytest.raises(InputError, match="selector"):
        Scheduler.resume(tmp_path / "at")
    with pytest.raises(InputError, match="operators"):
        Scheduler.resume(tmp_path / "at", ["a", "b"], selector=rule)
    with pytest.raises(RunError, match="another rule"):
        Scheduler.resume(tmp_path / "at", [a, sorted], selector="eij-plus")
    resumed = Scheduler.resume(tmp_path / "at", [a, sorted], selector=rule, compiled=False)
    assert callable(resumed.ask().operator)


def test_open_steps_are_refused(tmp_path):
    scheduler = made()
    step = scheduler.ask()
    with pytest.raises(RunError, match=f"open .{step.name}."):
        scheduler.save(tmp_path / "at")
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_none(tmp_path):
    with pytest.raises(InputError, match="checkpoint"):
        Scheduler.resume(tmp_path / "nothing")
    go_on(made(), 5).save(tmp_path / "at")
    data = (tmp_path / "at").read_bytes()
    for damaged in (b"", b"text", data[: len(data) // 2], data[:-30]):
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(InputError, match="checkpoint"):
            Scheduler.resume(tmp_path / "damaged")
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with pytest.raises(InputError, match="checkpoint"):
        Scheduler.resume(tmp_path / "other.npz")
