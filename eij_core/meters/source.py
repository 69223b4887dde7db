"""What a source of energy is, and the arithmetic that all hardware counters share.

A source is ordinary Python outside the loop. It gives cumulative whole µJ that never decrease: it
undoes the wraps of its counters, and where a counter was reset, or cannot be followed, it adds
nothing and counts a *break*, so that whoever settles energy can leave that stretch out.
"""

from __future__ import annotations

import itertools
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ..errors import MeterUnavailable
from .host import under_hypervisor
from .meter import Provenance, SourceInfo

__all__ = ["Domain", "Source", "Tally", "Unwrapped", "Watch", "alive", "package_info", "watch"]

MOST_WATTS = 1000.0
"""What a socket cannot exceed, where the kernel does not say."""
SLACK_UJ = 200_000
"""The counter moves in ticks, so a little more may show than the time since allows."""
LEAST_WATTS = 0.1
FIRST_WATTS = 10.0
"""A guess for one busy core where nothing is known; right within a factor of three."""
BAND = 0.10
"""How far RAPL is off, as far as is known."""
ALIVE_SECONDS = 0.05
PATIENCE = 10
"""How many times longer a counter is watched that has not moved yet."""


class Source(Protocol):
    """Cumulative energy: whole µJ, wrap-free, never decreasing."""

    info: SourceInfo
    watts: float
    """What it counted while one thread was busy, at opening: a first guess of the power."""

    @property
    def breaks(self) -> int:
        """How often the counter was reset or lost; what lies between is unknown."""

    def read_uj(self) -> int:
        """Return the sum over all domains; `MeterUnavailable` if it cannot be read."""

    def read_domains_uj(self) -> dict[str, int]:
        """Return the same by domain."""

    def close(self) -> None:
        """Give back what was opened."""


class Domain(NamedTuple):
    """One hardware counter."""

    name: str
    range_uj: int | None
    """Its largest value; None: unknown, so that a fall is a reset."""
    most_watts: float = MOST_WATTS


class Unwrapped:
    """One hardware counter made cumulative.

    Examples
    --------
    >>> counter = Unwrapped(Domain("package-0", range_uj=999_999), raw=999_990, now_ns=0)
    >>> counter.advance(10, now_ns=100_000)
    20
    """

    def __init__(self, domain: Domain, raw: int, now_ns: int) -> None:
        self.domain = domain
        self.raw, self._now_ns, self._moved_ns = raw, now_ns, now_ns
        self.total_uj = 0
        self.breaks = 0
        self._fall: tuple[int, int] | None = None
        """From where to where it fell last, until it is as high again."""

    def advance(self, raw: int, now_ns: int, began_ns: int | None = None) -> int:
        """Take a reading, over at `now_ns`; return the µJ since the first one.

        The value may be as old as `began_ns`: a reader that lost the CPU in between would else
        take what gathered meanwhile for more than is possible.
        """
        began_ns = now_ns if began_ns is None else began_ns
        step = raw - self.raw
        uj_per_ns = self.domain.most_watts / 1000.0
        range_uj = self.domain.range_uj
        ambiguous = False
        if range_uj is not None:
            step += (range_uj + 1) * (step < 0)
            # After so long that it may have wrapped twice, the difference means nothing.
            ambiguous = uj_per_ns * (now_ns - self._now_ns) > range_uj
        # A late tick brings what gathered since the one before, not since the last reading.
        possible = uj_per_ns * (now_ns - self._moved_ns) + SLACK_UJ
        if ambiguous or not 0 <= step <= possible:
            self.breaks += 1
            self._fall = (self.raw, raw) if raw < self.raw and not ambiguous else None
        elif self._fall is not None and raw >= self._fall[0]:
            high, low = self._fall
            self._fall = None
            if step >= high - low:  # it came back at once: what it climbs was counted before
                self.breaks += 1
                step = raw - high
            self.total_uj += step
        else:
            self.total_uj += step
        if raw != self.raw:
            self._moved_ns = began_ns
        self.raw, self._now_ns = raw, began_ns
        return self.total_uj


