"""A generator driven in the background: its items, its end, its errors."""

import threading
import time

from app.background.jobs import GeneratorJob
from app.background.turns import Turns
from eij_core import InputError


def steps(number, closed=None):
    try:
        yield from range(number)
    finally:
        if closed is not None:
            closed.set()


def test_items_come_in_order_and_once():
    work = GeneratorJob(steps(1000), "me", turns=Turns(1)).start()
    taken = []
    end = time.monotonic() + 30
    while not work.over:
        assert time.monotonic() < end
        taken += work.take()
    taken += work.take()
    assert taken == list(range(1000))
    assert work.stage == "finished" and work.take() == [] and work.place == 0


def test_stopping_closes_the_generator():
    closed, begun = threading.Event(), threading.Event()

    def endless():
        try:
            while True:
                begun.set()
                yield 1
        finally:
            closed.set()

    work = GeneratorJob(endless(), "me", turns=Turns(1)).start()
    assert begun.wait(30)
    work.stop()
    work.join(30)
    assert closed.is_set() and work.stage == "stopped" and work.take()


def test_an_error_that_can_be_mended_is_told():
    def fails():
        yield 1
        raise InputError("trials", 0, "at least 1")

    work = GeneratorJob(fails(), "me", turns=Turns(1)).start()
    work.join(30)
    assert work.stage == "failed" and "trials" in work.error and work.take() == [1]


def test_an_unexpected_error_goes_to_the_log(caplog):
    def fails():
        raise ValueError("secret /etc/passwd")
        yield

    work = GeneratorJob(fails(), "me", turns=Turns(1)).start()
    work.join(30)
    assert "passwd" not in work.error and "log" in work.error
    number = work.error.split()[-1]
    assert number in caplog.text and "passwd" in caplog.text


def test_work_that_measures_takes_every_slot():
    turns = Turns(2)
    inside, leave = threading.Event(), threading.Event()

    def alone():
        inside.set()
        leave.wait(30)
        yield 1

    work = GeneratorJob(alone(), "me", alone=True, turns=turns).start()
    assert inside.wait(30)
    other = GeneratorJob(steps(3), "you", turns=turns).start()
    other.join(0.2)
    assert other.stage == "waiting"
    leave.set()
    other.join(30)
    work.join(30)
    assert (work.stage, other.stage) == ("finished", "finished")
