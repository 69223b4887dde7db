"""A powercap tree whose counters tick, written by a process of its own (the GIL would stall it).

    python fake_powercap.py FOLDER [--tick-ms 1] [--spec JSON] [--seconds 120]

SPEC: a list of {zone, name, watts, start_uj, unit_uj, max_uj, mode}. Prints `ready` once the
tree stands. The root for `PowercapCounter` is FOLDER/class/powercap.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import time
from pathlib import Path

DEFAULT = [
    {"zone": "0", "name": "package-0", "watts": 45.0},
    {"zone": "0:0", "name": "core", "watts": 30.0},
    {"zone": "0:1", "name": "dram", "watts": 5.0},
]
RANGE_UJ = 65_532_610_987
CATCH_UP = 3
"""How many ticks a write makes up for when others had the CPU. Readers expect up to three times the
rated power, so a late value is not followed by a leap that no hardware makes."""


def build(folder: Path, spec: list[dict]) -> dict[str, Path]:
    """Make the tree as the kernel lays it out; return the energy files by zone."""
    devices, links = folder / "devices/virtual/powercap", folder / "class/powercap"
    links.mkdir(parents=True)
    files = {}
    for entry in spec:
        control = entry.get("control", "intel-rapl")
        zone = f"{control}:{entry['zone']}"
        parent = devices / control
        if ":" in entry["zone"]:
            parent /= f"{control}:{entry['zone'].split(':')[0]}"
        path = parent / zone
        path.mkdir(parents=True)
        (path / "name").write_text(entry["name"] + "\n")
        (path / "enabled").write_text("1\n")
        if entry.get("max_uj", RANGE_UJ) is not None:
            (path / "max_energy_range_uj").write_text(f"{entry.get('max_uj', RANGE_UJ)}\n")
        if "rated_uw" in entry:
            (path / "constraint_0_max_power_uw").write_text(f"{entry['rated_uw']}\n")
        energy = path / "energy_uj"
        energy.write_text(f"{entry.get('start_uj', 0)}\n")
        energy.chmod(entry.get("mode", 0o644))
        files[zone] = energy
        up = os.path.relpath(path, links)
        (links / zone).symlink_to(up)
        top = devices / control
        if not (links / control).exists():
            (links / control).symlink_to(os.path.relpath(top, links))
            (top / "subsystem").symlink_to("../../../../class/powercap")
    return files


def value(entry: dict, seconds: float) -> int:
    """What the counter shows after so long."""
    unit = entry.get("unit_uj", 15.3)
    exact = entry.get("start_uj", 0) + entry["watts"] * seconds * 1e6
    shown = int(int(exact / unit) * unit)
    return shown % ((entry.get("max_uj") or RANGE_UJ) + 1)


def write(file: int, shown: int, width: list[int]) -> None:
    """Write in place: a rename would leave readers with the old file."""
    text = b"%d\n" % shown
    os.pwrite(file, text, 0)
    if len(text) < width[0]:
        os.ftruncate(file, len(text))
    width[0] = len(text)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tick-ms", type=float, default=1.0)
    parser.add_argument("--spec", type=json.loads, default=DEFAULT)
    parser.add_argument("--seconds", type=float, default=120.0)
    options = parser.parse_args()
    files = build(options.folder, options.spec)
    opened = [(os.open(path, os.O_WRONLY), [0]) for path in files.values()]
    # A counter is hardware: nobody keeps it waiting. Without the rights it catches up in steps.
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    print("ready", flush=True)
    start = time.monotonic()
    tick = options.tick_ms / 1000.0
    count = due = 0
    while count * tick < options.seconds:
        time.sleep(max(start + (due + 1) * tick - time.monotonic(), 0.0))
        due = max(due + 1, int((time.monotonic() - start) / tick))
        count += min(due - count, CATCH_UP)
        for entry, (file, width) in zip(options.spec, opened, strict=True):
            write(file, value(entry, count * tick), width)


if __name__ == "__main__":
    main()
