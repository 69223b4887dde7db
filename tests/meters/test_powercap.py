"""The powercap tree: which domains, permissions, and a counter that ticks in another process."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core.errors import MeterPermissionError, MeterUnavailable
from eij_core.meters.counters.powercap import (
    PowercapCounter,
    Zone,
    chosen,
    permission_text,
    unit_of,
    zones,
)
from eij_core.registry import meters
from tests.meters.fake_powercap import build
from tests.meters.virtual import domains_uj

FAKE = Path(__file__).with_name("fake_powercap.py")


def tree(folder, *spec):
    files = build(folder, [{"watts": 0, **entry} for entry in spec])
    return folder / "class/powercap", files


def still(root, **options):
    return PowercapCounter(root, alive_seconds=0, **options)


PACKAGE = {"zone": "0", "name": "package-0", "start_uj": 1000}
DRAM = {"zone": "0:1", "name": "dram", "start_uj": 500}


def test_package_and_dram_are_added_core_is_not(tmp_path):
    root, files = tree(tmp_path, PACKAGE, {"zone": "0:0", "name": "core"}, DRAM)
    counter = still(root)
    assert counter.info.domains == ("package-0", "package-0/dram")
    assert "package-0/core left out: package+dram was asked for" in counter.info.notes
    files["intel-rapl:0"].write_text("1100\n")
    files["intel-rapl:0:1"].write_text("520\n")
    files["intel-rapl:0:0"].write_text("999999\n")
    assert counter.read_uj() == 120
    assert domains_uj(counter) == {"package-0": 100, "package-0/dram": 20}
    counter.close()
    with pytest.raises(MeterUnavailable, match="closed"):
        counter.read_uj()


def test_no_dram_is_said(tmp_path):
    root, _ = tree(tmp_path, PACKAGE)
    counter = still(root)
    assert any("no DRAM" in note for note in counter.info.notes)
    counter.close()
    root, _ = tree(tmp_path / "platform", {"zone": "1", "name": "psys"})
    counter = still(root, domains="psys")
    assert not any("no DRAM" in note for note in counter.info.notes)
    counter.close()


def test_psys_only_on_request_and_then_alone(tmp_path):
    root, _ = tree(tmp_path, PACKAGE, DRAM, {"zone": "1", "name": "psys"})
    for domains, expected in (
        ("package+dram", ("package-0", "package-0/dram")),
        ("package", ("package-0",)),
        ("psys", ("psys",)),
    ):
        counter = still(root, domains=domains)
        assert counter.info.domains == expected
        counter.close()


def test_hexadecimal_zones_and_gaps_in_packages(tmp_path):
    numbers = [0, 9, 10, 15, 16]
    root, _ = tree(tmp_path, *({"zone": f"{n:x}", "name": f"package-{2 * n}"} for n in numbers))
    assert [zone.number for zone in zones(root)] == [(n,) for n in numbers]
    assert [zone.label for zone in zones(root)] == [f"package-{2 * n}" for n in numbers]


def test_the_same_zone_by_mmio_is_left_out(tmp_path):
    root, _ = tree(
        tmp_path,
        {**PACKAGE, "control": "intel-rapl-mmio"},
        PACKAGE,
        {**DRAM, "control": "intel-rapl-mmio"},
    )
    counter = still(root)
    assert counter.info.domains == ("package-0", "package-0/dram")
    assert any("the same as by MSR" in note for note in counter.info.notes)
    counter.close()


@given(
    st.lists(
        st.sampled_from(
            [
                *("package-0", "package-1", "package-0-die-1", "psys", "package-0/dram"),
                *("psys/dram", "package-0/core", "package-1/dram", "package-0/uncore"),
            ]
        ),
        unique=True,
    ),
    st.sampled_from(["package+dram", "package", "psys"]),
)
def test_no_energy_is_counted_twice(labels, domains):
    kept, left = chosen([Zone("intel-rapl", (0,), label, Path()) for label in labels], domains)
    kinds = {zone.kind for zone in kept}
    assert kinds <= {"package", "dram"} or kinds == {"psys"}
    assert len(kept) + len(left) == len(labels)
    assert all(zone.label.startswith("package") for zone in kept if zone.kind == "dram")


def test_a_missing_tree_and_an_empty_one(tmp_path):
    expected = f"no {tmp_path}/x: kernel without powercap/RAPL, a VM, a container, or not Linux"
    with pytest.raises(MeterUnavailable) as caught:
        PowercapCounter(tmp_path / "x")
    assert str(caught.value) == expected
    (tmp_path / "intel-rapl:0").mkdir()
    (tmp_path / "dtpm").mkdir()
    (tmp_path / "dtpm/name").write_text("other\n")
    with pytest.raises(MeterUnavailable, match="holds no RAPL zone"):
        PowercapCounter(tmp_path)


def test_a_zone_without_counter(tmp_path):
    root, files = tree(tmp_path, PACKAGE)
    files["intel-rapl:0"].unlink()
    with pytest.raises(MeterUnavailable, match="powercap: "):
        PowercapCounter(root)


def test_a_file_that_loses_its_text(tmp_path):
    root, files = tree(tmp_path, PACKAGE)
    counter = still(root)
    files["intel-rapl:0"].write_text("")
    with pytest.raises(MeterUnavailable, match="cannot be read"):
        counter.read_uj()
    files["intel-rapl:0"].write_text("1001\n")
    assert counter.read_uj() == 1
    counter.close()


def test_an_unknown_range_makes_a_fall_a_reset(tmp_path):
    root, files = tree(tmp_path, {**PACKAGE, "max_uj": None, "rated_uw": 50_000_000})
    counter = still(root)
    files["intel-rapl:0"].write_text("3\n")
    assert counter.read_uj() == 0
    assert counter.breaks == 1
    counter.close()


def test_a_dead_counter_is_refused(tmp_path):
    root, _ = tree(tmp_path, PACKAGE)
    with pytest.raises(MeterUnavailable, match="does not move"):
        PowercapCounter(root, alive_seconds=0.01)


def test_refusals_leave_no_file_open(tmp_path):
    root, _ = tree(tmp_path, PACKAGE)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        with pytest.raises(MeterUnavailable):
            PowercapCounter(root, alive_seconds=0.001)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_permission_text_to_the_letter(tmp_path, monkeypatch):
    root, _ = tree(tmp_path, PACKAGE)
    path = str(root / "intel-rapl:0/energy_uj")
    real = os.open

    def deny(name, *rest, **options):
        if str(name).endswith("energy_uj"):
            raise PermissionError(13, "Permission denied", str(name))
        return real(name, *rest, **options)

    monkeypatch.setattr(os, "open", deny)
    with pytest.raises(MeterPermissionError) as caught:
        PowercapCounter(root)
    assert isinstance(caught.value, PermissionError)
    assert str(caught.value) == permission_text(path)
    assert "ESTIMATE" not in str(caught.value)
    assert caught.value.path == path


TEXT = """\
RAPL is present but /sys/class/powercap/intel-rapl:0/energy_uj is readable by root only
(since the PLATYPUS fix, CVE-2020-8694). Energy will NOT be measured; running on an ESTIMATE
(10 W per busy core, factor 3). To measure, ask the administrator for ONE of:
 1. a group (survives reboot):  groupadd -f rapl; usermod -aG rapl $USER; then in
    /etc/udev/rules.d/70-rapl.rules:
    SUBSYSTEM=="powercap", KERNEL=="intel-rapl*", RUN+="/bin/chgrp rapl /sys/%p/energy_uj", \
