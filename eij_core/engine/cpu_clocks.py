"""The cycle counter and the CPU time of a thread, for compiled code and for Python."""

from __future__ import annotations

import functools
import sys
import time
from typing import Any, NamedTuple

from .kernel import jit_is_off, kernel

# `clock_gettime` with 64-bit seconds; Windows has none.
HAS_THREAD_CLOCK = hasattr(time, "CLOCK_THREAD_CPUTIME_ID") and sys.maxsize > 2**32


def cycle_count() -> int:
    """Read the CPU's cycle counter, in Python too (with numba switched off: nanoseconds).

    One unit for compiled and interpreted applications, so that a chunk may mix them.
    """
    if jit_is_off():
        return time.perf_counter_ns()
    entry, struct = _clock()
    return int(entry(struct))


def thread_ns() -> int:
    """Return the CPU time of this thread."""
    return time.thread_time_ns()


class Clock(NamedTuple):
    """The record of the entry that reads the cycle counter, which needs none."""

    nothing: int


@kernel
def _read_clock(frame: Any) -> Any:  # pragma: no cover - compiled
    return cycle_count()


@functools.cache
def _clock() -> tuple[Any, Any]:
    from .compiled.entries import make_entry
    from .compiled.layout import pack

    return make_entry(_read_clock, Clock(0)), pack(Clock(0))
