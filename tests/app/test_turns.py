"""F15: turns are fair between sessions, whatever one of them asks for."""

import threading
import time

import pytest

from app.background.turns import QueueFull, Seats, Turns


class Crowd:
    """Threads that wait for a turn while a slot is held, then note the order."""

    def __init__(self, turns):
        self.turns, self.order, self.threads = turns, [], []

    def join_queue(self, owner, alone=False):
        queued = sum(map(len, self.turns._waiting.values()))

        def wait():
            with self.turns.turn(owner, alone):
                self.order.append(owner)

        thread = threading.Thread(target=wait, daemon=True)
        self.threads.append(thread)
        thread.start()
        while sum(map(len, self.turns._waiting.values())) == queued:
            time.sleep(0.001)

    def finish(self):
        for thread in self.threads:
            thread.join(10)
        return self.order


def test_sessions_take_turns():
    turns = Turns(slots=1)
    crowd = Crowd(turns)
    with turns.turn("other"):
        for owner in ["greedy"] * 4 + ["modest"] * 2:
            crowd.join_queue(owner)
    assert crowd.finish() == ["greedy", "modest", "greedy", "modest", "greedy", "greedy"]


def test_the_place_in_the_queue():
    turns = Turns(slots=1)
    crowd = Crowd(turns)
    with turns.turn("other"):
        for owner in ("a", "a", "b"):
            crowd.join_queue(owner)
        assert turns.place("a", patience=0) == 1
        assert turns.place("b", patience=0) == 2
        assert turns.place("b") == 0  # the ordinary change of turns is not worth a word
        assert turns.place("nobody", patience=0) == 0
    crowd.finish()
    assert turns.place("a", patience=0) == 0


def test_no_more_at_once_than_slots():
    turns = Turns(slots=2)
    running, most, lock = 0, 0, threading.Lock()

    def work(owner):
        nonlocal running, most
        for _ in range(20):
            with turns.turn(owner):
                with lock:
                    running += 1
                    most = max(most, running)
                time.sleep(0.0005)
                with lock:
                    running -= 1

    threads = [threading.Thread(target=work, args=(owner,)) for owner in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert most == 2


def test_alone_means_alone():
    turns = Turns(slots=3)
    crowd = Crowd(turns)
    with turns.turn("first"):
        crowd.join_queue("measured", alone=True)
        crowd.join_queue("later")
        assert crowd.order == []  # whoever comes later does not overtake
    assert crowd.finish() == ["measured", "later"]


def test_a_failure_gives_the_slot_back():
    turns = Turns(slots=1)
    with pytest.raises(ZeroDivisionError), turns.turn("a"):
        raise ZeroDivisionError
    with turns.turn("a"):
        pass


def test_the_queue_has_an_end():
    turns = Turns(slots=1, queue=2)
    crowd = Crowd(turns)
    with turns.turn("other"):
        crowd.join_queue("a")
        crowd.join_queue("b")
        with pytest.raises(QueueFull), turns.turn("c"):
            pass
    crowd.finish()


class Guests:
    """Threads that want a seat, and keep it until they are told to go."""

    def __init__(self, seats):
        self.seats, self.seated, self.threads = seats, [], []
        self.leave, self.stopped = threading.Event(), threading.Event()

    def come(self, page, user):
        def sit():
            with self.seats.taken(page, user, self.stopped.is_set) as seated:
                if seated:
                    self.seated.append((page, user))
                    self.leave.wait(30)

        thread = threading.Thread(target=sit, daemon=True)
        self.threads.append(thread)
        thread.start()
        before = len(self.seated) + len(self.seats._waiting)
        until(lambda: len(self.seated) + len(self.seats._waiting) >= len(self.threads), before)

    def go(self):
        self.leave.set()
        for thread in self.threads:
            thread.join(30)


def until(condition, told=None):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, told
        time.sleep(0.005)


def test_a_page_and_a_user_have_so_many_runs_at_once():
    guests = Guests(Seats(of_page=2, of_user=4))
    for page in ("a", "a", "b", "b"):
        guests.come(page, "greedy")
    for page in ("c", "d"):
        guests.come(page, "greedy")
    guests.come("e", "modest")
    assert guests.seated == [*[("a", "greedy")] * 2, *[("b", "greedy")] * 2, ("e", "modest")]
    assert [guests.seats.place(page) for page in "cde"] == [1, 2, 0]
    guests.go()
    assert len(guests.seated) == 7


def test_a_third_run_of_a_page_waits():
    guests = Guests(Seats(of_page=2, of_user=4))
    for _ in range(3):
        guests.come("a", "a")
    assert len(guests.seated) == 2
    guests.go()
    assert len(guests.seated) == 3


def test_who_stops_waiting_never_sits():
    guests = Guests(Seats(of_page=1, of_user=1))
    guests.come("a", "me")
    guests.come("b", "me")
    guests.stopped.set()
    until(lambda: not guests.seats._waiting)
    guests.go()
    assert guests.seated == [("a", "me")]
