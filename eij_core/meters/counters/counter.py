"""What all counters of hardware share: registers made cumulative, watched at opening.

See `protocols.Counter` for what a counter is. The registry of counters is here too.
"""

from __future__ import annotations

import itertools
import os
import statistics
import struct
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from ...errors import EijError, MeterUnavailable
from ...protocols import Counter, EnergyInfo, Provenance
from ...registry import Registry
from .host import under_hypervisor

counters: Registry[Counter] = Registry("counter")
"""The counters that this package can open. `rank` orders them; `automatic` ones serve `auto`."""

MOST_WATTS = 1000.0
"""The most a socket can draw, where the kernel does not give its rated power."""
SLACK_UJ = 200_000
"""The counter moves in ticks, so a little more may show than the time since allows."""
LEAST_WATTS = 0.1
"""A package that draws less is not counted properly."""
FIRST_WATTS = 10.0
"""A guess for one busy core where nothing is known; right within a factor of three."""
BAND = 0.10
"""The relative systematic error of RAPL."""
ALIVE_SECONDS = 0.05
"""How long a counter is watched at opening."""
PATIENCE = 10
"""How many times longer a counter is watched that has not moved yet."""


class Domain(NamedTuple):
    """What one register counts."""

    name: str
    range_uj: int | None
    """Its largest value; None: unknown, so that a fall is a reset."""
    most_watts: float = MOST_WATTS


class Register:
    """One hardware register made cumulative.

    Examples
    --------
    >>> register = Register(Domain("package-0", range_uj=999_999), raw=999_990, now_ns=0)
    >>> register.advance(10, now_ns=100_000)
    20
    """

    def __init__(self, domain: Domain, raw: int, now_ns: int) -> None:
        self.domain = domain
        self.origin = self.raw = raw
        self._now_ns = self._moved_ns = now_ns
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


class CumulativeCounter:
    """All registers of a counter, read together by one thread at a time."""

    def __init__(
        self,
        read: Callable[[], Sequence[int]],
        domains: Sequence[Domain],
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._read, self._clock = read, clock
        self._lock = threading.Lock()
        now = clock()
        self.registers = [
            Register(domain, raw, now) for domain, raw in zip(domains, read(), strict=True)
        ]

    @property
    def breaks(self) -> int:
        """Resets and losses so far."""
        return sum(register.breaks for register in self.registers)

    @property
    def origin_uj(self) -> int:
        """What all registers showed at the start."""
        return sum(register.origin for register in self.registers)

    def read_uj(self) -> int:
        """Return the µJ of all domains since the start."""
        with self._lock:
            began, raws, now = self._clock(), self._read(), self._clock()
            pairs = zip(self.registers, raws, strict=True)
            return sum(register.advance(raw, now, began) for register, raw in pairs)


class Watch(NamedTuple):
    """What a short look at a counter shows."""

    watts: float
    tick_ns: int
    read_cost_ns: int
    steps_uj: tuple[int, ...]


TRUSTED = Watch(FIRST_WATTS, tick_ns=1_000_000, read_cost_ns=0, steps_uj=())
"""What is assumed of a counter that is not watched."""


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
    # On a busy machine another program may have the CPU all the time: wait before saying "dead".
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
    """Raise if a counter does not move, or moves as no package can."""
    if not seen.steps_uj:
        raise MeterUnavailable(
            f"{name}: the counter does not move (dead; a virtual machine often answers RAPL with 0)"
        )
    if not LEAST_WATTS <= seen.watts <= most_watts:
        raise MeterUnavailable(
            f"{name}: the counter implies {seen.watts:.3g} W, "
            f"which is outside {LEAST_WATTS} to {most_watts:g} W"
        )


class HardwareCounter(CumulativeCounter):
    """A counter of whole packages: what powercap, perf and pyRAPL share.

    A subclass opens its registers in `_open`, with descriptors in `_files`, and reads them in
    `_values`.

    Parameters
    ----------
    alive_seconds : float
        How long to watch whether the counter moves; 0 trusts it.
    folder : path, optional
        Where the registers are found.
    """

    name: ClassVar[str]
    rank: ClassVar[int]
    automatic: ClassVar[bool] = True
    scope: ClassVar = "package"
    idle_watts = 0.0

    def __init__(
        self, alive_seconds: float = ALIVE_SECONDS, folder: str | os.PathLike[str] = ""
    ) -> None:
        self._folder = Path(folder)
        self._files: list[int] = []
        self._notes: list[str] = []
        self._unit_uj = 0.0  # unknown
        seen = TRUSTED
        try:
            domains = self._open()
            super().__init__(self._raws, domains)
            if alive_seconds > 0:
                seen = watch(self.read_uj, alive_seconds)
                most_watts = sum(domain.most_watts for domain in domains)
                alive(f"{self.name} {folder}".rstrip(), seen, most_watts)
                self._use_what_was_seen()
        except BaseException as error:
            self.close()
            if isinstance(error, OSError | ValueError) and not isinstance(error, EijError):
                raise MeterUnavailable(f"{self.name}: {error}") from None
            raise
        self.watts = seen.watts
        self.info = self._describe(seen)

    def _open(self) -> list[Domain]:
        raise NotImplementedError

    def _values(self) -> list[int]:
        raise NotImplementedError

    def _use_what_was_seen(self) -> None:
        """Draw conclusions from the registers' moves while the counter was watched."""

    def _raws(self) -> list[int]:
        try:
            values = self._values()
        except (OSError, ValueError, struct.error) as error:
            raise MeterUnavailable(f"{self.name}: a register cannot be read: {error}") from None
        if not values:
            raise MeterUnavailable(f"{self.name}: the counter is closed")
        return values

    def _describe(self, seen: Watch) -> EnergyInfo:
        """Say what is counted, and how far to trust it."""
        virtual = under_hypervisor()
        domains = tuple(register.domain.name for register in self.registers)
        # The whole platform's counter has DRAM in it.
        if not any("dram" in domain or domain == "psys" for domain in domains):
            self._notes.append("no DRAM: do not compare with Joules that include it")
        if virtual:
            self._notes.append("virtual machine: the hypervisor attributes these Joules to it")
        return EnergyInfo(
            self.name,
            Provenance.ATTRIBUTED if virtual else Provenance.MEASURED,
            domains=domains,
            scope="package",
            tick_ns=seen.tick_ns,
            unit_uj=self._unit_uj,
            read_cost_ns=seen.read_cost_ns,
            rel_uncertainty=BAND,
            notes=tuple(self._notes),
        )

    def close(self) -> None:
        """Close what `_open` opened."""
        while self._files:
            os.close(self._files.pop())
