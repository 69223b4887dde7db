"""RAPL through the kernel's powercap tree: the default where it can be read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from ...errors import MeterPermissionError, MeterUnavailable
from ...registry import meters
from ..settlement.counted import Counted, Sharing
from .counter import ALIVE_SECONDS, MOST_WATTS, Domain, HardwareCounter, Register, counters

Domains = Literal["package+dram", "package", "psys"]

DEFAULT_ROOT = "/sys/class/powercap"
ROOT_VARIABLE = "EIJ_POWERCAP_ROOT"
"""The environment variable that names another place."""
# Numbers of zones are hexadecimal, and those of packages may have gaps.
ZONE = re.compile(r"(intel-rapl|intel-rapl-mmio):([0-9a-f]+)(?::([0-9a-f]+))?")
PACKAGE = re.compile(r"package-(\d+)(?:-die-(\d+))?")
SAME = 1e-6
"""The relative difference up to which two readings are of one register."""

HEAD = """\
RAPL is present but {path} is readable by root only
(since the PLATYPUS fix, CVE-2020-8694)."""

ESTIMATE = """\
 Energy will NOT be measured; running on an ESTIMATE
({watts:g} W per busy core, factor {factor:g})."""

REMEDIES = """\
 To measure, ask the administrator for ONE of:
 1. a group (survives reboot):  groupadd -f rapl; usermod -aG rapl $USER; then in
    /etc/udev/rules.d/70-rapl.rules:
    SUBSYSTEM=="powercap", KERNEL=="intel-rapl*", \
RUN+="/bin/chgrp rapl /sys/%p/energy_uj", RUN+="/bin/chmod g+r /sys/%p/energy_uj"
    udevadm control --reload-rules; udevadm trigger --subsystem-match=powercap; log in again
 2. a service only:  AmbientCapabilities=CAP_PERFMON in its systemd unit, and --meter perf   \
(Linux >= 5.8)
 3. until reboot:  chgrp rapl .../energy_uj; chmod g+r .../energy_uj
Security: these counters can leak secrets of other programs. Do not chmod a+r on a shared machine,
do not setcap the system python, do not lower perf_event_paranoid for everyone."""


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


@counters.add("powercap")
class PowercapCounter(HardwareCounter):
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

    name = "powercap"
    rank = 1

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        domains: Domains = "package+dram",
        alive_seconds: float = ALIVE_SECONDS,
    ) -> None:
        self._domains = domains
        super().__init__(alive_seconds, root or os.environ.get(ROOT_VARIABLE) or DEFAULT_ROOT)

    def _open(self) -> list[Domain]:
        folder = self._folder
        moved = f" ({ROOT_VARIABLE})" if os.environ.get(ROOT_VARIABLE) == str(folder) else ""
        if not folder.is_dir():
            raise MeterUnavailable(
                f"no {folder}{moved}: kernel without powercap/RAPL, a VM, a container, or not Linux"
            )
        kept, self._notes = chosen(zones(folder), self._domains)
        if not kept:
            seen = "; ".join(self._notes) or "it holds no RAPL zone"
            raise MeterUnavailable(f"{folder}{moved} has no {self._domains} to read: {seen}")
        self._files += (_open(zone.path / "energy_uj") for zone in kept)
        return [domain_of(zone.label, zone.path) for zone in kept]

    def _values(self) -> list[int]:
        return [int(os.pread(file, 32, 0).partition(b"\n")[0]) for file in self._files]

    def _use_what_was_seen(self) -> None:
        """Guess the unit; leave out registers that stand still or mirror another die's."""
        self._unit_uj = unit_of([register.raw for register in self.registers])
        kept: list[tuple[Register, int]] = []
        for register, file in zip(self.registers, self._files, strict=True):
            twin = next((other for other, _ in kept if _mirrors(register, other)), None)
            if register.total_uj > 0 and twin is None:
                kept.append((register, file))
            else:
                why = f"it mirrors {twin.domain.name}" if twin else "it does not move"
                self._notes.append(f"{register.domain.name} left out: {why}")
                os.close(file)
        self.registers = [register for register, _ in kept]
        self._files = [file for _, file in kept]


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


def _mirrors(register: Register, other: Register) -> bool:
    """Tell whether two registers began and moved alike; a tick may fall between two readings."""
    pairs = (other.origin, register.origin), (other.total_uj, register.total_uj)
    return all(abs(a - b) <= SAME * max(a, 1) for a, b in pairs)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError:
        raise MeterPermissionError(permission_text(str(path)), str(path)) from None


def permission_text(path: str, estimate: tuple[float, float] | None = None) -> str:
    """Return the message; with `estimate` (Watts, factor) it announces the estimate.

    Examples
    --------
    >>> print(permission_text("energy_uj").splitlines()[0])
    RAPL is present but energy_uj is readable by root only
    """
    text = HEAD.format(path=path)
    if estimate is not None:
        text += ESTIMATE.format(watts=estimate[0], factor=estimate[1])
    return text + REMEDIES


def domain_of(label: str, zone: Path | None) -> Domain:
    """Describe a zone's register; three times its rated power is the most that it can show."""
    if zone is None:
        return Domain(label, None)
    rated = _number_in(zone / "constraint_0_max_power_uw")
    most_watts = 3e-6 * rated if rated else MOST_WATTS
    return Domain(label, _number_in(zone / "max_energy_range_uj"), most_watts)


def _number_in(path: Path) -> int | None:
    try:
        return int(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None


@meters.add("powercap")
def powercap(domains: Domains = "package+dram", sharing: Sharing = "exclusive") -> Counted:
    """RAPL as the kernel's powercap tree gives it (EIJ_POWERCAP_ROOT names another tree)."""
    return Counted(PowercapCounter(domains=domains), sharing=sharing)
