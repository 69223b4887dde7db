"""Settlement: what the counter says of a window, divided over the applications in it.

The compiled meter charges each application at once, cycles × rate: an operator takes a microsecond
and the counter ticks once a millisecond. Between chunks Python reads the counter. When it has moved
for at least 20 ticks the window closes: its energy is divided over the accounts (operators, the
start, overhead, away, others) by cycles × learnt power, and the window's rows and ledger are
rescaled to that. Nothing is floored or dropped: the accounts add up to the counter's change, to the
µJ. What cannot be trusted (reset, stuck, vanished, suspended, stolen) is not settled; its charges
stay as they are, *imputed*, so that the budget still falls, and their share is told.

The budget pays for the start and the applications. The scheduler's own energy is `overhead`; time
off the CPU, pauses included, is `away`; on a shared host the rest of the package is `others`.
"""

from __future__ import annotations

import math
import weakref
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import MeterUnavailable
from ..records import BINS, LOWEST, PER_OCTAVE, Ledger, Limits, bin_edges
from .clocks import Clocks, Instant, RealClocks
from .hostlock import HostLock
from .meter import HAS_THREAD_CLOCK, Meter, Provenance, SourceInfo, timed
from .powers import Powers, Prior
from .source import Source

__all__ = [
    "Base",
    "Counted",
    "Settlement",
    "Sharing",
    "Uncertainty",
    "apportion",
    "rescale_ledger",
    "rescale_rows",
]

Floats = NDArray[np.float64]
Sharing = Literal["exclusive", "shared"]

MIN_TICKS = 20
QUANTISATION = math.sqrt(1.0 / 6.0)
"""A window opens and closes at a random phase of a tick: the sd of the two together, in ticks."""
LONG_NS = 100_000
"""Applications from here on are checked for time off the CPU; it costs 1 % of so long a one."""
LONG_GAP_NS = 5_000_000
"""A pause between chunks; what the package draws in it is nobody's."""
STUCK_NS = 1_000_000_000
SUSPEND_NS = 50_000_000
HOST_NS = 500_000_000
"""How often to ask the kernel what the other CPUs do: /proc/stat is slow to read."""
SHARED_NS = 100_000_000
"""The same where energy is attributed by CPU time: every window needs a figure."""
SHARED_FADING = 0.8
STOLEN, CONTENDED = 0.05, 0.05
NOT_OPERATORS = ("start", "overhead", "away", "others")


# --- pure arithmetic ------------------------------------------------------------------------------


class Base(NamedTuple):
    """What had been spent when a window opened."""

    joules: float
    operator_joules: Floats
    histogram: NDArray[np.int64]

    @classmethod
    def of(cls, ledger: Ledger) -> Base:
        """Copy what a rescaling needs from a ledger."""
        return cls(float(ledger.joules[0]), ledger.operator_joules.copy(), ledger.histogram.copy())


def apportion(total: int, parts: Floats) -> NDArray[np.int64]:
    """Divide whole µJ in proportion to parts, exactly (largest remainders, ties to the first).

    Examples
    --------
    >>> apportion(10, np.array([1.0, 1.0, 1.0])).tolist()
    [4, 3, 3]
    """
    parts = np.maximum(parts, 0.0)
    scale = parts.sum()
    if scale <= 0.0:
        parts, scale = np.ones(parts.size), float(parts.size)
    exact = parts / scale * total
    whole = np.floor(exact).astype(np.int64)
    missing = int(total - whole.sum())
    order = np.argsort(whole - exact, kind="stable")
    # Rounding can make the parts exceed the total, by very little of a very large one.
    whole[order[:missing] if missing >= 0 else order[missing:]] += np.sign(missing)
    return whole


