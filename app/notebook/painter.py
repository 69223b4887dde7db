"""The one thread that draws in a notebook.

Three kinds of threads meet in a kernel: cells run on the main one, messages of the browser may come
on a second one, runs compute on threads of their own. A document of Bokeh, and a message of several
parts to the browser, must be used by one thread at a time: a message that another one interrupts is
lost. All of them therefore hand their drawing to the painter, which works while a cell is busy too.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

log = logging.getLogger(__name__)

PERIOD = 0.15
"""Seconds between two looks at what is watched."""
REST = 1.0
"""Seconds without work after which the thread ends; the next task starts another."""


class Painter:
    """Does its tasks one after the other, and looks regularly at what it watches.

    Examples
    --------
    >>> Painter().do(lambda: 6 * 7).result(timeout=5)
    42
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        """Held while drawing; code that draws on another thread takes it too."""
        self._tasks: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._looks: set[weakref.WeakMethod[Callable[[], bool]]] = set()
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None

    def do(self, task: Callable[[], Any]) -> Future[Any]:
        """Do a task soon; the future has its result."""
        future: Future[Any] = Future()
        with self._news:
            self._tasks.append((task, future))
            self._wake()
        return future

    def watch(self, look: Callable[[], bool]) -> None:
        """Call a method of some object regularly, until it returns False or the object is gone."""
        with self._news:
            self._looks.add(weakref.WeakMethod(look))
            self._wake()

    @property
    def is_current(self) -> bool:
        """Whether the caller runs on the painter's thread, which must not wait for itself."""
        return threading.current_thread() is self._thread

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="eij-painter", daemon=True)
            self._thread.start()
        self._news.notify()

    def _work(self) -> None:
        since = time.monotonic()
        while True:
            with self._news:
                if not self._tasks:
                    self._news.wait(PERIOD)
                tasks = [self._tasks.popleft() for _ in range(len(self._tasks))]
                looks = tuple(self._looks)
                if tasks or looks:
                    since = time.monotonic()
                elif time.monotonic() - since > REST:
                    self._thread = None
                    return
            for task, future in tasks:
                self._perform(task, future)
            for look in looks:
                self._look(look)

    def _perform(self, task: Callable[[], Any], future: Future[Any]) -> None:
        with self.lock:
            try:
                future.set_result(task())
            except Exception as error:
                log.exception("a widget could not be brought up to date")
                future.set_exception(error)

    def _look(self, known: weakref.WeakMethod[Callable[[], bool]]) -> None:
        look, future = known(), Future[Any]()
        if look is not None:
            self._perform(look, future)
        if look is None or future.exception() or not future.result():
            with self._news:
                self._looks.discard(known)


painter = Painter()
"""The painter of this process."""
