"""RAPL through the kernel's powercap tree: the default where it can be read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from ..errors import MeterPermissionError, MeterUnavailable
from ..registry import meters
from .permission import permission_text
from .settle import Counted, Sharing
from .source import (
    ALIVE_SECONDS,
    FIRST_WATTS,
    MOST_WATTS,
    Domain,
    Tally,
    Unwrapped,
    alive,
    package_info,
    watch,
)

__all__ = ["Domains", "PowercapSource", "Zone", "chosen", "powercap", "powercap_root", "zones"]

Domains = Literal["package+dram", "package", "psys"]

DEFAULT_ROOT = "/sys/class/powercap"
# Numbers of zones are hexadecimal, and those of packages may have gaps.
ZONE = re.compile(r"(intel-rapl|intel-rapl-mmio):([0-9a-f]+)(?::([0-9a-f]+))?")
PACKAGE = re.compile(r"package-(\d+)(?:-die-(\d+))?")


def powercap_root(root: str | os.PathLike[str] | None = None) -> Path:
    """Return the tree to read: the argument, else EIJ_POWERCAP_ROOT, else the kernel's."""
    return Path(root or os.environ.get("EIJ_POWERCAP_ROOT") or DEFAULT_ROOT)


class Zone(NamedTuple):
    """One zone of the tree."""

    control: str
    number: tuple[int, ...]
    label: str
    """package-0, package-0/dram, psys, …"""
    path: Path

    @property
    def kind(self) -> str:
        """package, dram, core, uncore, psys, or whatever else the kernel offers."""
        name = self.label.rpartition("/")[2]
        return "package" if PACKAGE.fullmatch(name) else name


def zones(root: Path) -> list[Zone]:
    """List the RAPL zones of a powercap tree, in the order of their numbers."""
    names: dict[tuple[str, tuple[int, ...]], tuple[str, Path]] = {}
    for path in root.iterdir():
        match = ZONE.fullmatch(path.name)
        try:
            name = (path / "name").read_text("utf-8").strip()
        except OSError:
            continue
        if match and name:
            number = tuple(int(part, 16) for part in match.groups()[1:] if part)
            names[match[1], number] = name, path
    found = []
    for (control, number), (name, path) in sorted(names.items()):
        parent = names.get((control, number[:1]), ("?", path))[0]
        label = name if len(number) == 1 else f"{parent}/{name}"
        found.append(Zone(control, number, label, path))
    return found


def chosen(found: Iterable[Zone], domains: Domains) -> tuple[list[Zone], list[str]]:
    """Choose the zones to add up; say which were left out and why.

    Package contains core and uncore but not DRAM; psys contains everything, so it stays alone. The
    same zone may show twice, through MSRs and through MMIO.
    """
    kept: dict[str, Zone] = {}
    left: list[str] = []
    kinds = ("psys",) if domains == "psys" else tuple(domains.split("+"))
    for zone in found:  # "intel-rapl" sorts before "intel-rapl-mmio"
        inside_package = "/" not in zone.label or PACKAGE.fullmatch(zone.label.partition("/")[0])
        if zone.kind not in kinds or not inside_package:
            left.append(f"{zone.label} left out: {domains} was asked for")
        elif zone.label in kept:
            left.append(f"{zone.label} of {zone.control} left out: the same as by MSR")
        else:
            kept[zone.label] = zone
    return list(kept.values()), left


