"""The clocks by which energy is divided; tests have virtual ones."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

from ...engine.cpu_clocks import cycle_count
from ..counters.host import Ticks, boot_and_cpu, busy_ticks

T = TypeVar("T")

ONE_MOMENT = 20_000
"""Cycles between two readings, at most, if the thread was not interrupted."""


class Instant(NamedTuple):
    """One moment on every clock."""

    wall_ns: int
    """Monotonic: a step of the calendar clock does not show."""
    cpu_ns: int
    """CPU time of `thread`."""
    cycles: int
    asleep_ns: int
    """Time that the machine was suspended since it booted."""
    thread: int


class Clocks(Protocol):
    """Where time comes from."""

    def now(self) -> Instant:
        """Read every clock."""

    def host(self) -> Ticks | None:
        """Return what all CPUs of the host did so far, if that can be known."""

    def machine(self) -> tuple[str, str]:
        """Return the boot and the CPU model that the counter belongs to."""

    def frequency(self) -> float:
        """Return cycles per nanosecond."""


class RealClocks:
    """The clocks of this machine."""

    def now(self) -> Instant:
        """Read every clock, at one moment: cycles and CPU time are compared with each other."""
        cycles, (wall, asleep, cpu) = at_one_moment(_read, cycle_count, 5, ONE_MOMENT)
        return Instant(wall, cpu, cycles, asleep, threading.get_ident())

    def host(self) -> Ticks | None:
        """Return what all CPUs of the host did so far, if that can be known."""
        return busy_ticks()

    def machine(self) -> tuple[str, str]:
        """Return the boot and the CPU model that the counter belongs to."""
        return boot_and_cpu()

    def frequency(self, nanoseconds: int = 2_000_000) -> float:
        """Return cycles per nanosecond, by a short spin."""
        cycle_count()  # compiles it
        wall, cycles = at_one_moment(cycle_count, time.monotonic_ns, 20)
        while time.monotonic_ns() - wall < nanoseconds:
            pass
        later, more = at_one_moment(cycle_count, time.monotonic_ns, 20)
        return (more - cycles) / (later - wall)


def at_one_moment(
    read: Callable[[], T], clock: Callable[[], int], tries: int, enough: int = 0
) -> tuple[int, T]:
    """Return a reading and its time: the quickest of several, as a thread may lose the CPU halfway.

    Parameters
    ----------
    read, clock : callable
    tries : int
        Readings at most.
    enough : int
        A reading that took less, on this clock, needs no other.
    """
    found: list[tuple[int, int, T]] = []
    while len(found) < tries and not (found and found[-1][0] < enough):
        before, value, after = clock(), read(), clock()
        found.append((after - before, (before + after) // 2, value))
    _, when, value = min(found, key=lambda each: each[0])
    return when, value


def _read() -> tuple[int, int, int]:
    """Return wall time, suspended time and CPU time; suspended time is known on Linux alone."""
    wall = time.monotonic_ns()
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    asleep = 0 if boot is None else time.clock_gettime_ns(boot) - wall
    return wall, asleep, time.thread_time_ns()
