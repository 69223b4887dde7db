"""RAPL through perf events: what a service with CAP_PERFMON may read."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import struct

from ...errors import MeterPermissionError, MeterUnavailable
from ...registry import meters
from ..settlement.counted import Counted, Sharing
from .counter import ALIVE_SECONDS, Domain, HardwareCounter, counters

DEFAULT_PMU = "/sys/bus/event_source/devices/power"
EVENTS = {"energy-pkg": "package", "energy-ram": "dram"}
SYSCALLS = {"x86_64": 298, "i686": 336, "aarch64": 241}
ATTRIBUTE_SIZE = 64
CLOSE_ON_EXEC = 8

REFUSED = """\
perf: {pmu} is present but perf_event_open was refused ({error}).
It needs CAP_PERFMON (Linux >= 5.8), or kernel.perf_event_paranoid <= 0. For a service:
AmbientCapabilities=CAP_PERFMON in its systemd unit. Do not lower perf_event_paranoid for everyone
on a shared machine: these counters can leak secrets of other programs."""


@counters.add("perf")
class PerfCounter(HardwareCounter):
    """Package and DRAM energy from the kernel's power PMU; 64 bits, so nothing wraps.

    Parameters
    ----------
    pmu : path
        The PMU's folder below an event_source directory.
    alive_seconds : float
        How long to watch whether the counter moves; 0 trusts it.
    """

    name = "perf"
    rank = 2

    def __init__(
        self, pmu: str | os.PathLike[str] = DEFAULT_PMU, alive_seconds: float = ALIVE_SECONDS
    ) -> None:
        self._scales: list[float] = []  # Joules per count of each file
        super().__init__(alive_seconds, pmu)

    def _open(self) -> list[Domain]:
        folder, domains = self._folder, []
        if not folder.is_dir():
            raise MeterUnavailable(f"no {folder}: kernel without perf power events, or a VM")
        try:
            kind = int((folder / "type").read_text("utf-8"))
            cpus = cpu_list((folder / "cpumask").read_text("utf-8"))
            for event, name in EVENTS.items():
                file = folder / "events" / event
                if not file.exists():
                    continue
                match = re.search(r"event=(0x[0-9a-f]+|\d+)", file.read_text("utf-8"))
                if match is None:
                    raise ValueError(f"{file} names no event")
                scale = float(file.with_name(f"{event}.scale").read_text("utf-8"))
                for cpu in cpus:
                    self._files.append(open_event(kind, int(match[1], 0), cpu))
                    self._scales.append(scale)
                    domains.append(Domain(f"{name}/cpu{cpu}", None))
        except PermissionError as error:
            text = REFUSED.format(pmu=folder, error=error.strerror)
            raise MeterPermissionError(text, str(folder)) from None
        if not domains:
            raise MeterUnavailable(f"{folder} has no event of {', '.join(EVENTS)}")
        self._unit_uj = max(self._scales) * 1e6
        return domains

    def _values(self) -> list[int]:
        return [
            int(struct.unpack("q", os.read(file, 8))[0] * scale * 1e6)
            for file, scale in zip(self._files, self._scales, strict=False)  # none once closed
        ]


def cpu_list(text: str) -> list[int]:
    """Read a list of CPUs as the kernel writes it.

    Examples
    --------
    >>> cpu_list("0,18-20")
    [0, 18, 19, 20]
    """
    cpus: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        cpus.extend(range(int(first), int(last or first) + 1))
    return cpus


def open_event(kind: int, config: int, cpu: int) -> int:
    """Open a counter of everything that runs on a CPU; return its descriptor."""
    number = SYSCALLS.get(platform.machine())
    if number is None:
        raise OSError(f"perf_event_open is not known for {platform.machine()}")
    libc = ctypes.CDLL(None, use_errno=True)
    attribute = struct.pack("IIQ", kind, ATTRIBUTE_SIZE, config).ljust(ATTRIBUTE_SIZE, b"\0")
    everyone, no_group = -1, -1
    file = libc.syscall(number, attribute, everyone, cpu, no_group, CLOSE_ON_EXEC)
    if file < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return int(file)


@meters.add("perf")
def perf(sharing: Sharing = "exclusive") -> Counted:
    """RAPL as perf events give it: for services with CAP_PERFMON."""
    return Counted(PerfCounter(), sharing=sharing)
