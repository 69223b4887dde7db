"""The clocks that energy is split by; tests have virtual ones."""

from __future__ import annotations

import threading
import time
from typing import NamedTuple, Protocol

from .host import Ticks, busy_ticks
from .meter import cycle_count

__all__ = ["Clocks", "Instant", "RealClocks"]


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

    def frequency(self) -> float:
        """Return cycles per nanosecond."""


class RealClocks:
    """The clocks of this machine."""

    def now(self) -> Instant:
        """Read every clock."""
        wall = time.monotonic_ns()
        return Instant(
            wall, time.thread_time_ns(), cycle_count(), _asleep_ns(wall), threading.get_ident()
        )

    def host(self) -> Ticks | None:
        """Return what all CPUs of the host did so far, if that can be known."""
        return busy_ticks()

    def frequency(self, nanoseconds: int = 2_000_000) -> float:
        """Return cycles per nanosecond, by a short spin."""
        cycle_count()  # compiles it
        wall, cycles = _together()
        while time.monotonic_ns() - wall < nanoseconds:
            pass
        later, more = _together()
        return (more - cycles) / (later - wall)


def _together() -> tuple[int, int]:
    """Read wall time and cycles at one moment: again, if something came between the readings."""
    closest: tuple[int, int, int] | None = None
    for _ in range(20):
        before, cycles, after = time.monotonic_ns(), cycle_count(), time.monotonic_ns()
        if closest is None or after - before < closest[0]:
            closest = after - before, (before + after) // 2, cycles
    assert closest is not None
    return closest[1:]


def _asleep_ns(wall_ns: int) -> int:
    """Return how far the clock that counts suspended time is ahead of the monotonic one."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)  # Linux has it
    return 0 if boot is None else time.clock_gettime_ns(boot) - wall_ns
