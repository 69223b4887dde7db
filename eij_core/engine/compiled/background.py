"""Compiling in a thread: one at a time, and left alone when the process ends."""

from __future__ import annotations

import atexit
import itertools
import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

_tasks: queue.PriorityQueue[tuple[bool, int, Callable[[], Any], Future[Any]]]
_tasks = queue.PriorityQueue()
_numbers = itertools.count()
_starting = threading.Lock()
_thread: threading.Thread | None = None


def compile_later(task: Callable[[], Any], *, urgent: bool = True) -> Future[Any]:
    """Have a task computed by the compiling thread; the process does not wait for it at its end.

    What is not urgent comes after all that is.
    """
    global _thread
    future: Future[Any] = Future()
    _tasks.put((not urgent, next(_numbers), task, future))
    with _starting:
        if _thread is None or not _thread.is_alive():  # the first task, or a forked process
            _thread = threading.Thread(target=_work, name="eij-compiler", daemon=True)
            _thread.start()
            atexit.register(_leave_llvm)
    return future


def _work() -> None:
    while True:
        *_, task, future = _tasks.get()
        try:
            future.set_result(task())
        except BaseException as error:
            future.set_exception(error)


def _leave_llvm() -> None:
    """Let nobody enter LLVM again: its destructors must not meet a thread that compiles."""
    if sys.modules.get("numba"):
        from .numba_internals import hold_llvm

        hold_llvm()