RUN+="/bin/chmod g+r /sys/%p/energy_uj"
    udevadm control --reload-rules; udevadm trigger --subsystem-match=powercap; log in again
 2. a service only:  AmbientCapabilities=CAP_PERFMON in its systemd unit, and --meter perf   \
(Linux >= 5.8)
 3. until reboot:  chgrp rapl .../energy_uj; chmod g+r .../energy_uj
Security: these counters can leak secrets of other programs. Do not chmod a+r on a shared machine,
do not setcap the system python, do not lower perf_event_paranoid for everyone."""


def test_the_text_for_auto():
    path = "/sys/class/powercap/intel-rapl:0/energy_uj"
    assert permission_text(path, (10.0, 3.0)) == TEXT


@pytest.mark.parametrize("k", [14, 16])
def test_the_unit_is_guessed(k):
    raws = [int(n * 1e6 / 2**k) for n in (12345, 67891, 555)]
    assert unit_of(raws) == pytest.approx(1e6 / 2**k)
    assert unit_of([12345, 67891, 555]) < 2


# --- a tree that ticks ---


@pytest.fixture
def ticking(tmp_path):
    """Start writers; the value is a function of the spec."""
    running = []

    def start(spec=None, tick_ms=1.0):
        folder = tmp_path / f"tree{len(running)}"
        command = [sys.executable, FAKE, folder, "--tick-ms", str(tick_ms), "--seconds", "60"]
        command += ["--spec", json.dumps(spec)] if spec else []
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout.readline() == "ready\n"
        return folder / "class/powercap"

    yield start
    for process in running:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_ticking_tree(ticking, monkeypatch):
    root = ticking()
    monkeypatch.setenv("EIJ_POWERCAP_ROOT", str(root))
    monkeypatch.setattr("eij_core.meters.counters.counter.under_hypervisor", lambda: False)
    counted = meters.make("powercap")
    counter = counted.counter
    assert counted.info.provenance == "measured"
    assert counted.info.domains == ("package-0", "package-0/dram")
    assert 500_000 < counted.info.tick_ns < 20_000_000
    assert 5 < counter.watts < 200  # 50 ms of a writer that others may starve
    started, before = time.monotonic(), counter.read_uj()
    time.sleep(0.5)
    watts = (counter.read_uj() - before) / (time.monotonic() - started) / 1e6
    assert watts == pytest.approx(50, rel=0.2)
    assert counter.breaks == 0
    counted.close()


def test_wraps_of_two_sockets_while_ticking(ticking):
    socket = {"unit_uj": 15.3, "max_uj": 600_000_000, "rated_uw": 100_000_000}
    root = ticking(
        [
            {"zone": "0", "name": "package-0", "watts": 50, "start_uj": 585_000_000, **socket},
            {"zone": "1", "name": "package-1", "watts": 35, "start_uj": 585_000_000, **socket},
        ]
    )
    counter = PowercapCounter(root)
    before, started = counter.read_uj(), time.monotonic()
    last = before
    while time.monotonic() - started < 0.8:
        time.sleep(0.002)
        value = counter.read_uj()
        assert value >= last
        last = value
    joules = (counter.read_uj() - before) / 1e6
    assert counter.breaks == 0
    assert joules == pytest.approx(85 * (time.monotonic() - started), rel=0.1)
    counter.close()


def test_mirrored_dies_and_a_domain_that_stands_still(ticking):
    root = ticking(
        [
            {"zone": "0", "name": "package-0-die-0", "watts": 20},
            {"zone": "1", "name": "package-0-die-1", "watts": 20},
            {"zone": "2", "name": "package-1", "watts": 25, "start_uj": 10**9},
            {"zone": "0:1", "name": "dram", "watts": 0},
        ],
        tick_ms=5,
    )
    for _ in range(5):  # a tick may fall between the readings of the two dies
        counter = PowercapCounter(root)
        domains, notes = counter.info.domains, counter.info.notes
        counter.close()
        if domains == ("package-0-die-0", "package-1"):
            break
    assert domains == ("package-0-die-0", "package-1")
    assert "package-0-die-1 left out: it mirrors package-0-die-0" in notes
    assert "package-0-die-0/dram left out: it does not move" in notes
