"""Driving runs from another thread: pause, resume, step, stop, pace; the lanes they run in."""

import dataclasses
import itertools
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import Run, Trial, solve
from eij_core.drive import Control, Lane, drive
from eij_core.engine.rows import row_dtype


def new_run(budget="20 J", **changes):
    return Run(
        Trial("nk:n=12,k=2", "ils:steps=5", "eij", "model", budget=budget, **changes),
        compiled=False,
    )


class Driven:
    """A run driven by its own thread, as the dashboard does."""

    def __init__(self, run, control):
        self.run, self.control, self.chunks = run, control, 0
        self.lane = Lane(run.trial, run=run)
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self):
        drive([self.lane], self.control, after=self._count)

    def _count(self):
        self.chunks += 1

    @property
    def decisions(self):
        return int(self.run.ledger.decisions[0])

    def wait(self, condition, seconds=20.0):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "waited in vain"
            time.sleep(0.002)

    def join(self):
        self.thread.join(20.0)
        assert not self.thread.is_alive()


def drive_one(run, control=None, **options):
    drive([Lane(run.trial, run=run)], control, **options)


def test_driven_to_the_end_every_row_arrives():
    run = new_run("2 J")
    lane = Lane(run.trial, run=run)
    drive([lane])
    assert lane.rows.tobytes() == run.rows().tobytes()
    assert run.done


def test_pause_step_resume():
    driven = Driven(new_run("2 J"), Control(paused=True))
    driven.control.step(3)
    driven.wait(lambda: driven.decisions == 3)
    driven.control.step()
    driven.wait(lambda: driven.decisions == 4)
    time.sleep(0.05)
    assert driven.decisions == 4
    assert driven.control.paused
    driven.control.resume()
    driven.join()
    assert driven.run.done
    assert driven.decisions == driven.run.ledger.decisions[0]


def test_pausing_in_mid_run_and_changing_a_parameter_meanwhile():
    driven = Driven(new_run("1 h"), Control())
    driven.wait(lambda: driven.decisions > 5)
    driven.control.pause()
    driven.control.adjust(alpha=0.25)
    driven.wait(lambda: driven.run.changes)
    assert driven.run.selector.alpha == 0.25
    at = driven.decisions
    time.sleep(0.1)
    assert driven.decisions <= at + 2000
    driven.control.stop()
    driven.join()
    assert driven.control.stopped


@pytest.mark.parametrize("paused", [False, True])
def test_stop_delivers_the_last_row(paused):
    driven = Driven(new_run("1 h", points=1), Control(paused=paused))
    if paused:
        driven.control.step(7)
        driven.wait(lambda: driven.decisions == 7)
    else:
        driven.wait(lambda: driven.decisions > 7)
    driven.control.stop()
    driven.join()
    assert driven.run.reason == "stopped"
    assert driven.lane.rows["decision"][-1] == driven.run.ledger.decisions[0]
    assert driven.lane.rows.tobytes() == driven.run.rows().tobytes()


def test_a_bad_change_is_refused_with_its_reason_and_the_run_goes_on():
    driven = Driven(new_run("1 h"), Control(paused=True))
    driven.control.adjust(alpha=7)
    driven.wait(lambda: driven.control.refusal)
    assert "alpha" in str(driven.control.refusal)
    driven.control.adjust(alpha=0.5)
    driven.wait(lambda: not driven.control.refusal)
    assert driven.run.selector.alpha == 0.5
    driven.control.stop()
    driven.join()


def test_a_paced_run_takes_its_time(pace_clock):
    run, began, chunks = new_run("5 J"), pace_clock.monotonic(), []
    drive_one(run, Control(duration=60.0), after=lambda: chunks.append(1))
    assert pace_clock.monotonic() - began == pytest.approx(60.0, rel=0.05)
    assert run.reason == "joules spent"
    assert len(chunks) > 5


def test_the_pace_can_change_on_the_way():
    control = Control(duration=3600.0)
    driven = Driven(new_run("5 J"), control)
    driven.wait(lambda: driven.decisions >= 1)
    control.duration = -1.0
    assert control.duration == 0.0
    driven.join()
    assert driven.run.done


def test_pace_does_not_change_the_run(pace_clock):
    fast, slow = new_run("3 J"), new_run("3 J")
    drive_one(fast)
    drive_one(slow, Control(duration=0.2))
    assert fast.result().digest == slow.result().digest


def test_a_slow_run_does_not_rush_to_catch_up(pace_clock):
    """A chunk that takes long moves the pace's origin: the budget is not spent at once."""
    run, control, seen = new_run("1 kJ"), Control(duration=30.0), []

    def after():
        seen.append(run.progress)
        if len(seen) == 3:
            pace_clock.sleep(2.0)  # 7 % of the pace
        if len(seen) > 6:
            control.stop()

    drive_one(run, control, after=after)
    assert max(np.diff(seen[:-1])) < 0.07  # the last one is the stop


# --- lanes ----------------------------------------------------------------------------------------


def rows_from(first, count):
    rows = np.zeros(count, row_dtype(1))
    rows["decision"] = np.arange(first, first + count)
    return rows


def test_a_lane_keeps_rows_in_order():
    lane = Lane(Trial())
    assert len(lane.rows) == 0
    for first, count in ((0, 3), (3, 0), (3, 2)):
        lane.add(rows_from(first, count))
    assert lane.rows["decision"].tolist() == [0, 1, 2, 3, 4]
    assert lane.epoch == 0


@given(st.lists(st.integers(0, 30), max_size=30), st.integers(2, 20))
def test_a_lane_is_bounded_and_keeps_the_first_and_the_newest_row(sizes, most):
    lane, sent = Lane(Trial(), most=most), 0
    for size in sizes:
        lane.add(rows_from(sent, size))
        sent += size
    if sent == 0:
        assert len(lane.rows) == 0
        return
    decisions = lane.rows["decision"].tolist()
    assert decisions == sorted(set(decisions))
    assert (decisions[0], decisions[-1]) == (0, sent - 1)
    assert len(decisions) <= most
    assert (lane.epoch > 0) == (len(decisions) < sent)


def test_several_lanes_spend_equal_joules_and_stay_themselves():
    trials = [new_run("3 J").trial, dataclasses.replace(new_run("3 J").trial, selector="uniform")]
    lanes = [Lane(trial, run=Run(trial, compiled=False)) for trial in trials]
    seen = [[0.0, 0.0]]
    drive(lanes, after=lambda: seen.append([lane.progress for lane in lanes]))
    for before, now in itertools.pairwise(seen):
        moved = [old != new for old, new in zip(before, now, strict=True)].index(True)
        assert before[moved] == min(before) or before[1 - moved] >= 1.0
    for lane, trial in zip(lanes, trials, strict=True):
        assert lane.run.result().digest == solve(trial, compiled=False).digest


def test_a_step_lets_the_others_catch_up():
    trial = new_run("3 J").trial
    lanes = [Lane(trial, run=Run(trial, compiled=False)) for _ in range(2)]
    control = Control(paused=True)
    control.step(4)
    taken = []

    def after():
        taken.append([int(lane.run.ledger.decisions[0]) for lane in lanes])
        control.stop()

    drive(lanes, control, after=after)
    assert taken[0][0] == 4
    assert lanes[1].progress >= lanes[0].progress > 0
