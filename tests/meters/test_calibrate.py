"""Calibration, the facts of the host, and the host's lock."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from eij_core.errors import EijError, MeterUnavailable
from eij_core.meters.counters import calibrate as module
from eij_core.meters.counters import host, host_lock
from eij_core.meters.counters.calibrate import Calibration, cache_folder, calibrate, store, stored
from eij_core.meters.counters.counter import watch
from eij_core.meters.counters.cputime import CpuTimeCounter
from eij_core.meters.counters.host_lock import HostLock, MeterBusy, reserve_host
from eij_core.meters.settlement.clocks import RealClocks
from eij_core.protocols import EnergyInfo, Provenance
from tests.clock import Clock


class Busy:
    """A counter of 30 W that ticks every millisecond of the test's clock."""

    breaks, watts = 0, 30.0
    info = EnergyInfo("powercap", Provenance.MEASURED, ("package-0",), "package", 1_000_000, 61.0)

    def __init__(self, clock):
        self.clock = clock

    def read_uj(self):
        return self.clock.monotonic_ns() // 1_000_000 * 30_000


@pytest.fixture
def busy(monkeypatch):
    """The counter, on a clock that each look at it moves by 10 µs."""
    clock = Clock(look_ns=10_000)
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(module, "watch", partial(watch, clock=clock.monotonic_ns))
    monkeypatch.setattr(module, "PAIRS", 100)
    return Busy(clock)


def test_calibration_and_its_file(busy):
    steps = []
    made = calibrate(busy, 2.0, steps.append)
    assert len(steps) == 5
    for watts in (made.idle_watts, made.thread_watts, made.full_watts):
        assert watts == pytest.approx(30, rel=0.01)
    assert made.tick_ns == pytest.approx(1e6, rel=0.01)
    assert abs(made.drift) < 0.01
    path = store(made)
    assert path.parent == cache_folder()
    assert stored() == [made]
    assert CpuTimeCounter().watts == made.thread_watts
    assert CpuTimeCounter().info.rel_uncertainty == 0.25
    assert store(made) == path
    assert len(list(path.parent.iterdir())) == 1


def test_a_calibration_that_contradicts_itself_is_doubted(busy):
    made = calibrate(busy, 0.2)
    assert "no more than the idle" in replace(made, idle_watts=30.0, thread_watts=29.0).doubt
    steady = replace(made, idle_watts=10.0, thread_watts=30.0, drift=0.02)
    assert steady.doubt == ""
    assert "differ by 30%" in replace(steady, drift=-0.3).doubt


def test_a_counter_reset_meanwhile_calibrates_nothing(busy):
    def reset(step):
        busy.breaks += step == "every CPU busy"

    with pytest.raises(MeterUnavailable, match="calibrate again"):
        calibrate(busy, 0.1, reset)


def test_an_estimate_cannot_be_calibrated_by_itself():
    with pytest.raises(EijError, match="needs a counter"):
        calibrate(CpuTimeCounter(), 0.1)


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


def test_one_holder_at_a_time():
    first = HostLock()
    with pytest.raises(MeterBusy, match=f"process {os.getpid()} on .* holds .*sharing=shared"):
        HostLock()
    first.release()
    first.release()
    HostLock().release()


def test_a_reserved_host_hands_its_lock_down():
    with reserve_host():
        for _ in range(2):
            HostLock().release()  # gives nothing back
        with ThreadPoolExecutor(1) as elsewhere, pytest.raises(MeterBusy):
            elsewhere.submit(HostLock).result()
    HostLock().release()


def test_a_task_says_that_it_waits_for_its_turn(caplog):
    first = HostLock()
    freed = threading.Timer(0.05, first.release)
    freed.start()
    with reserve_host():
        assert "waiting, because another run is being measured on this host" in caplog.text
        assert f"process {os.getpid()} on" in caplog.text
    freed.join()


def test_where_the_lock_is(monkeypatch):
    monkeypatch.delenv("EIJ_RAPL_LOCK")
    assert host_lock.lock_path().name == "eij-rapl.lock"
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert host_lock.lock_path().parent != Path("/run/lock")


def test_a_lock_that_cannot_be_opened(tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for path in (tmp_path / "no/folder.lock", tmp_path / "link"):
        monkeypatch.setenv("EIJ_RAPL_LOCK", str(path))
        with pytest.raises(MeterUnavailable, match=r"cannot be opened .*: set EIJ_RAPL_LOCK"):
            HostLock()
