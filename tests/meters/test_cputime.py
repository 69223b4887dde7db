"""The estimate: CPU time × Watts, in the thread that reads."""

import threading
import time

import pytest

from eij_core.meters.counters import cputime as module
from eij_core.meters.counters.calibrate import Calibration
from eij_core.meters.counters.cputime import CpuTimeCounter, guess_watts
from eij_core.meters.counters.host import this_host
from eij_core.registry import meters


def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_watts_times_cpu_time():
    counter = CpuTimeCounter(20)
    before, cpu = counter.read_uj(), time.thread_time()
    spin(0.05)
    joules = (counter.read_uj() - before) / 1e6
    assert joules == pytest.approx(20 * (time.thread_time() - cpu), rel=0.05)
    time.sleep(0.05)
    assert (counter.read_uj() - before) / 1e6 < joules + 0.1
    counter.close()


def test_idle_watts_are_added():
    counter = CpuTimeCounter(1, idle_watts=100)
    time.sleep(0.05)
    assert counter.read_uj() > 4_000_000
    assert "100 W idle" in counter.info.notes[0]


def test_another_threads_past_is_not_charged():
    counter = CpuTimeCounter(10)
    seen = [counter.read_uj()]

    def other():
        spin(0.03)
        seen.append(counter.read_uj())
        spin(0.03)
        seen.append(counter.read_uj())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    seen.append(counter.read_uj())
    assert seen == sorted(seen)
    assert seen[1] - seen[0] < 1_000
    assert seen[2] - seen[1] >= 290_000


def calibration(cpu, watts):
    host = this_host()._replace(cpu=cpu)
    return Calibration(host, "powercap", ("package-0",), "2026", 5, watts, 50, 1, 1, 1, 1, 0)


def test_where_the_watts_come_from():
    here = this_host().cpu
    assert guess_watts(0, lambda: [calibration("other", 7), calibration(here, 23)]).watts == 23
    assert guess_watts(0, lambda: [calibration(here, 0)]).factor == 3
    assert guess_watts(8, lambda: [calibration(here, 23)]).watts == 8


def test_the_band_is_in_the_info(monkeypatch):
    monkeypatch.setattr(module, "guess_watts", lambda watts: guess_watts(watts, list))
    info = CpuTimeCounter().info
    assert info.provenance == "estimated"
    assert info.rel_uncertainty == 2.0
    assert "factor 3" in info.notes[0]


def test_the_registered_meter():
    counted = meters.make("cputime:watts=12")
    assert counted.info.provenance == "estimated"
    assert counted.sharing == "exclusive"  # of one's own CPU time: no lock is needed
    other = meters.make("cputime")
    counted.close()
    other.close()
