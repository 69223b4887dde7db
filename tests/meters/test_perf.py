"""perf events: a fake PMU folder, against a PMU that this kernel has (msr, else software)."""

import os
import time
from pathlib import Path

import pytest

from eij_core.errors import MeterPermissionError, MeterUnavailable
from eij_core.meters.counters import perf as module
from eij_core.meters.counters.perf import PerfCounter, cpu_list, open_event
from eij_core.registry import meters
from tests.meters.virtual import domains_uj

DEVICES = Path("/sys/bus/event_source/devices")


def pmu(folder, kind, event="event=0x00", scale="1e-9", name="energy-pkg", cpumask="0"):
    (folder / "events").mkdir(parents=True)
    (folder / "type").write_text(f"{kind}\n")
    (folder / "cpumask").write_text(f"{cpumask}\n")
    (folder / "events" / name).write_text(f"{event}\n")
    (folder / "events" / f"{name}.scale").write_text(f"{scale}\n")
    return folder


def real(name):
    """The number of a PMU of this kernel, or a visible skip."""
    file = DEVICES / name / "type"
    if not file.exists():
        pytest.skip(f"this kernel has no {name} PMU")
    kind = int(file.read_text())
    try:
        os.close(open_event(kind, 0, 0))
    except OSError as error:
        pytest.skip(f"perf_event_open on {name} is refused here: {error}")
    return kind


@pytest.mark.parametrize(("name", "most"), [("msr", 6.0), ("software", 1.1)])
def test_a_pmu_that_exists(tmp_path, monkeypatch, name, most):
    """The time stamp counter, or the CPU clock, at 1 nJ a count: Joules are GHz × seconds."""
    counter = PerfCounter(pmu(tmp_path / "power", real(name)))
    assert counter.info.domains == ("package/cpu0",)
    assert counter.info.notes[0].startswith("no DRAM")
    started, before = time.monotonic(), counter.read_uj()
    time.sleep(0.1)
    joules = (counter.read_uj() - before) / 1e6
    assert 0.4 * (time.monotonic() - started) < joules < most * (time.monotonic() - started)
    assert domains_uj(counter)["package/cpu0"] >= joules
    assert counter.breaks == 0
    counter.close()
    with pytest.raises(MeterUnavailable, match="closed"):
        counter.read_uj()


@pytest.fixture
def pretend(monkeypatch):
    """A kernel that opens pipes for events."""

    def start(*values):
        files = []

        def open_(kind, config, cpu):
            read, write = os.pipe()
            os.write(write, b"".join(v.to_bytes(8, "little") for v in values))
            os.close(write)
            files.append((kind, config, cpu))
            return read

        monkeypatch.setattr(module, "open_event", open_)
        return files

    return start


def test_events_cpus_and_scales(tmp_path, pretend):
    opened = pretend(1000, 3000)
    folder = pmu(tmp_path / "power", 22, "event=0x02", "2.5e-6", cpumask="0,18")
    (folder / "events/energy-ram").write_text("event=3\n")
    (folder / "events/energy-ram.scale").write_text("1e-6\n")
    counter = PerfCounter(folder, alive_seconds=0)
    assert opened == [(22, 2, 0), (22, 2, 18), (22, 3, 0), (22, 3, 18)]
    assert domains_uj(counter) == {
        "package/cpu0": 5000,
        "package/cpu18": 5000,
        "dram/cpu0": 2000,
        "dram/cpu18": 2000,
    }
    with pytest.raises(MeterUnavailable, match="cannot be read"):
        counter.read_uj()
    counter.close()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"name": "energy-gpu"}, "has no event of"),
        ({"event": "umask=1"}, "names no event"),
        ({"kind": "x"}, "perf: "),
    ],
)
def test_odd_folders(tmp_path, pretend, change, text):
    pretend(0)
    with pytest.raises(MeterUnavailable, match=text):
        PerfCounter(pmu(tmp_path / "power", **{"kind": 9, **change}))


def test_a_dead_event(tmp_path, pretend):
    pretend(*[5] * 8000)
    with pytest.raises(MeterUnavailable, match="does not move"):
        PerfCounter(pmu(tmp_path / "power", 9), alive_seconds=0.0001)


def test_no_such_pmu(tmp_path, monkeypatch):
    with pytest.raises(MeterUnavailable, match="kernel without perf power events"):
        PerfCounter(tmp_path / "power")
    if not (DEVICES / "power").exists():
        with pytest.raises(MeterUnavailable):
            meters.make("perf")


def test_refused(tmp_path, monkeypatch):
    def deny(kind, config, cpu):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(module, "open_event", deny)
    with pytest.raises(MeterPermissionError, match="CAP_PERFMON") as caught:
        PerfCounter(pmu(tmp_path / "power", 9))
    assert "Permission denied" in str(caught.value)


def test_the_system_call(monkeypatch):
    with pytest.raises(OSError, match=r"Errno"):
        open_event(2**31, 0, 0)
    monkeypatch.setattr(module.platform, "machine", lambda: "vax")
    with pytest.raises(OSError, match="not known for vax"):
        open_event(1, 0, 0)
    assert cpu_list("3\n") == [3]
