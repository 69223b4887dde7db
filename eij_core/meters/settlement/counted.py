"""Settlement: what the counter says of a window, divided over the applications in it.

The compiled meter charges each application at once, cycles × rate: an operator takes a microsecond
and the counter ticks once a millisecond. Between chunks Python reads the counter. When it has moved
for at least 20 ticks the window closes: its energy is divided over the accounts (operators, the
start, overhead, away, others) by cycles × learnt power, and the window's rows and ledger are
rescaled to that. Nothing is floored or dropped: the accounts add up to the counter's change, to the
µJ. What cannot be trusted (reset, stuck, vanished, suspended, stolen, another machine) is not
settled: its charges stay as they are, *imputed*, so that the budget still falls. Their share is
reported, and what the counter showed meanwhile is `unsettled`.

The budget pays for the start and the applications. The energy of the loop around them is
`overhead`; time off the CPU, pauses included, is `away`; on a shared host the rest of the package
is `others`.

`window` gathers cycles and time and does the arithmetic, `powers` learns what each account draws,
`accounts` keeps the sums, `neighbours` watches the host.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ...engine.cpu_clocks import HAS_THREAD_CLOCK
from ...engine.rows import Ledger, Limits
from ...errors import MeterUnavailable
from ...protocols import Counter, EnergyInfo, Provenance
from ..counters.host_lock import HostLock
from ..meter import CompiledMeter, timed
from .accounts import QUANTISATION, Accounts
from .clocks import Clocks, Instant, RealClocks
from .neighbours import Neighbours
from .powers import BESIDES, Powers, Prior
from .window import LONG_GAP_NS, MIN_TICKS, SUSPEND_NS, Settlement, Window, rescale_ledger

Sharing = Literal["exclusive", "shared"]
Reading = tuple[Instant, int | None]
"""Clocks and counter at one moment; None: the counter cannot be read."""

LONG_NS = 100_000
"""Applications from here on are checked for time off the CPU, which takes 1 % of the time."""
ONE_MOMENT_NS = 50_000
"""Reading clocks and a quick counter takes longer than this only if it was interrupted."""
ATTEMPTS = 5
"""How often clocks and counter are read again after an interruption."""


class Counted:
    """The meter of a counter: settles the compiled loop's provisional charges (`CountedMeter`).

    Call `attach` once, `begin` before every chunk, `settle` after it, `finish` after the last one,
    `close` at the end. All from the thread that runs the chunks.

    Parameters
    ----------
    counter : Counter
    refusals : iterable of (name, reason)
        The counters that were tried before this one, for the record.
    sharing : {"exclusive", "shared"}
        Of a package-wide counter: take the host's lock and charge everything, or charge by the
        share of CPU time.
    prior : Prior, optional
        Powers from a profile.
    min_ticks : int
        The least length of a window.
    clocks : Clocks
    """

    def __init__(
        self,
        counter: Counter,
        *,
        refusals: Iterable[tuple[str, str]] = (),
        sharing: Sharing = "exclusive",
        prior: Prior | None = None,
        min_ticks: int = MIN_TICKS,
        clocks: Clocks | None = None,
    ) -> None:
        self.counter = counter
        self.refusals = tuple(refusals)
        self.sharing: Sharing = sharing
        self.clocks = clocks or RealClocks()
        self.prior, self.min_ticks = prior, min_ticks
        self._package = counter.info.scope == "package"
        try:
            lock = HostLock() if self._package and sharing == "exclusive" else None
        except MeterUnavailable:
            counter.close()
            raise
        self._release = weakref.finalize(self, _release, counter, lock)

    @property
    def info(self) -> EnergyInfo:
        """Say how these Joules are known, and which counters were refused."""
        info = self.counter.info
        notes = info.notes + tuple(f"{name} refused: {why}" for name, why in self.refusals)
        if not self._package:
            return replace(info, notes=notes)
        notes += (f"{self.sharing} use of the package",)
        provenance = Provenance.ATTRIBUTED if self.sharing == "shared" else info.provenance
        return replace(info, provenance=provenance, notes=notes)

    def attach(self, problem: str, algorithm: str, operators: tuple[Any, ...]) -> CompiledMeter:
        """Return the compiled meter for these operators, at a first guess of the power."""
        names = tuple(operator.name for operator in operators)
        frequency = self.clocks.frequency()
        rate = self.counter.watts / (1e9 * frequency)
        prior = self.prior or Prior.unknown(len(operators))
        if prior.ratio.size != len(operators) + BESIDES:
            raise ValueError(
                f"a prior of {prior.ratio.size} accounts for {len(operators)} operators"
            )
        if self.counter.info.scope == "thread":
            idle = self.counter.idle_watts / self.counter.watts
            prior = prior._replace(ratio=np.append(prior.ratio[:-1], idle))
        self.powers = Powers(prior, rate)
        self.accounts = Accounts(names, self.counter.info.rel_uncertainty)
        shared = self._package and self.sharing == "shared"
        self._neighbours = Neighbours(self.clocks, shared)
        self._min_ns = self.min_ticks * self.counter.info.tick_ns
        if shared:
            self._min_ns = max(self._min_ns, self._neighbours.every_ns)
        self._window: Window | None = None
        self._first_uj = self._booked_uj = 0
        self._last: Reading | None = None
        self._breaks = self.counter.breaks
        long = LONG_NS * frequency if HAS_THREAD_CLOCK else math.inf
        slow = 3 * self.counter.info.read_cost_ns
        self._one_moment = max(ONE_MOMENT_NS, slow) * frequency
        return timed(len(operators), rate, long, frequency)

    # --- around each chunk ---

    def begin(self, meter: CompiledMeter, ledger: Ledger) -> None:
        """Note clocks and counter before a chunk (the first time: before the start)."""
        now, energy = self._look()
        broken = self._broken()
        if self._window is None or self._last is None:
            if energy is not None:
                self._first_uj = self._booked_uj = energy
            self._neighbours.begin()
            self._window = Window.opened(energy, ledger)
        else:
            self._bridge(self._window, self._last, (now, energy), broken)
        meter.seen[:] = now.cycles, now.cpu_ns
        self._last = now, energy

    def settle(
        self, meter: CompiledMeter, ledger: Ledger, limits: Limits, *, final: bool = False
    ) -> Settlement | None:
        """Take a chunk into the window; close the window if the counter allows, or if it must.

        Returns
        -------
        Settlement or None
            None: the window is still open, and its rows must be held back. Else the ledger has
            been rescaled in place, and `rescale` brings all rows held back to their settled Joules.
        """
        if self._window is None or self._last is None:
            raise RuntimeError("settle without begin")
        window, (before, energy_before) = self._window, self._last
        now, energy = self._look()
        window.used += meter.cycles
        self.accounts.interrupted += int(meter.cut.sum())
        meter.cycles[:] = 0
        meter.cut[:] = 0
        window.pass_time(before, now)
        self._neighbours.pass_time(before, now)
        if now.asleep_ns - before.asleep_ns > SUSPEND_NS:
            window.faults.append("suspended")
        if self._broken():
            window.faults.append("reset")
        window.note_counter(energy_before, energy, self._min_ns)
        if self._package:
            faults, contended = self._neighbours.look()
            window.faults += faults
            self.accounts.quality["contended"] += contended
        self._last = now, energy
        if window.faults:
            return self._impute(window, meter, ledger, energy)
        assert energy is not None
        if final and not window.moved:
            window.faults.append("no tick")
            return self._impute(window, meter, ledger, energy)
        # A window closes at a change, or a standing counter would look like little energy.
        if final or (energy != energy_before and window.wall_ns >= self._min_ns):
            return self._close(window, meter, ledger, limits, energy)
        return None

    def finish(self, meter: CompiledMeter, ledger: Ledger, limits: Limits) -> Settlement:
        """Close the last window as it is; without a tick in it, its charges are imputed."""
        settlement = self.settle(meter, ledger, limits, final=True)
        assert settlement is not None
        return settlement

    def close(self) -> None:
        """Close the counter and let the next measured run in."""
        self._release()

    # --- windows ---

    def _bridge(self, window: Window, last: Reading, reading: Reading, broken: bool) -> None:
        """Book what happened between two chunks."""
        (before, energy_before), (now, energy) = last, reading
        self._neighbours.pass_time(before, now)
        asleep = now.asleep_ns - before.asleep_ns > SUSPEND_NS
        if window.start_uj is None or energy is None or energy_before is None:
            # The settlement after this chunk says "vanished".
            window.start_uj = None
        elif now.wall_ns - before.wall_ns > LONG_GAP_NS or broken or asleep:
            # A pause: what it drew is known by itself, to a tick, and is not the window's.
            window.start_uj += energy - energy_before
            self._booked_uj += energy - energy_before
            self.accounts.book_pause(energy - energy_before)
            self.accounts.quality["reset in a pause" if broken else "pause"] += 1
            window.pauses += 1
        else:
            window.pass_time(before, now)

    def _close(
        self, window: Window, meter: CompiledMeter, ledger: Ledger, limits: Limits, energy: int
    ) -> Settlement:
        assert window.start_uj is not None
        counted = energy - window.start_uj
        own = round(counted * self._neighbours.own_share)
        tick_uj = own / max(window.wall_ns, 1) * self.counter.info.tick_ns
        cycles = window.accounts()
        if own > 0:
            self.powers.learn(cycles, own * 1e-6, tick_uj * 1e-6, window.pauses)
        shares = self.powers.shares(cycles) * own
        missed = own - float(self.powers.rates @ cycles) * 1e6
        by_ticks = QUANTISATION * tick_uj * math.sqrt(1 + window.pauses)
        accounts = self.accounts.book(counted, shares, math.hypot(by_ticks, missed))
        charged = meter.rate * window.used * 1e6
        settled = shares[:-2]
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where((charged > 0) & (settled > 0), settled / charged, 1.0)
        rescale_ledger(ledger, window.base, factors, limits.by_joules)
        quality = "measured" if window.alone else "attributed"
        self.accounts.quality[quality] += 1
        settlement = Settlement(window.base, factors, quality, counted, accounts)
        meter.rate[:] = self.powers.rates[:-2]
        self._booked_uj = energy
        self._window = Window.opened(energy, ledger)
        return settlement

    def _impute(
        self, window: Window, meter: CompiledMeter, ledger: Ledger, energy: int | None
    ) -> Settlement:
        why = window.faults[0]
        self.accounts.imputed += meter.rate * window.used
        if window.used.any():
            self.accounts.quality[f"imputed: {why}"] += 1
        nothing = np.zeros(self.accounts.settled_uj.size, np.int64)
        unchanged = np.ones(window.used.size)
        settlement = Settlement(window.base, unchanged, f"imputed: {why}", 0, nothing)
        if energy is not None:
            self.accounts.unsettled_uj += energy - self._booked_uj
            self._booked_uj = energy
        self.powers.forget_lag()
        self._window = Window.opened(energy, ledger)
        if why == "stuck" and window.still_ns > 0:
            # When it moves again it brings the energy of all the time it stood: not to be used.
            self._window.faults.append(why)
        return settlement

    # --- the counter ---

    def _look(self) -> Reading:
        """Read clocks and counter at one moment: again, if the thread was interrupted."""
        for _ in range(ATTEMPTS):
            now = self.clocks.now()
            try:
                energy: int | None = self.counter.read_uj()
            except MeterUnavailable:
                energy = None
            if self.clocks.now().cycles - now.cycles < self._one_moment:
                break
        return now, energy

    def _broken(self) -> bool:
        broken = self.counter.breaks != self._breaks
        self._breaks = self.counter.breaks
        return broken

    # --- the outcome ---

    def summary(self) -> dict[str, Any]:
        """Return accounts, quality and uncertainty as plain data, for results and records."""
        info = self.info
        return {
            "counter": info.name,
            "provenance": str(info.provenance),
            "domains": list(info.domains),
            "notes": list(info.notes),
            "sharing": self.sharing,
            "contention": self._neighbours.contention,
            "refusals": [list(refusal) for refusal in self.refusals],
            "readings_uj": [
                self.counter.origin_uj + at for at in (self._first_uj, self._booked_uj)
            ],
            **self.accounts.summary(),
        }


def _release(counter: Counter, lock: HostLock | None) -> None:
    counter.close()
    if lock is not None:
        lock.release()
