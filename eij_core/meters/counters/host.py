"""What this machine is: facts on which the trust in an energy figure depends."""

from __future__ import annotations

import hashlib
import os
import platform
import socket
from pathlib import Path
from typing import NamedTuple

CPUINFO = Path("/proc/cpuinfo")
STAT = Path("/proc/stat")
GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
MACHINE_ID = Path("/etc/machine-id")


class Host(NamedTuple):
    """The things a calibration depends on."""

    id: str
    cpu: str
    governor: str
    kernel: str

    @property
    def key(self) -> str:
        """A short digest, for the name of a file."""
        return hashlib.blake2b("\n".join(self).encode(), digest_size=6).hexdigest()


def this_host() -> Host:
    """Describe this machine; what cannot be known is 'unknown'."""
    identity = _text(MACHINE_ID) or socket.gethostname()
    return Host(
        # The machine id is private: only a digest of it leaves this function.
        id=hashlib.blake2b(identity.encode(), digest_size=6).hexdigest(),
        cpu=_cpuinfo("model name") or platform.processor() or platform.machine() or "unknown",
        governor=_text(GOVERNOR) or "unknown",
        kernel=platform.release(),
    )


def under_hypervisor() -> bool:
    """Tell whether this is a virtual machine, whose RAPL is emulated if it has one."""
    return "hypervisor" in _cpuinfo("flags").split()


def boot_and_cpu() -> tuple[str, str]:
    """Return what changes when a running program is moved to another machine."""
    return _text(BOOT_ID), _cpuinfo("model name")


class Ticks(NamedTuple):
    """CPU time of the whole host, in nanoseconds."""

    busy: int
    stolen: int
    total: int


def busy_ticks() -> Ticks | None:
    """Read what all CPUs did so far; None where there is no /proc/stat."""
    fields = _text(STAT).partition("\n")[0].split()
    if len(fields) < 9 or fields[0] != "cpu":
        return None
    user, nice, system, idle, iowait, irq, softirq, stolen = (int(field) for field in fields[1:9])
    busy = user + nice + system + irq + softirq
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    total = busy + idle + iowait + stolen
    return Ticks(busy * tick_ns, stolen * tick_ns, total * tick_ns)


def _cpuinfo(field: str) -> str:
    # The first CPU will do; hundreds of them take the kernel milliseconds to list.
    for line in _text(CPUINFO, 8192).splitlines():
        name, _, value = line.partition(":")
        if name.strip() == field:
            return value.strip()
    return ""


def _text(path: Path, most: int = -1) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(most).strip()
    except OSError:
        return ""
