"""Energy of single applications in plain Python: slow operators, and users' own code.

>>> from eij_core.meters.counters.cputime import CpuTimeCounter
>>> meter = SettlingMeter(CpuTimeCounter(watts=10))
>>> with meter.charge("sort") as charge:
...     _ = sorted(range(1000))
>>> _ = meter.flush()
>>> charge.uj > 0
True
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ...errors import MeterUnavailable
from ...protocols import Counter, EnergyInfo
from .accounts import QUANTISATION
from .window import MIN_TICKS, STUCK_NS, apportion

OVERHEAD = "overhead"
RATE_STEP = 0.3
"""Weight of the latest window in the running mean of µJ per ns of CPU time."""


@dataclass
class Charge:
    """What one application cost: at first a guess, later what the counter says."""

    seq: int
    op: str
    wall_ns: int = 0
    cpu_ns: int = 0
    provisional_uj: int = 1
    settled_uj: int | None = None
    sd_uj: float = 0.0
    """Standard deviation by the counter's ticks."""
    window: int | None = None
    quality: str = "provisional"
    """provisional, attributed (by CPU time), measured (long enough by itself) or imputed."""

    @property
    def uj(self) -> int:
        """The best figure so far; at least 1."""
        return self.provisional_uj if self.settled_uj is None else self.settled_uj


class SettlingMeter:
    """Charges applications one by one, and settles them in windows with the counter.

    Windows open and close at readings where the counter has moved. A reading of 0 is never floored
    nor dropped: it means *below the resolution*, and stays in the open window.

    Parameters
    ----------
    counter : Counter
    min_ticks : int
        The least length of a window: 20 online, 50 for profiles.
    clock, cpu_clock : callable
        Wall and CPU time in nanoseconds.
    """

    def __init__(
        self,
        counter: Counter,
        min_ticks: int = MIN_TICKS,
        clock: Callable[[], int] = time.perf_counter_ns,
        cpu_clock: Callable[[], int] = time.thread_time_ns,
    ) -> None:
        self.counter = counter
        self._min_ns = min_ticks * counter.info.tick_ns
        self._clock, self._cpu_clock = clock, cpu_clock
        self._uj_per_ns = counter.watts / 1000.0
        self._totals: dict[str, int] = {OVERHEAD: 0}
        self._segments: list[tuple[Charge | None, int]] = []
        self._settled: list[Charge] = []
        self._seq = self._windows = 0
        self._breaks = counter.breaks
        energy, now = self._read(), clock()
        self._last: tuple[int | None, int, int] = (energy, now, cpu_clock())
        # Where the open window began: µJ and ns. A counter opens after it was seen to move.
        self._start = None if energy is None else (energy, now)

    @property
    def info(self) -> EnergyInfo:
        """Say how these Joules are known."""
        return self.counter.info

    def begin(self) -> None:
        """Start an application; what happened since the last one ended is overhead."""
        self._take(None)

    def end(self, op: str) -> Charge:
        """End the application; its charge is provisional until its window closes."""
        charge = self._new_charge(op)
        self._take(charge)
        return charge

    @contextlib.contextmanager
    def charge(self, op: str) -> Iterator[Charge]:
        """Charge a block of code: ``with meter.charge("sort") as charge: …``."""
        charge = self._new_charge(op)
        self.begin()
        try:
            yield charge
        finally:
            self._take(charge)

    def flush(self) -> list[Charge]:
        """Settle the open window as it is; return the charges settled since the last flush."""
        self._take(None)
        energy, now, _ = self._last
        if self._segments:
            if self._start is not None and energy is not None and energy > self._start[0]:
                self._settle(energy, now)
            else:
                self._impute()
        settled, self._settled = self._settled, []
        return settled

    def totals(self) -> dict[str, int]:
        """Return settled µJ by operator and `overhead`; imputed charges are outside.

        The sum is the counter's change over all settled windows, exactly.
        """
        return dict(self._totals)

    def _new_charge(self, op: str) -> Charge:
        self._seq += 1
        return Charge(self._seq - 1, op)

    def _read(self) -> int | None:
        try:
            return self.counter.read_uj()
        except MeterUnavailable:
            return None

    def _take(self, charge: Charge | None) -> None:
        energy, now, cpu = self._read(), self._clock(), self._cpu_clock()
        last_energy, last_now, last_cpu = self._last
        self._last = energy, now, cpu
        spent = max(cpu - last_cpu, 1)
        if charge is not None:
            charge.wall_ns, charge.cpu_ns = now - last_now, spent
            charge.provisional_uj = max(1, round(self._uj_per_ns * spent))
        self._segments.append((charge, spent))
        broken, self._breaks = self.counter.breaks != self._breaks, self.counter.breaks
        if broken or energy is None or last_energy is None:
            self._impute()
        elif self._start is None:
            self._impute()  # what comes before the next tick cannot be measured
            if energy != last_energy:
                self._start = energy, now
        elif energy != last_energy and now - self._start[1] >= self._min_ns:
            self._settle(energy, now)
        elif now - self._start[1] > max(STUCK_NS, 2 * self._min_ns) and energy == last_energy:
            self._impute()

    def _settle(self, energy: int, now: int) -> None:
        assert self._start is not None
        start_uj, start_ns = self._start
        total, elapsed = energy - start_uj, max(now - start_ns, 1)
        spent = np.array([part for _, part in self._segments], float)
        parts = apportion(total, spent)
        tick_uj = total / elapsed * self.counter.info.tick_ns
        for (charge, part), uj in zip(self._segments, parts.tolist(), strict=True):
            name = OVERHEAD if charge is None else charge.op
            self._totals[name] = self._totals.get(name, 0) + uj
            if charge is not None:
                charge.settled_uj, charge.window = max(uj, 1), self._windows
                charge.sd_uj = QUANTISATION * tick_uj * part / spent.sum()
                alone = charge.wall_ns >= self._min_ns
                charge.quality = "measured" if alone else "attributed"
                self._settled.append(charge)
        self._uj_per_ns += RATE_STEP * (total / spent.sum() - self._uj_per_ns)
        self._windows += 1
        self._segments.clear()
        self._start = energy, now

    def _impute(self) -> None:
        """Leave the open window's charges as they are, because the counter cannot confirm them."""
        for charge, _ in self._segments:
            if charge is not None:
                charge.quality = "imputed"
                self._settled.append(charge)
        self._segments.clear()
        self._start = None
