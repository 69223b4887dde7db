"""What this host draws idle and busy, and how its counter ticks; kept for later runs."""

from __future__ import annotations

import contextlib
import datetime
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from ...atomic_files import write_atomically
from ...errors import EijError, MeterUnavailable
from ...protocols import Counter, Provenance
from ..settlement.clocks import at_one_moment
from .counter import watch
from .host import Host, this_host

log = logging.getLogger(__name__)

PAIRS = 10_000
"""Pairs of readings that measure what the meter itself costs."""
DRIFT = 0.1
"""Two measurements of one busy thread that differ by more are in doubt."""


@dataclass(frozen=True)
class Calibration:
    """What was measured on a host, and when."""

    host: Host
    source: str
    """The counter's name; files of 0.1 have this field."""
    domains: tuple[str, ...]
    when: str
    idle_watts: float
    thread_watts: float
    """With one busy thread, idle included: what a run draws."""
    full_watts: float
    """With a busy thread on every CPU."""
    tick_ns: int
    unit_uj: float
    read_cost_ns: int
    pair_uj: float
    """The meter's own energy, per pair of readings."""
    drift: float
    """Relative difference of two measurements of one busy thread."""

    @property
    def doubt(self) -> str:
        """Why it should be taken again, or nothing."""
        if self.thread_watts <= self.idle_watts:
            return "a busy thread drew no more than the idle machine: other work was going on"
        if abs(self.drift) > DRIFT:
            return f"two measurements of one busy thread differ by {abs(self.drift):.0%}"
        return ""

    def as_json(self) -> str:
        """Return the calibration as JSON, the form of its file."""
        return json.dumps(asdict(self) | {"host": self.host._asdict()}, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Calibration:
        """Read what `as_json` wrote."""
        fields = json.loads(text)
        host = Host(**fields.pop("host"))
        return cls(host=host, domains=tuple(fields.pop("domains")), **fields)


def calibrate(
    counter: Counter,
    seconds: float = 60.0,
    tell: Callable[[str], None] = lambda step: None,
) -> Calibration:
    """Measure this host with a counter; nothing else should run meanwhile.

    Parameters
    ----------
    counter : Counter
        Estimates are refused: they would confirm themselves.
    seconds : float
        Time to take, half of it asleep.
    tell : callable
        Receives the name of each step.
    """
    if counter.info.provenance not in (Provenance.MEASURED, Provenance.ATTRIBUTED):
        raise EijError(
            f"calibration needs a counter, and {counter.info.name} is {counter.info.provenance}"
        )
    breaks = counter.breaks
    tell("idle")
    idle = _watts(counter, lambda: time.sleep(0.5 * seconds))
    tell("reading")
    seen = watch(counter.read_uj, 0.05 * seconds)
    started, before = time.monotonic_ns(), counter.read_uj()
    for _ in range(2 * PAIRS):
        counter.read_uj()
    pair_uj = (counter.read_uj() - before) / PAIRS
    cost = (time.monotonic_ns() - started) // (2 * PAIRS)
    tell("one busy thread")
    first = _watts(counter, lambda: keep_busy(0.12 * seconds))
    tell("every CPU busy")
    with _load(max((os.cpu_count() or 1) - 1, 0)):
        full = _watts(counter, lambda: keep_busy(0.12 * seconds))
    tell("one busy thread again")
    second = _watts(counter, lambda: keep_busy(0.12 * seconds))
    thread = (first + second) / 2.0
    if counter.breaks != breaks:
        raise MeterUnavailable(
            f"{counter.info.name}: the counter was reset or lost meanwhile; calibrate again"
        )
    return Calibration(
        host=this_host(),
        source=counter.info.name,
        domains=counter.info.domains,
        when=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        idle_watts=idle,
        thread_watts=thread,
        full_watts=full,
        tick_ns=seen.tick_ns,
        unit_uj=counter.info.unit_uj,
        read_cost_ns=cost,
        pair_uj=pair_uj,
        drift=(second - first) / thread if thread else 0.0,
    )


def _watts(counter: Counter, load: Callable[[], None]) -> float:
    started, before = at_one_moment(counter.read_uj, time.monotonic_ns, 3)
    load()
    ended, after = at_one_moment(counter.read_uj, time.monotonic_ns, 3)
    return (after - before) * 1000.0 / (ended - started)


def keep_busy(seconds: float) -> None:
    """Keep one CPU busy for a while."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


@contextlib.contextmanager
def _load(processes: int) -> Iterator[None]:
    """Keep that many CPUs busy."""
    command = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(command) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


# --- keeping it -----------------------------------------------------------------------------------


def cache_folder() -> Path:
    """Return the folder for what can be measured again (XDG_CACHE_HOME, else ~/.cache)."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "eij"


def store(calibration: Calibration, folder: Path | None = None) -> Path:
    """Write a calibration; one of the same host, CPU, governor and kernel is replaced."""
    folder = folder or cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"calibration-{calibration.host.key}.json"
    write_atomically(path, calibration.as_json().encode())
    return path


def stored(folder: Path | None = None) -> list[Calibration]:
    """Return all calibrations of this user, the newest first."""
    found = []
    for path in (folder or cache_folder()).glob("calibration-*.json"):
        try:
            found.append(Calibration.from_json(path.read_text("utf-8")))
        except (OSError, ValueError, TypeError, KeyError) as error:
            log.warning("%s is not a calibration and is left out: %r", path, error)
    return sorted(found, key=lambda calibration: calibration.when, reverse=True)
