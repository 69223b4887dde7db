"""Which sources are alive on this host, the best one, and why the others were refused."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from ..errors import MeterPermissionError, MeterUnavailable
from ..registry import meters
from .calibrate import spin
from .cputime import CpuTimeSource
from .hostlock import MeterBusy
from .meter import Provenance
from .perf import PerfEventSource
from .permission import permission_text
from .powercap import PowercapSource
from .pyrapl import PyRaplSource
from .settle import Counted
from .source import Source

__all__ = ["Checked", "Refusal", "SourceRow", "auto", "check_sources", "detect", "source_table"]

log = logging.getLogger(__name__)

Openers = Mapping[str, Callable[[], Source]]

OPENERS: Openers = {
    "powercap": PowercapSource,
    "perf": PerfEventSource,
    "pyrapl": PyRaplSource,
    "cputime": CpuTimeSource,
}
PREFERRED = ("powercap", "perf", "cputime")


class Refusal(NamedTuple):
    """A source that cannot be used here."""

    name: str
    reason: str


def detect(openers: Openers = OPENERS) -> tuple[Source, list[Refusal]]:
    """Open the best source that is alive: powercap, else perf, else the estimate.

    Returns
    -------
    source : Source
    refusals : list of Refusal
        The better ones, each with the reason. Nothing is downgraded silently.
    """
    failures: list[tuple[str, MeterUnavailable]] = []
    for name in PREFERRED:
        try:
            source = openers[name]()
        except MeterUnavailable as error:
            failures.append((name, error))
            continue
        return source, [Refusal(each, _reason(error, source)) for each, error in failures]
    raise MeterUnavailable("; ".join(f"{name}: {error}" for name, error in failures))


def _reason(error: MeterUnavailable, instead: Source) -> str:
    """Return the refusal's text; where an estimate takes its place, that is part of it."""
    estimated = instead.info.provenance == Provenance.ESTIMATED
    if isinstance(error, MeterPermissionError) and estimated and error.path.endswith("energy_uj"):
        factor = 1.0 + instead.info.rel_uncertainty
        return permission_text(error.path, (instead.watts, factor))
    return str(error)


@meters.add("auto")
def auto() -> Counted:
    """The best source that is alive here: powercap, perf, or an estimate; says which and why."""
    source, refusals = detect()
    try:
        counted = Counted(source, refusals=refusals)
    except MeterBusy as error:
        source, refusals = detect()
        refusals.append(Refusal(f"exclusive {source.info.name}", str(error)))
        counted = Counted(source, refusals=refusals, sharing="shared")
    for refusal in refusals:
        _say(f"meter {refusal.name}: {refusal.reason}")
    return counted


@functools.cache
def _say(text: str) -> None:
    """Warn once a process, not once a trial."""
    log.warning("%s", text)


# --- eij meters -----------------------------------------------------------------------------------


class SourceRow(NamedTuple):
    """One line of the table of sources."""

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


def source_table(openers: Openers = OPENERS) -> list[SourceRow]:
    """Try every source of this host; say what is alive, and why the rest is not."""
    rows = []
    for name, opener in openers.items():
        try:
            source = opener()
        except MeterUnavailable as error:
            rows.append(SourceRow(name, False, "", "", 0.0, 0.0, 0.0, "", str(error)))
            continue
        info = source.info
        source.close()
        rows.append(
            SourceRow(
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
    """What one source said of the known load."""

    name: str
    joules: float
    watts: float
    ratio: float
    """To the first live source."""
    breaks: int
    agrees: bool | None
    """Whether it is within both bands of the first one; None: it is the first one."""


def check_sources(
    seconds: float = 2.0,
    openers: Openers = OPENERS,
    load: Callable[[float], None] = spin,
) -> list[Checked]:
    """Measure one known load, a busy thread, with every live source at once; compare them."""
    live: list[tuple[str, Source]] = []
    for name, opener in openers.items():
        try:
            live.append((name, opener()))
        except MeterUnavailable as error:
            log.info("%s is not checked: %s", name, error)
    before = [source.read_uj() for _, source in live]
    started = time.monotonic()
    load(seconds)
    elapsed = time.monotonic() - started
    joules = [
        (source.read_uj() - start) * 1e-6 for (_, source), start in zip(live, before, strict=True)
    ]
    checked = list(_compared(live, joules, elapsed))
    for _, source in live:
        source.close()
    return checked


def _compared(
    live: list[tuple[str, Source]], joules: list[float], elapsed: float
) -> Iterable[Checked]:
    for i, ((name, source), energy) in enumerate(zip(live, joules, strict=True)):
        ratio = energy / joules[0] if joules[0] > 0 else 0.0
        widest = (1.0 + source.info.rel_uncertainty) * (1.0 + live[0][1].info.rel_uncertainty)
        is_yardstick = i == 0 and energy > 0
        agrees = None if is_yardstick else 1.0 / widest <= ratio <= widest
        yield Checked(name, energy, energy / elapsed, ratio, source.breaks, agrees)
