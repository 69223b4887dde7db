"""The cycle counter and the CPU time of a thread, for compiled code and for Python."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from numba.extending import overload

from .kernel import compile_entry, jit_is_off
from .numba_internals import clock_gettime, read_cycle_counter

__all__ = ["HAS_THREAD_CLOCK", "cycle_count", "thread_ns"]

# `clock_gettime` with 64-bit seconds; Windows has none.
HAS_THREAD_CLOCK = hasattr(time, "CLOCK_THREAD_CPUTIME_ID") and sys.maxsize > 2**32


def cycle_count() -> int:
    """Read the CPU's cycle counter, in Python too (with numba switched off: nanoseconds)."""
    return time.perf_counter_ns() if jit_is_off() else int(_count())


@overload(cycle_count)
def _cycle_count() -> Any:
    return lambda: read_cycle_counter()


def thread_ns() -> int:
    """Return the CPU time of this thread."""
    return time.thread_time_ns()


@overload(thread_ns)
def _thread_ns() -> Any:
    if not HAS_THREAD_CLOCK:
        return lambda: 0
    clock = time.CLOCK_THREAD_CPUTIME_ID

    def read() -> Any:  # pragma: no cover - compiled
        moment = np.empty(2, np.int64)
        clock_gettime(clock, moment.ctypes)
        return moment[0] * 1_000_000_000 + moment[1]

    return read


def _count() -> Any:  # pragma: no cover - compiled
    return cycle_count()


# One unit for compiled and interpreted applications, so that a chunk may mix them.
_count = compile_entry(_count, "cycles")
