"""Work of a page in the background: a generator, driven by one thread that takes turns."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import closing, nullcontext
from itertools import islice
from typing import Any, Generic, Self, TypeVar

from app.failing import told
from app.pool import Pool, seats
from app.pool import pool as shared_pool

__all__ = ["Work"]

Item = TypeVar("Item")


class Work(Generic[Item]):
    """Drives a generator, and keeps what it yields until the page takes it.

    Between two items it gives its turn on the processor back, so an item should not take long. Its
    thread is not nice, unlike a run's: it holds the GIL most of the time, and who holds it without
    getting the processor makes the page wait. Stopping closes the generator, whose `finally` tidies
    up.

    Parameters
    ----------
    steps : callable
        Returns the generator; called in the thread.
    owner : hashable
        Whose turns it takes.
    alone : bool
        Whether it needs the processor to itself from beginning to end, as measuring does.

    Examples
    --------
    >>> work = Work(lambda: iter("abc"), "me").start()
    >>> work.join()
    >>> work.take(), work.stage
    (['a', 'b', 'c'], 'finished')
    """

    def __init__(
        self,
        steps: Callable[[], Iterator[Item]],
        owner: Hashable,
        alone: bool = False,
        pool: Pool = shared_pool,
    ) -> None:
        self.stage = "waiting"
        """waiting, working, finished, stopped or failed."""
        self.error = ""
        self.owner = owner
        self._steps, self._alone, self._pool = steps, alone, pool
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._items: list[Item] = []
        self._thread = threading.Thread(target=self._work, name="eij-work", daemon=True)

    def start(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """End after the present item; returns at once."""
        self._stopped.set()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end."""
        self._thread.join(timeout)

    @property
    def over(self) -> bool:
        """Whether nothing more will come, but for what waits to be taken."""
        return self.stage in ("finished", "stopped", "failed")

    @property
    def place(self) -> int:
        """The place in the queue for the processor; 0: no wait to speak of."""
        return 0 if self.over else seats.place(self.owner) or self._pool.place(self.owner)

    def take(self) -> list[Item]:
        """Return what came since the last time."""
        with self._lock:
            taken, self._items = self._items, []
        return taken

    def _turn(self) -> Any:
        return self._pool.turn(self.owner)

    def _work(self) -> None:
        try:
            user = getattr(self.owner, "user", self.owner)
            with seats.taken(self.owner, user, self._stopped.is_set):
                self._wait_and_drive()
        except Exception as error:
            self.error = told(error)
            self.stage = "failed"

    def _wait_and_drive(self) -> None:
        with self._pool.turn(self.owner, alone=True) if self._alone else nullcontext():
            self._drive(nullcontext if self._alone else self._turn)

    def _drive(self, turn: Callable[[], Any]) -> None:
        with closing(_as_generator(self._steps())) as steps:
            while not self._stopped.is_set():
                with turn():
                    self.stage = "working"
                    items = list(islice(steps, 1))
                if not items:
                    self.stage = "finished"
                    return
                with self._lock:
                    self._items += items
        self.stage = "stopped"


def _as_generator(steps: Iterator[Any]) -> Any:
    yield from steps