def rescale_rows(rows: NDArray[Any], base: Base, factors: Floats) -> NDArray[Any]:
    """Return a window's rows at their settled Joules.

    Parameters
    ----------
    rows : array of `records.row_dtype`
        The rows written since the window opened.
    base : Base
        The ledger when the window opened.
    factors : array
        Settled over provisional Joules, per operator; the last is the start's.

    Returns
    -------
    array
        A copy with `joules`, `operator_joules` and `spent` settled. `spent` never falls, within the
        window and from the one before. `beliefs` stay as the selector held them.
    """
    rows = rows.copy()
    moved = rows["operator_joules"] - base.operator_joules
    start = rows["spent"] - base.joules - moved.sum(axis=1)
    rows["joules"] *= factors[rows["operator"]]  # the start's operator is -1, its factor the last
    rows["operator_joules"] = base.operator_joules + moved * factors[:-1]
    spent = base.joules + moved @ factors[:-1] + start * factors[-1]
    rows["spent"] = np.maximum.accumulate(np.maximum(spent, base.joules))
    return rows


def rescale_ledger(ledger: Ledger, base: Base, factors: Floats, by_joules: bool = True) -> None:
    """Bring a ledger, in place, to the settled Joules of the window that opened at `base`.

    The next grid point of `ledger.mark` keeps its distance, if the axis is Joules.
    """
    before = float(ledger.joules[0])
    moved = ledger.operator_joules - base.operator_joules
    start = before - base.joules - moved.sum()
    ledger.operator_joules[:] = base.operator_joules + moved * factors[:-1]
    spent = base.joules + float(moved @ factors[:-1]) + start * float(factors[-1])
    ledger.joules[0] = max(spent, base.joules)
    if by_joules:
        ledger.mark[0] += ledger.joules[0] - before
    for o, factor in enumerate(factors[:-1]):
        if abs(factor - 1.0) > SAME_BIN:
            _shift(ledger.histogram[o], base.histogram[o], float(factor))


# From its centre, a bin reaches further than this share: no application would leave it.
SAME_BIN = 0.0075
_CENTRES = np.sqrt(bin_edges()[:-1] * bin_edges()[1:])


def _shift(counts: NDArray[np.int64], base: NDArray[np.int64], factor: float) -> None:
    """Move the applications of a window to the bins of their settled Joules."""
    new = counts - base
    places = np.flatnonzero(new)
    fraction, exponent = np.frexp(_CENTRES[places] * factor)
    within = ((fraction - 0.5) * (2 * PER_OCTAVE)).astype(np.int64)
    target = np.clip((exponent - LOWEST) * PER_OCTAVE + within, 0, BINS - 1)
    moved = new[places]
    counts[:] = base
    np.add.at(counts, target, moved)


# --- results --------------------------------------------------------------------------------------


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


class Uncertainty(NamedTuple):
    """How well an energy is known; the two parts are never mixed."""

    joules: float
    quantisation: float
    """Standard deviation by ticks and by the division over accounts."""
    low: float
    high: float
    """The systematic band of the source."""


@dataclass
class _Window:
    """What has gathered since the counter was last settled."""

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
    faults: list[str] = field(default_factory=list)


# --- the meter ------------------------------------------------------------------------------------


