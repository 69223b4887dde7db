"""What else runs on the host: a counter of a package includes it."""

from __future__ import annotations

from .clocks import Clocks, Instant
from .window import cpu_ns_between

EXCLUSIVE_NS = 500_000_000
"""How often /proc/stat is read, which is slow."""
SHARED_NS = 100_000_000
"""The same where energy is attributed by CPU time: every window needs a figure."""
FADING = 0.8
"""Weight of earlier readings in the share of CPU time, per reading."""
STOLEN, CONTENDED = 0.05, 0.05
"""Shares of CPU time that spoil a window (the hypervisor's) or are reported (other programs')."""


class Neighbours:
    """Reads at intervals how much CPU time other programs and virtual machines take.

    Parameters
    ----------
    clocks : Clocks
    shared : bool
        Whether energy is attributed by CPU time.
    """

    def __init__(self, clocks: Clocks, shared: bool) -> None:
        self._clocks, self._shared = clocks, shared
        self.every_ns = SHARED_NS if shared else EXCLUSIVE_NS
        self._own_ns = self._other_ns = 0
        self._recent = (1.0, 0.0)
        self.begin()

    def begin(self) -> None:
        """Count from here on: the compiler's work before a run is not that of other programs."""
        self._ticks, self._machine = self._clocks.host(), self._clocks.machine()
        self._cpu_ns = self._wall_ns = 0

    def pass_time(self, before: Instant, now: Instant) -> None:
        """Add the time between two moments of our own thread."""
        self._wall_ns += now.wall_ns - before.wall_ns
        self._cpu_ns += cpu_ns_between(before, now)

    def look(self) -> tuple[list[str], bool]:
        """Read, if it is time; return what spoils the window, and whether others were busy."""
        if self._wall_ns < self.every_ns:
            return [], False
        faults: list[str] = []
        contended = False
        before, after, own = self._ticks, self._clocks.host(), self._cpu_ns
        if before is not None and after is not None:
            other = max(after.busy - before.busy - own, 0)
            self._own_ns += own
            self._other_ns += other
            ours, theirs = (FADING * recent for recent in self._recent)
            self._recent = ours + own, theirs + other
            contended = other > CONTENDED * own
            if after.stolen - before.stolen > STOLEN * max(after.total - before.total, 1):
                faults.append("stolen")
        machine = self._clocks.machine()
        if machine != self._machine:
            # Restored from a snapshot, or moved to another host: another counter, other Watts.
            faults.append("moved to another machine")
        self._ticks, self._machine = after, machine
        self._cpu_ns = self._wall_ns = 0
        return faults, contended

    @property
    def contention(self) -> float:
        """CPU time of other programs over our own."""
        return self._other_ns / self._own_ns if self._own_ns else 0.0

    @property
    def own_share(self) -> float:
        """The share of the package's energy that is this run's."""
        if not self._shared:
            return 1.0
        ours, theirs = self._recent
        return ours / (ours + theirs)
