"""Calibration, the facts of the host, and the host's lock."""

import os
import time
from dataclasses import replace

import pytest

from eij_core.errors import EijError, MeterUnavailable
from eij_core.meters import calibrate as module
from eij_core.meters import host, hostlock
from eij_core.meters.calibrate import Calibration, cache_folder, calibrate, store, stored
from eij_core.meters.clocks import RealClocks
from eij_core.meters.cputime import CpuTimeSource
from eij_core.meters.hostlock import HostLock, MeterBusy
from eij_core.meters.meter import Provenance, SourceInfo


class Busy:
    """A counter of 30 W, of real time."""

    breaks, watts = 0, 30.0
    info = SourceInfo("powercap", Provenance.MEASURED, ("package-0",), "package", 1_000_000, 61.0)

    def __init__(self):
        self.start = time.monotonic_ns()

    def read_uj(self):
        return (time.monotonic_ns() - self.start) // 1_000_000 * 30_000


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(module, "PAIRS", 100)


def test_calibration_and_its_file(quick):
    steps = []
    made = calibrate(Busy(), 2.0, steps.append)
    assert len(steps) == 5
    for watts in (made.idle_watts, made.thread_watts, made.full_watts):
        assert watts == pytest.approx(30, rel=0.2)
    assert made.tick_ns == pytest.approx(1e6, rel=0.2)
    assert abs(made.drift) < 0.2
    path = store(made)
    assert path.parent == cache_folder()
    assert stored() == [made]
    assert CpuTimeSource().watts == made.thread_watts
    assert CpuTimeSource().info.rel_uncertainty == 0.25
    assert store(made) == path
    assert len(list(path.parent.iterdir())) == 1


def test_a_calibration_that_contradicts_itself_is_doubted(quick):
    made = calibrate(Busy(), 0.2)
    assert "no more than the idle" in replace(made, idle_watts=30.0, thread_watts=29.0).doubt
    steady = replace(made, idle_watts=10.0, thread_watts=30.0, drift=0.02)
    assert steady.doubt == ""
    assert "differ by 30%" in replace(steady, drift=-0.3).doubt


def test_a_counter_reset_meanwhile_calibrates_nothing(quick):
    source = Busy()

    def reset(step):
        source.breaks += step == "every CPU busy"

    with pytest.raises(MeterUnavailable, match="calibrate again"):
        calibrate(source, 0.1, reset)


def test_an_estimate_cannot_be_calibrated_by_itself():
    with pytest.raises(EijError, match="needs a counter"):
        calibrate(CpuTimeSource(), 0.1)


def test_bad_files_are_left_out(tmp_path, caplog):
    (tmp_path / "calibration-1.json").write_text("{")
    (tmp_path / "calibration-2.json").write_text('{"host": {}, "domains": []}')
    assert stored(tmp_path) == []
    assert len(caplog.records) == 2


def test_the_newest_first(tmp_path):
    here = host.this_host()
    for kernel, when in (("a", "2026-01-01"), ("b", "2026-02-01")):
        made = Calibration(here._replace(kernel=kernel), "perf", (), when, 1, 2, 3, 4, 5, 6, 7, 0)
        store(made, tmp_path)
    assert [made.when for made in stored(tmp_path)] == ["2026-02-01", "2026-01-01"]


def test_the_cache_is_the_users(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder().parts[-2:] == (".cache", "eij")


# --- the host ---


def test_this_host(tmp_path, monkeypatch):
    here = host.this_host()
    assert all(here)
    assert len(here.key) == 12
    (tmp_path / "cpuinfo").write_text("model name\t: Fast CPU\nflags\t\t: fpu hypervisor\n")
    monkeypatch.setattr(host, "CPUINFO", tmp_path / "cpuinfo")
    assert host.this_host().cpu == "Fast CPU"
    assert host.under_hypervisor()
    monkeypatch.setattr(host, "CPUINFO", tmp_path / "none")
    assert not host.under_hypervisor()


def test_what_all_cpus_do(tmp_path, monkeypatch):
    monkeypatch.setattr(host, "STAT", tmp_path / "stat")
    assert host.busy_ticks() is None
    (tmp_path / "stat").write_text("cpu 10 1 5 100 7 1 2 4 0 0\ncpu0 1\n")
    tick = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    assert host.busy_ticks() == (19 * tick, 4 * tick, 130 * tick)


def test_real_clocks():
    clocks = RealClocks()
    assert 0.01 < clocks.frequency() < 10
    before, after = clocks.now(), clocks.now()
    assert after.wall_ns > before.wall_ns
    assert after.cycles > before.cycles
    assert after.cpu_ns >= before.cpu_ns
    assert abs(after.asleep_ns - before.asleep_ns) < 10**9
    assert clocks.host() is None or clocks.host().total > 0


def test_clocks_without_a_boot_clock(monkeypatch):
    monkeypatch.delattr(time, "CLOCK_BOOTTIME", raising=False)
    assert RealClocks().now().asleep_ns == 0


# --- the lock ---


def test_the_lock_is_one(tmp_path):
    first = HostLock()
    with pytest.raises(MeterBusy, match=f"process {os.getpid()} holds"):
        HostLock()
    first.release()
    first.release()
    HostLock().release()


def test_where_the_lock_is(monkeypatch):
    monkeypatch.delenv("EIJ_RAPL_LOCK")
    assert hostlock.lock_path().name == "eij-rapl.lock"
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert hostlock.lock_path().parent != hostlock.Path("/run/lock")


def test_a_lock_of_another_user(tmp_path, monkeypatch):
    path = tmp_path / "theirs.lock"
    path.write_text("process 1\n")
    real = os.open

    def deny(name, flags, *mode):
        if flags & os.O_RDWR:
            raise PermissionError
        return real(name, flags, *mode)

    monkeypatch.setattr(os, "open", deny)
    lock = HostLock(path)
    assert path.read_text() == "process 1\n"
    with pytest.raises(MeterBusy, match="process 1 holds"):
        HostLock(path)
    lock.release()
    with pytest.raises(MeterUnavailable, match="EIJ_RAPL_LOCK"):
        HostLock(tmp_path / "none")


def test_a_lock_that_cannot_be(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for path in (tmp_path / "no/folder.lock", tmp_path / "link"):
        with pytest.raises(MeterUnavailable, match="cannot be opened"):
            HostLock(path)