class Counted:
    """A real source behind the compiled loop's meter.

    Call `attach` once, `begin` before every chunk, `settle` after it, `finish` after the last one,
    `close` at the end. All from the thread that runs the chunks.

    Parameters
    ----------
    source : Source
    refusals : iterable of (name, reason)
        The sources that were tried before this one, for the record.
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
        source: Source,
        *,
        refusals: Iterable[tuple[str, str]] = (),
        sharing: Sharing = "exclusive",
        prior: Prior | None = None,
        min_ticks: int = MIN_TICKS,
        clocks: Clocks | None = None,
    ) -> None:
        self.source = source
        self.refusals = tuple(refusals)
        self.sharing: Sharing = sharing
        self.clocks = clocks or RealClocks()
        self.prior, self.min_ticks = prior, min_ticks
        self._package = source.info.scope == "package"
        try:
            lock = HostLock() if self._package and sharing == "exclusive" else None
        except MeterUnavailable:
            source.close()
            raise
        self._release = weakref.finalize(self, _release, source, lock)
        shared = self._package and sharing == "shared"
        self._host_ns = SHARED_NS if shared else HOST_NS
        self.names: tuple[str, ...] = ()
        self.quality: Counter[str] = Counter()

    @property
    def info(self) -> SourceInfo:
        """Say what these Joules are, and which sources were refused."""
        info = self.source.info
        notes = info.notes + tuple(f"{name} refused: {why}" for name, why in self.refusals)
        if info.scope != "package":
            return replace(info, notes=notes)
        notes += (f"{self.sharing} use of the package",)
        provenance = Provenance.ATTRIBUTED if self.sharing == "shared" else info.provenance
        return replace(info, provenance=provenance, notes=notes)

    def attach(self, problem: str, algorithm: str, operators: tuple[Any, ...]) -> Meter:
        """Return the compiled meter for these operators, at a first guess of the power."""
        self.names = (*(operator.name for operator in operators), *NOT_OPERATORS)
        frequency = self.clocks.frequency()
        rate = self.source.watts / (1e9 * frequency)
        accounts = len(operators) + 3  # others are no account of ours
        prior = self.prior or Prior.unknown(accounts)
        if prior.ratio.size != accounts:
            raise ValueError(f"the prior has {prior.ratio.size} accounts, the run {accounts}")
        if self.source.info.scope == "thread":
            idle = getattr(self.source, "idle_watts", 0.0) / self.source.watts
            prior = prior._replace(ratio=np.append(prior.ratio[:-1], idle))
        self.powers = Powers(prior, rate)
        self._min_ns = self.min_ticks * self.source.info.tick_ns
        if self._host_ns == SHARED_NS:
            self._min_ns = max(self._min_ns, SHARED_NS)
        self.accounts_uj = np.zeros(accounts + 1, np.int64)
        self.imputed = np.zeros(len(operators) + 1)
        self.quality = Counter()
        self._carry = np.zeros(accounts)
        self._variance = np.zeros(accounts)
        self._window: _Window | None = None
        self._breaks = self.source.breaks
        self._own_ns = self._other_ns = 0
        self._recent = (1.0, 0.0)
        self._host, self._host_cpu_ns, self._host_wall_ns = self.clocks.host(), 0, 0
        self._last: tuple[Instant, int | None] | None = None
        self._cut = np.zeros(len(operators) + 1, np.int64)
        long = LONG_NS * frequency if HAS_THREAD_CLOCK else math.inf
        return timed(len(operators), rate, long, frequency)

    # --- around each chunk ---

    def begin(self, meter: Meter, ledger: Ledger) -> None:
        """Note clocks and counter before a chunk (the first time: before the start)."""
        now, energy = self.clocks.now(), self._read()
        broken = self._broken()
        if self._window is None or self._last is None:
            self._open(energy, ledger)
        else:
            self._bridge(self._window, *self._last, now, energy, broken)
        meter.seen[:] = now.cycles, now.cpu_ns
        self._last = now, energy

    def settle(self, meter: Meter, ledger: Ledger, limits: Limits) -> Settlement | None:
        """Take a chunk into the window; close the window if the counter allows.

        Returns
        -------
        Settlement or None
            None: the window is still open, and its rows must be held back. Else the ledger has
            been rescaled in place, and `rescale` brings all rows held back to their settled Joules.
        """
        return self._settle(meter, ledger, limits, final=False)

    def finish(self, meter: Meter, ledger: Ledger, limits: Limits) -> Settlement:
        """Close the last window as it is; without a tick in it, its charges are imputed."""
        settlement = self._settle(meter, ledger, limits, final=True)
        assert settlement is not None
        return settlement

    def close(self) -> None:
        """Close the source and let the next measured run in."""
        self._release()

    def _settle(
        self, meter: Meter, ledger: Ledger, limits: Limits, final: bool
    ) -> Settlement | None:
        if self._window is None or self._last is None:
            raise RuntimeError("settle without begin")
        window, (before, energy_before) = self._window, self._last
        now, energy = self.clocks.now(), self._read()
        window.used += meter.cycles
        self._cut += meter.cut
        meter.cycles[:] = 0
        meter.cut[:] = 0
        self._pass(window, before, now)
        if now.asleep_ns - before.asleep_ns > SUSPEND_NS:
            window.faults.append("suspended")
        if self._broken():
            window.faults.append("reset")
        if energy is None or window.start_uj is None:
            window.faults.append("vanished")
        elif energy != energy_before:
            window.moved, window.still_ns = True, 0
        elif window.still_ns > max(STUCK_NS, 2 * self._min_ns):
            window.faults.append("stuck")
        self._watch_host(window)
        self._last = now, energy
        if window.faults:
            return self._impute(meter, ledger, energy, window.faults[0])
        assert energy is not None
        if final and not window.moved:
            return self._impute(meter, ledger, energy, "no tick")
        # A window closes at a change, or a standing counter would look like little energy.
        if final or (energy != energy_before and window.wall_ns >= self._min_ns):
            return self._close(meter, ledger, limits, energy)
        return None

    # --- windows ---

    def _open(self, energy: int | None, ledger: Ledger) -> _Window:
        used = np.zeros(ledger.operator_joules.size + 1)
        self._window = window = _Window(energy, Base.of(ledger), used)
        return window

    def _bridge(
        self,
        window: _Window,
        before: Instant,
        energy_before: int | None,
        now: Instant,
        energy: int | None,
        broken: bool,
    ) -> None:
        """Book what happened between two chunks."""
        gap_ns = now.wall_ns - before.wall_ns
        asleep = now.asleep_ns - before.asleep_ns > SUSPEND_NS
        if window.start_uj is None or energy is None or energy_before is None:
            # The settlement after this chunk says "vanished".
            window.start_uj = None
        elif gap_ns > LONG_GAP_NS or broken or asleep:
            # A pause: what it drew is known by itself, to a tick, and is not the window's.
            window.start_uj += energy - energy_before
            self.accounts_uj[-2] += energy - energy_before
            self.quality["reset in a pause" if broken else "pause"] += 1
            self._host_cpu_ns += _cpu_ns(before, now)
            self._host_wall_ns += gap_ns
        else:
            self._pass(window, before, now)

    def _pass(self, window: _Window, before: Instant, now: Instant) -> None:
        """Add the time between two moments to a window."""
        wall, cpu = now.wall_ns - before.wall_ns, _cpu_ns(before, now)
        window.wall_ns += wall
        window.still_ns += wall
        window.cpu_ns += cpu
        window.cycles += now.cycles - before.cycles
        self._host_wall_ns += wall
        self._host_cpu_ns += cpu

    def _close(self, meter: Meter, ledger: Ledger, limits: Limits, energy: int) -> Settlement:
        window = self._window
        assert window is not None and window.start_uj is not None
        counted = energy - window.start_uj
        own = round(counted * self._own_share())
        cycles = self._cycles(window)
        if own > 0:
            self.powers.learn(cycles, own * 1e-6)
        shares = self.powers.shares(cycles) * own
        whole = apportion(own, shares + self._carry)
        self._carry += shares - whole
        accounts = np.append(whole, counted - own)
        self.accounts_uj += accounts
        tick_uj = own / max(window.wall_ns, 1) * self.source.info.tick_ns
        missed = own - float(self.powers.rates @ cycles) * 1e6
        part = shares / max(own, 1)
        self._variance += (part * QUANTISATION * tick_uj) ** 2 + (part * missed) ** 2
        charged = meter.rate * window.used * 1e6
        settled = shares[:-2]
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where((charged > 0) & (settled > 0), settled / charged, 1.0)
        rescale_ledger(ledger, window.base, factors, limits.by_joules)
        alone = np.count_nonzero(window.used[:-1]) == 1 and window.used[-1] == 0
        quality = "measured" if alone else "attributed"
        self.quality[quality] += 1
        settlement = Settlement(window.base, factors, quality, counted, accounts)
        meter.rate[:] = self.powers.rates[:-2]
        self._open(energy, ledger)
        return settlement

    def _impute(self, meter: Meter, ledger: Ledger, energy: int | None, why: str) -> Settlement:
        window = self._window
        assert window is not None
        self.imputed += meter.rate * window.used
        size = window.used.size
        if window.used.any():
            self.quality[f"imputed: {why}"] += 1
        settlement = Settlement(
            window.base,
            np.ones(size),
            f"imputed: {why}",
            0,
            np.zeros(self.accounts_uj.size, np.int64),
        )
        following = self._open(energy, ledger)
        if why == "stuck" and window.still_ns > 0:
            # When it moves again it brings the energy of all the time it stood: not to be used.
            following.faults.append(why)
        return settlement

    def _cycles(self, window: _Window) -> Floats:
        """Return the window's cycles by account: operators, start, overhead, away."""
        share = min(window.cpu_ns / window.wall_ns, 1.0) if window.wall_ns else 1.0
        total = max(float(window.cycles), window.used.sum(), 1.0)
        running = total * share
        used = window.used
        # Interruptions too short to be looked at, or a machine without a clock to look at.
        if used.sum() > running:
            used = used * (running / used.sum())
        return np.concatenate([used, [running - used.sum(), total - running]])

    # --- the counter and the host ---

    def _read(self) -> int | None:
        try:
            return self.source.read_uj()
        except MeterUnavailable:
            return None

    def _broken(self) -> bool:
        broken = self.source.breaks != self._breaks
        self._breaks = self.source.breaks
        return broken

    def _watch_host(self, window: _Window) -> None:
        """Now and then, see what other programs and other virtual machines took."""
        if not self._package or self._host_wall_ns < self._host_ns:
            return
        before, after, own = self._host, self.clocks.host(), self._host_cpu_ns
        if before is not None and after is not None:
            other = max(after.busy - before.busy - own, 0)
            self._own_ns += own
            self._other_ns += other
            ours, theirs = (SHARED_FADING * recent for recent in self._recent)
            self._recent = ours + own, theirs + other
            if other > CONTENDED * own:
                self.quality["contended"] += 1
            if after.stolen - before.stolen > STOLEN * max(after.total - before.total, 1):
                window.faults.append("stolen")
        self._host, self._host_cpu_ns, self._host_wall_ns = after, 0, 0

    def _own_share(self) -> float:
        """Return the share of the package's energy that is this run's."""
        if self.sharing == "exclusive" or not self._package:
            return 1.0
        ours, theirs = self._recent
        return ours / (ours + theirs)

    # --- what to tell ---

    @property
    def contention(self) -> float:
        """CPU time of other programs over our own; above 5 % the Joules are not ours alone."""
        return self._other_ns / self._own_ns if self._own_ns else 0.0

    def joules(self) -> dict[str, float]:
        """Return the settled Joules of every account."""
        return dict(zip(self.names, (self.accounts_uj * 1e-6).tolist(), strict=True))

    def uncertainty(self, *accounts: str) -> Uncertainty:
        """Return how well the energy of some accounts is known (default: all but others)."""
        names = accounts or self.names[:-1]
        places = [self.names.index(name) for name in names]
        joules = float(self.accounts_uj[places].sum()) * 1e-6
        sd = math.sqrt(float(self._variance[places].sum())) * 1e-6
        factor = 1.0 + self.source.info.rel_uncertainty
        return Uncertainty(joules, sd, joules / factor, joules * factor)

    def summary(self) -> dict[str, Any]:
        """Return all of this as plain data, for results and records."""
        settled = float(self.accounts_uj[: -len(NOT_OPERATORS) + 1].sum()) * 1e-6
        imputed = float(self.imputed.sum())
        info = self.info
        known = self.uncertainty()
        return {
            "source": info.name,
            "provenance": str(info.provenance),
            "domains": list(info.domains),
            "notes": list(info.notes),
            "sharing": self.sharing,
            "joules": self.joules(),
            "imputed_joules": imputed,
            "imputed_share": imputed / (settled + imputed) if imputed else 0.0,
            "quality": dict(self.quality),
            "interrupted": int(self._cut.sum()),
            "contention": self.contention,
            "quantisation_sd": known.quantisation,
            "band": [known.low, known.high],
            "refusals": [list(refusal) for refusal in self.refusals],
        }


def _release(source: Source, lock: HostLock | None) -> None:
    source.close()
    if lock is not None:
        lock.release()


def _cpu_ns(before: Instant, now: Instant) -> int:
    """Return the CPU time between two moments; another thread has another clock."""
    return now.cpu_ns - before.cpu_ns if now.thread == before.thread else 0
