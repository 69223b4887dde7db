"""Driving a run from another thread: pause, resume, step, stop, pace, the mailbox."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import Block, InputError, Run, Trial
from eij_core.control import Control, Mailbox, drive
from eij_core.records import row_dtype


def new_run(budget="20 J", **changes):
    return Run(
        Trial("nk:n=12,k=2", "ils:steps=5", "eij", "model", budget=budget, **changes),
        compiled=False,
    )


class Driven:
    """A run driven by its own thread, as the dashboard does."""

    def __init__(self, run, control):
        self.run, self.control, self.blocks, self.error = run, control, [], None
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self):
        try:
            drive(self.run, [self.blocks.append], self.control)
        except Exception as error:
            self.error = error

    @property
    def decisions(self):
        return sum(block.decisions for block in self.blocks)

    def wait(self, condition, seconds=20.0):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "waited in vain"
            time.sleep(0.002)

    def join(self):
        self.thread.join(20.0)
        assert not self.thread.is_alive()


def rows_of(blocks):
    return np.concatenate([block.rows for block in blocks])


def test_driven_to_the_end_every_row_arrives():
    run, blocks = new_run("2 J"), []
    drive(run, [blocks.append], Control())
    assert rows_of(blocks).tobytes() == run.rows()[1:].tobytes()
    assert blocks[-1].done


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
    assert driven.blocks[-1].done
    assert rows_of(driven.blocks)["decision"][-1] == driven.run.ledger.decisions[0]
    assert rows_of(driven.blocks).tobytes() == driven.run.rows()[1:].tobytes()


def test_a_bad_change_ends_the_drive_with_its_error():
    driven = Driven(new_run("1 h"), Control(paused=True))
    driven.control.adjust(alpha=7)
    driven.join()
    assert isinstance(driven.error, InputError)


def test_a_paced_run_takes_its_time():
    control = Control(duration=0.6)
    began = time.monotonic()
    driven = Driven(new_run("5 J"), control)
    driven.join()
    assert 0.4 < time.monotonic() - began < 10.0
    assert driven.run.reason == "joules spent"
    assert len(driven.blocks) > 5


def test_the_pace_can_change_on_the_way():
    control = Control(duration=3600.0)
    driven = Driven(new_run("5 J"), control)
    driven.wait(lambda: driven.decisions >= 1)
    control.duration = -1.0
    assert control.duration == 0.0
    driven.join()
    assert driven.run.done


def test_pace_does_not_change_the_run():
    fast, slow = new_run("3 J"), new_run("3 J")
    drive(fast, [], Control())
    drive(slow, [], Control(duration=0.2))
    assert fast.result().digest == slow.result().digest


def test_a_slow_run_does_not_rush_to_catch_up():
    """A sink that blocks longer than a second moves the clock's origin, not the run's pace."""
    control, blocks = Control(duration=30.0), []

    def sink(block):
        blocks.append(block)
        if len(blocks) == 3:
            time.sleep(1.2)
        if len(blocks) > 6:
            control.stop()

    drive(new_run("1 kJ"), [sink], control)
    assert len(blocks) >= 7


# --- the mailbox ----------------------------------------------------------------------------------


def block_of(first, count):
    rows = np.zeros(count, row_dtype(1))
    rows["decision"] = np.arange(first, first + count)
    return Block(rows, count, False)


def test_the_mailbox_hands_rows_over_once_and_in_order():
    box = Mailbox()
    assert box.take() is None
    box(block_of(0, 3))
    box(block_of(3, 0))
    box(block_of(3, 2))
    assert box.take()["decision"].tolist() == [0, 1, 2, 3, 4]
    assert box.take() is None
    assert box.epoch == 0


@given(st.lists(st.integers(0, 30), max_size=30), st.integers(1, 20))
def test_the_mailbox_is_bounded_and_keeps_the_newest_row(sizes, limit):
    box, sent = Mailbox(limit), 0
    for size in sizes:
        box(block_of(sent, size))
        sent += size
    taken = box.take()
    if sent == 0:
        assert taken is None
        return
    decisions = taken["decision"].tolist()
    assert decisions == sorted(set(decisions))
    assert decisions[-1] == sent - 1
    assert len(decisions) <= limit
    assert (box.epoch > 0) == (len(decisions) < sent)