class PowercapSource:
    """Package and DRAM energy from `energy_uj` files, on descriptors that stay open.

    Parameters
    ----------
    root : path, optional
        The tree; else EIJ_POWERCAP_ROOT, else /sys/class/powercap.
    domains : {"package+dram", "package", "psys"}
        What to add up. Joules with and without DRAM do not compare.
    alive_seconds : float
        How long to watch whether the counter moves; 0 trusts it.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        domains: Domains = "package+dram",
        alive_seconds: float = ALIVE_SECONDS,
    ) -> None:
        folder = powercap_root(root)
        if not folder.is_dir():
            raise MeterUnavailable(
                f"no {folder}: kernel without powercap/RAPL, a VM, a container, or not Linux"
            )
        kept, notes = chosen(zones(folder), domains)
        if not kept:
            seen = "; ".join(notes) or "it holds no RAPL zone"
            raise MeterUnavailable(f"{folder} has no {domains} to read: {seen}")
        self._files: list[int] = []
        try:
            self._open(kept, alive_seconds, notes)
        except BaseException:
            self.close()
            raise

    def _open(self, kept: list[Zone], alive_seconds: float, notes: list[str]) -> None:
        self._files = [_open(zone.path / "energy_uj") for zone in kept]
        counters = [
            Domain(
                zone.label, number_in(zone.path / "max_energy_range_uj"), most_watts_of(zone.path)
            )
            for zone in kept
        ]
        self._tally = Tally(self._read, counters)
        self.watts, seen, unit = FIRST_WATTS, None, 0.0
        if alive_seconds > 0:
            before = [counter.raw for counter in self._tally.counters]
            seen = watch(self._tally.read_uj, alive_seconds)
            alive(f"powercap {kept[0].path.parent}", seen, sum(c.most_watts for c in counters))
            self.watts = seen.watts
            unit = unit_of([counter.raw for counter in self._tally.counters])
            self._drop(_useless(self._tally.counters, before, notes))
        names = [counter.domain.name for counter in self._tally.counters]
        self.info = package_info("powercap", names, seen, unit, notes)

    def _drop(self, places: list[int]) -> None:
        for place in reversed(places):
            os.close(self._files.pop(place))
            del self._tally.counters[place]

    def _read(self) -> list[int]:
        if not self._files:
            raise MeterUnavailable("powercap: the source is closed")
        try:
            return [int(os.pread(file, 32, 0).partition(b"\n")[0]) for file in self._files]
        except (OSError, ValueError) as error:
            raise MeterUnavailable(f"powercap: a counter cannot be read: {error}") from None

    @property
    def breaks(self) -> int:
        """Resets and losses so far."""
        return self._tally.breaks

    def read_uj(self) -> int:
        """Return the µJ of all domains since the source was opened."""
        return self._tally.read_uj()

    def read_domains_uj(self) -> dict[str, int]:
        """Return the µJ since the source was opened, by domain."""
        return self._tally.read_domains_uj()

    def close(self) -> None:
        """Close the files."""
        while self._files:
            os.close(self._files.pop())


def unit_of(raws: Sequence[int]) -> float:
    """Guess the hardware's unit, 1/2^k J, from whole µJ that are multiples of it.

    Examples
    --------
    >>> round(unit_of([61035, 122131, 4272461]), 2)
    61.04
    """
    for k in range(10, 20):
        unit = 1e6 / 2**k
        if all(abs(raw - round(raw / unit) * unit) <= 1.0 for raw in raws):
            return unit
    return 1.0


def _useless(counters: Sequence[Unwrapped], before: list[int], notes: list[str]) -> list[int]:
    """Return the places of domains that stand still, or mirror another die's counter."""
    places = []
    seen: list[tuple[str, int, int]] = []
    for place, counter in enumerate(counters):
        name, total = counter.domain.name, counter.total_uj
        if total == 0:
            notes.append(f"{name} left out: it does not move")
            places.append(place)
            continue
        for twin, raw, advanced in seen:
            alike = abs(raw - before[place]) <= 1e-6 * max(raw, 1)
            if alike and abs(advanced - total) <= 1e-6 * max(advanced, 1):
                notes.append(f"{name} left out: it mirrors {twin}")
                places.append(place)
                break
        else:
            seen.append((name, before[place], total))
    return places


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError:
        raise MeterPermissionError(permission_text(str(path)), str(path)) from None
    except OSError as error:
        raise MeterUnavailable(f"powercap: {error}") from None


def number_in(path: Path) -> int | None:
    try:
        return int(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def most_watts_of(zone: Path) -> float:
    """Three times the zone's rated power, where the kernel knows it."""
    rated = number_in(zone / "constraint_0_max_power_uw")
    return 3e-6 * rated if rated else MOST_WATTS


@meters.add("powercap")
def powercap(domains: Domains = "package+dram", sharing: Sharing = "exclusive") -> Counted:
    """RAPL as the kernel's powercap tree gives it (EIJ_POWERCAP_ROOT names another tree)."""
    return Counted(PowercapSource(domains=domains), sharing=sharing)
