"""The clocks that energy is split by; tests have virtual ones."""

from __future__ import annotations

import threading
import time
from typing import NamedTuple, Protocol

from .host import Ticks, boot_and_cpu, busy_ticks
from .meter import cycle_count

__all__ = ["Clocks", "Instant", "RealClocks"]


ONE_MOMENT = 20_000
"""Cycles between two readings that nothing came between."""


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
        closest: Instant | None = None
        least = 0
        for _ in range(5):
            wall, before = time.monotonic_ns(), cycle_count()
            cpu, after = time.thread_time_ns(), cycle_count()
            if closest is None or after - before < least:
                cycles, least = (before + after) // 2, after - before
                closest = Instant(wall, cpu, cycles, _asleep_ns(wall), threading.get_ident())
            if least < ONE_MOMENT:
                break
        assert closest is not None
        return closest

    def host(self) -> Ticks | None:
        """Return what all CPUs of the host did so far, if that can be known."""
        return busy_ticks()

    def machine(self) -> tuple[str, str]:
        """Return the boot and the CPU model that the counter belongs to."""
        return boot_and_cpu()

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