class Tally:
    """All counters of a source, read together by one thread at a time."""

    def __init__(
        self,
        read: Callable[[], Sequence[int]],
        domains: Sequence[Domain],
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._read, self._clock = read, clock
        self._lock = threading.Lock()
        now = clock()
        self.counters = [
            Unwrapped(domain, raw, now) for domain, raw in zip(domains, read(), strict=True)
        ]

    @property
    def breaks(self) -> int:
        """Resets and losses so far."""
        return sum(counter.breaks for counter in self.counters)

    def read_uj(self) -> int:
        """Return the µJ of all domains since the start."""
        with self._lock:
            began, raws, now = self._clock(), self._read(), self._clock()
            total = 0
            for counter, raw in zip(self.counters, raws, strict=True):
                total += counter.advance(raw, now, began)
            return total

    def read_domains_uj(self) -> dict[str, int]:
        """Return the µJ since the start, by domain."""
        self.read_uj()
        return {counter.domain.name: counter.total_uj for counter in self.counters}


class Watch(NamedTuple):
    """What a short look at a counter shows."""

    watts: float
    tick_ns: int
    read_cost_ns: int
    steps_uj: tuple[int, ...]


def watch(
    read_uj: Callable[[], int],
    seconds: float = ALIVE_SECONDS,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> Watch:
    """Read as fast as possible for a while: how often does the counter move, and how far?"""
    start = clock()
    first = last = read_uj()
    changes: list[int] = []
    steps: list[int] = []
    reads = 0
    now = clock()
    # On a busy machine somebody else may have had the CPU all the time: dead takes longer to tell.
    end = start + PATIENCE * seconds * 1e9
    while now < end:
        value = read_uj()
        now = clock()
        reads += 1
        if value != last:
            end = end if changes else now + seconds * 1e9
            changes.append(now)
            steps.append(value - last)
            last = value
    gaps = [b - a for a, b in itertools.pairwise(changes)]
    return Watch(
        watts=(last - first) * 1000.0 / (now - start),
        tick_ns=int(statistics.median(gaps)) if gaps else now - start,
        read_cost_ns=(now - start) // max(reads, 1),
        steps_uj=tuple(steps),
    )


def alive(name: str, seen: Watch, most_watts: float) -> None:
    """Refuse a counter that is there but does not count: present is not alive."""
    if not seen.steps_uj:
        raise MeterUnavailable(
            f"{name}: the counter does not move (dead; a virtual machine often answers RAPL with 0)"
        )
    if not LEAST_WATTS <= seen.watts <= most_watts:
        raise MeterUnavailable(
            f"{name}: the counter implies {seen.watts:.3g} W, "
            f"which is outside {LEAST_WATTS} to {most_watts:g} W"
        )


def package_info(
    name: str,
    domains: Sequence[str],
    seen: Watch | None,
    unit_uj: float = 0.0,
    notes: Sequence[str] = (),
) -> SourceInfo:
    """Say what a counter of whole packages counts, and how far to trust it.

    Parameters
    ----------
    seen : Watch, optional
        What was seen of it at opening; None: it was trusted, and ticks once a millisecond.
    """
    virtual = under_hypervisor()
    said = list(notes)
    # The whole platform's counter has DRAM in it.
    if not any("dram" in domain or domain == "psys" for domain in domains):
        said.append("no DRAM: do not compare with Joules that include it")
    if virtual:
        said.append("virtual machine: the hypervisor attributes these Joules to it")
    return SourceInfo(
        name,
        Provenance.ATTRIBUTED if virtual else Provenance.MEASURED,
        domains=tuple(domains),
        scope="package",
        tick_ns=seen.tick_ns if seen else 1_000_000,
        unit_uj=unit_uj,
        read_cost_ns=seen.read_cost_ns if seen else 0,
        rel_uncertainty=BAND,
        notes=tuple(said),
    )
