"""A window: time and cycles since the last settlement, and how the window closed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .clocks import Instant
from .rescale import Base, rescale_rows

Floats = NDArray[np.float64]

MIN_TICKS = 20
"""The least length of a window: its ends are blurred by a tick, so by 5 % at most."""
LONG_GAP_NS = 5_000_000
"""A gap between chunks from here on is a pause: its energy is booked to `away`."""
STUCK_NS = 1_000_000_000
"""A counter that has not moved for so long is stuck."""
SUSPEND_NS = 50_000_000
"""Suspended time between two readings from here on spoils a window."""


@dataclass(frozen=True)
class Settlement:
    """A window that has closed."""

    base: Base
    factors: Floats
    """Settled over provisional Joules, per operator; the last is the start's."""
    quality: str
    """measured (one operator alone), attributed (by cycles), or imputed: and why."""
    counter_uj: int
    """The counter's change that was settled; 0 where it was imputed."""
    accounts_uj: NDArray[np.int64]
    """The same by account; the sum is `counter_uj`, exactly."""

    def rescale(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the window's rows at their settled Joules."""
        return rescale_rows(rows, self.base, self.factors)


@dataclass
class Window:
    """Time and cycles since the last settlement."""

    start_uj: int | None
    base: Base
    used: Floats
    """Cycles of operators and start, on the CPU."""
    wall_ns: int = 0
    cpu_ns: int = 0
    cycles: int = 0
    still_ns: int = 0
    """Time since the counter last moved."""
    moved: bool = False
    pauses: int = 0
    faults: list[str] = field(default_factory=list)

    def pass_time(self, before: Instant, now: Instant) -> None:
        """Add the time between two moments."""
        wall = now.wall_ns - before.wall_ns
        self.wall_ns += wall
        self.still_ns += wall
        self.cpu_ns += cpu_ns_between(before, now)
        self.cycles += now.cycles - before.cycles

    def note_counter(self, before: int | None, now: int | None, least_ns: int) -> None:
        """Note whether the counter moved, stands, or is gone."""
        if now is None or self.start_uj is None:
            self.faults.append("vanished")
        elif now != before:
            self.moved, self.still_ns = True, 0
        elif self.still_ns > max(STUCK_NS, 2 * least_ns):
            self.faults.append("stuck")

    def accounts(self) -> Floats:
        """Return the cycles by account: operators, start, overhead, away."""
        share = min(self.cpu_ns / self.wall_ns, 1.0) if self.wall_ns else 1.0
        total = max(float(self.cycles), self.used.sum(), 1.0)
        running = total * share
        used = self.used
        # Interruptions were too short to be checked, or the machine has no clock for that.
        if used.sum() > running:
            used = used * (running / used.sum())
        return np.concatenate([used, [running - used.sum(), total - running]])

    @property
    def alone(self) -> bool:
        """Whether one operator ran and nothing else was charged."""
        return np.count_nonzero(self.used[:-1]) == 1 and self.used[-1] == 0


def cpu_ns_between(before: Instant, now: Instant) -> int:
    """Return the CPU time between two moments; another thread has another clock."""
    return now.cpu_ns - before.cpu_ns if now.thread == before.thread else 0
