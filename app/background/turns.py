"""Turns on the processor: a few slots, shared fairly between sessions.

A run holds a slot only while it computes a chunk of about 40 ms. A paused or slowly played run
holds none, so many visitors can watch runs on two cores. Sessions take turns; within a session
turns go in order of arrival. A run on a measured meter takes every slot from its first decision to
its last, because the counter reads the whole processor.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from itertools import zip_longest

from eij_core import EijError

from ..server.limits import QUEUE, limits


class QueueFull(EijError):
    """The queue for the processor is full."""


class Ticket:
    """A place in the queue."""

    def __init__(self, owner: Hashable, slots: int) -> None:
        self.owner, self.slots = owner, slots
        self.since = time.monotonic()
        self.called = threading.Event()


class Turns:
    """A fair lock with several slots.

    Examples
    --------
    >>> turns = Turns(slots=1)
    >>> with turns.turn("me"):
    ...     turns.place("me")
    0
    """

    def __init__(self, slots: int, queue: int = QUEUE) -> None:
        self.slots, self.queue = slots, queue
        self._free = slots
        self._lock = threading.Lock()
        self._waiting: OrderedDict[Hashable, deque[Ticket]] = OrderedDict()

    @contextmanager
    def turn(self, owner: Hashable, alone: bool = False) -> Iterator[None]:
        """Wait for a slot (for all of them, if `alone`), and hold it for the block."""
        ticket = self._queue_up(owner, self.slots if alone else 1)
        ticket.called.wait()
        try:
            yield
        finally:
            with self._lock:
                self._free += ticket.slots
                self._call()

    def place(self, owner: Hashable, patience: float = 0.3) -> int:
        """Return the owner's place in the queue, from 1; 0 if it does not wait.

        A wait below `patience` seconds is the ordinary change of turns and counts as none.
        """
        now = time.monotonic()
        with self._lock:
            # Round by round: each session's first, then each session's second, and so on.
            rounds = zip_longest(*self._waiting.values())
            order = [ticket for each in rounds for ticket in each if ticket is not None]
        for place, ticket in enumerate(order, start=1):
            if ticket.owner == owner:
                return place if now - ticket.since > patience else 0
        return 0

    def _queue_up(self, owner: Hashable, slots: int) -> Ticket:
        ticket = Ticket(owner, slots)
        with self._lock:
            if sum(map(len, self._waiting.values())) >= self.queue:
                raise QueueFull(f"{self.queue} runs are waiting already; please try again later")
            self._waiting.setdefault(owner, deque()).append(ticket)
            self._call()
        return ticket

    def _call(self) -> None:
        """Hand free slots to the next in the queue; the caller holds the lock."""
        while self._waiting:
            owner, tickets = next(iter(self._waiting.items()))
            if tickets[0].slots > self._free:
                return
            ticket = tickets.popleft()
            self._waiting.pop(owner)
            if tickets:
                self._waiting[owner] = tickets  # at the end: the others' turn first
            self._free -= ticket.slots
            ticket.called.set()


class Seats:
    """Limits the runs that a page and a user have at once; further ones wait in order.

    Examples
    --------
    >>> seats = Seats(of_page=1, of_user=2)
    >>> with seats.taken("page", "user", lambda: False):
    ...     seats.place("page")
    0
    """

    def __init__(self, of_page: float, of_user: float) -> None:
        self.of_page, self.of_user = of_page, of_user
        self._changed = threading.Condition()
        self._sitting: list[tuple[Hashable, Hashable]] = []
        self._waiting: list[tuple[Hashable, Hashable]] = []

    @contextmanager
    def taken(self, page: Hashable, user: Hashable, stopped: Callable[[], bool]) -> Iterator[bool]:
        """Wait for a seat and hold it for the block; yield False if stopped while waiting."""
        ours = (page, user)
        with self._changed:
            self._waiting.append(ours)
            while not stopped() and not self._may_sit(ours):
                self._changed.wait(0.1)
            self._waiting.remove(ours)
            self._sitting.append(ours)
        try:
            yield not stopped()
        finally:
            with self._changed:
                self._sitting.remove(ours)
                self._changed.notify_all()

    def place(self, page: Hashable) -> int:
        """Return the place of the page's next run among those of its user, from 1; 0: no wait."""
        with self._changed:
            queue = list(self._waiting)
        for index, (seat, user) in enumerate(queue):
            if seat == page:
                return 1 + sum(other == user for _, other in queue[:index])
        return 0

    def _may_sit(self, ours: tuple[Hashable, Hashable]) -> bool:
        page, user = ours
        ahead = self._waiting[: self._waiting.index(ours)]
        if any(other == user for _, other in ahead):
            return False
        pages = sum(seat == page for seat, _ in self._sitting)
        users = sum(other == user for _, other in self._sitting)
        return pages < self.of_page and users < self.of_user


def lower_priority() -> None:
    """Give the calling thread the lowest priority, so that the page is served first (Linux)."""
    if hasattr(os, "setpriority") and os.uname().sysname == "Linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)


shared_turns = Turns(int(os.environ.get("EIJ_SLOTS", 0)) or max(1, (os.cpu_count() or 2) - 1))
"""The turns of this process."""

shared_seats = Seats(limits().runs_of_page, limits().runs_of_user)
"""The seats of this process."""
