"""Which counters are alive on this host, the best one, and why the others were refused."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ...errors import MeterPermissionError, MeterUnavailable
from ...protocols import Counter, EnergyInfo, Provenance
from ...registry import Spec, meters
from ..settlement.counted import Counted
from . import cputime, perf, powercap, pyrapl  # noqa: F401  the counters register themselves
from .calibrate import keep_busy
from .counter import counters
from .host import under_hypervisor
from .host_lock import MeterBusy
from .powercap import permission_text

log = logging.getLogger(__name__)

Openers = Mapping[str, Callable[[], Counter]]


def openers(*, automatic: bool = False) -> dict[str, Any]:
    """Return the classes of counters by name, the best first; optionally those of `auto` alone."""
    kinds: dict[str, Any] = dict(counters)
    ranked = sorted(kinds.items(), key=lambda item: item[1].rank)
    return {name: kind for name, kind in ranked if kind.automatic or not automatic}


def _tried(known: Openers) -> Iterator[tuple[str, Counter | MeterUnavailable]]:
    """Open counters one after another; yield each, or why it cannot be opened."""
    for name, opener in known.items():
        try:
            found: Counter | MeterUnavailable = opener()
        except MeterUnavailable as error:
            found = error
        yield name, found


class Refusal(NamedTuple):
    """A counter that cannot be used here."""

    name: str
    reason: str


def detect(known: Openers | None = None) -> tuple[Counter, list[Refusal]]:
    """Open the best counter that is alive: powercap, else perf, else the estimate.

    Returns
    -------
    counter : Counter
    refusals : list of Refusal
        The better ones, each with the reason. Nothing is downgraded silently.
    """
    failures: list[tuple[str, MeterUnavailable]] = []
    best = openers(automatic=True)
    for name, found in _tried({name: (known or best)[name] for name in best}):
        if not isinstance(found, MeterUnavailable):
            return found, [Refusal(each, _reason(error, found)) for each, error in failures]
        failures.append((name, found))
    raise MeterUnavailable("; ".join(f"{name}: {error}" for name, error in failures))


def _reason(error: MeterUnavailable, instead: Counter) -> str:
    """Return the refusal's text; where an estimate takes its place, the text says so."""
    estimated = instead.info.provenance == Provenance.ESTIMATED
    if isinstance(error, MeterPermissionError) and estimated and error.path.endswith("energy_uj"):
        factor = 1.0 + instead.info.rel_uncertainty
        return permission_text(error.path, (instead.watts, factor))
    return str(error)


@meters.add("auto")
def auto() -> Counted:
    """The best counter that is alive here: powercap, perf, or an estimate; says which and why."""
    counter, refusals = detect()
    try:
        meter = Counted(counter, refusals=refusals)
    except MeterBusy as error:
        counter, refusals = detect()
        refusals.append(Refusal(f"exclusive {counter.info.name}", str(error)))
        meter = Counted(counter, refusals=refusals, sharing="shared")
    for refusal in refusals:
        _say(f"meter {refusal.name}: {refusal.reason}")
    return meter


def foreseen_info(meter: Any) -> EnergyInfo:
    """Say what a trial's meter will give, without opening a counter that it names.

    A counter's domains, tick and unit are known only once it is open, and so is whether it is
    alive. `auto` has to open counters to know its choice; the choice is kept for the process.

    Parameters
    ----------
    meter : Spec or SimulatedMeter or CountedMeter
        As `Trial.meter` holds it.
    """
    if isinstance(meter, Spec) and meter.name == "auto":
        return _auto_info()
    kind = openers().get(meter.name) if isinstance(meter, Spec) else None
    if kind is None or kind.scope != "package":
        info: EnergyInfo = (meters.make(meter) if isinstance(meter, Spec) else meter).info
        return info
    shared = meter.parameters.get("sharing") == "shared"
    provenance = Provenance.ATTRIBUTED if shared or under_hypervisor() else Provenance.MEASURED
    return EnergyInfo(meter.name, provenance, scope="package")


@functools.cache
def _auto_info() -> EnergyInfo:
    counter, refusals = detect()
    counter.close()
    notes = tuple(f"{name} refused: {reason}" for name, reason in refusals)
    return replace(counter.info, notes=counter.info.notes + notes)


@functools.cache
def _say(text: str) -> None:
    """Warn once a process, not once a trial."""
    log.warning("%s", text)


# --- eij meters -----------------------------------------------------------------------------------


class CounterRow(NamedTuple):
    """One line of the table of counters."""

    name: str
    alive: bool
    provenance: str
    domains: str
    tick_ms: float
    unit_uj: float
    read_us: float
    band: str
    """The systematic error, as a factor."""
    notes: str
    """What to know; for a dead one, why and what to do."""


def counter_table(known: Openers | None = None) -> list[CounterRow]:
    """Try every counter of this host; say what is alive, and why the rest is not."""
    rows = []
    for name, found in _tried(known or openers()):
        if isinstance(found, MeterUnavailable):
            rows.append(CounterRow(name, False, "", "", 0.0, 0.0, 0.0, "", str(found)))
            continue
        info = found.info
        found.close()
        rows.append(
            CounterRow(
                name,
                True,
                str(info.provenance),
                " + ".join(info.domains),
                info.tick_ns / 1e6,
                info.unit_uj,
                info.read_cost_ns / 1e3,
                f"×/÷ {1.0 + info.rel_uncertainty:g}",
                "; ".join(info.notes),
            )
        )
    return rows


class Checked(NamedTuple):
    """What one counter said of the known load."""

    name: str
    joules: float
    watts: float
    ratio: float
    """To the first live counter."""
    breaks: int
    agrees: bool | None
    """Whether it is within both bands of the first one; None: it is the first one."""


def check_counters(
    seconds: float = 2.0,
    known: Openers | None = None,
    load: Callable[[float], None] = keep_busy,
) -> list[Checked]:
    """Measure one known load, a busy thread, with every live counter at once; compare them."""
    live: dict[str, Counter] = {}
    for name, found in _tried(known or openers()):
        if isinstance(found, MeterUnavailable):
            log.info("%s is not checked: %s", name, found)
        else:
            live[name] = found
    before = [counter.read_uj() for counter in live.values()]
    started = time.monotonic()
    load(seconds)
    elapsed = time.monotonic() - started
    after = [counter.read_uj() for counter in live.values()]
    joules = [(end - start) * 1e-6 for start, end in zip(before, after, strict=True)]
    bands = [1.0 + counter.info.rel_uncertainty for counter in live.values()]
    checked: list[Checked] = []
    for (name, counter), energy, band in zip(live.items(), joules, bands, strict=True):
        ratio = energy / joules[0] if joules[0] > 0 else 0.0
        widest = band * bands[0]
        is_yardstick = not checked and energy > 0
        agrees = None if is_yardstick else 1.0 / widest <= ratio <= widest
        checked.append(Checked(name, energy, energy / elapsed, ratio, counter.breaks, agrees))
        counter.close()
    return checked
