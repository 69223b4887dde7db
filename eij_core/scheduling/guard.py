"""Who may use a scheduler: one process, and with a counter one thread."""

from __future__ import annotations

import os
import threading

from ..errors import RunError


class Guard:
    """The lock of a scheduler, and the refusals of processes and threads that must not use it."""

    def __init__(self, *, one_thread: bool) -> None:
        self._lock = threading.RLock()
        self._process, self._one_thread = os.getpid(), one_thread
        self._thread: int | None = None

    def turn(self) -> threading.RLock:
        """Return the lock, to be held while the scheduler is used; refuse a forked process."""
        if os.getpid() != self._process:
            raise RunError(
                "this scheduler came here by a fork, and both processes would spend its budget: "
                "ask and tell in the process that made it, with the Joules of its workers"
            )
        return self._lock

    def step_turn(self) -> threading.RLock:
        """Return the lock, as `turn` does, for a step; refuse another thread than the first."""
        if self._thread is None:
            self._thread = threading.get_ident()
        if self.is_elsewhere():
            raise RunError(
                "another thread has made the steps so far, and a counter's Joules go by the CPU "
                "time of one thread: ask and tell there, or use meter='told'"
            )
        return self.turn()

    def is_elsewhere(self) -> bool:
        """Tell whether steps belong to one thread, which is not this one."""
        return self._one_thread and self._thread not in (None, threading.get_ident())
