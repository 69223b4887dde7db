"""Steps on counters: in virtual time, on a tree that ticks, by CPU time."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from eij_core import InputError, Scheduler
from eij_core.meters.counters.cputime import CpuTimeCounter
from eij_core.meters.settlement.counted import Counted
from tests.meters import fake_powercap
from tests.meters.virtual import CYCLES_PER_NS, Machine, Scripted

WATTS, OPERATORS = 20.0, {"short": 300_000, "long": 1_500_000}


@pytest.fixture
def machine(monkeypatch):
    """A machine in virtual time, whose cycles the meter counts; a chunk is one step."""
    machine = Machine()
    monkeypatch.setattr("eij_core.meters.meter.cycle_count", lambda: machine.wall * CYCLES_PER_NS)
    monkeypatch.setattr("eij_core.meters.meter.thread_ns", lambda: machine.cpu)
    monkeypatch.setattr("eij_core.scheduling.open_run.CHUNK_NS", 0)
    return machine


def on(machine, **options):
    options = {"budget": "1 kJ", "selector": "uniform", "compiled": False, **options}
    meter = Counted(Scripted(machine), clocks=machine)
    return Scheduler(OPERATORS, meter=meter, **options)


def spin(scheduler, machine, count, between_ns=5_000):
    """Make steps of known length; return the Joules that each operator really took."""
    random = np.random.default_rng(3)
    true = dict.fromkeys(OPERATORS, 0.0)
    for _ in range(count):
        machine.run(between_ns, WATTS)
        step = scheduler.ask()
        if step is None:
            break
        ns = int(OPERATORS[step.operator] * random.lognormal(0.0, 0.05))
        machine.run(ns, WATTS)
        true[step.operator] += WATTS * ns * 1e-9
        scheduler.tell(step, 1.0)
    return true


def check_sums(scheduler):
    """The accounts add up to what the counter showed, to the µJ, and rows to the total."""
    result = scheduler.result()
    accounts = scheduler.run.meter.accounts
    first, last = result.energy["readings_uj"]
    assert int(accounts.settled_uj.sum()) + accounts.unsettled_uj == last - first
    assert result.rows["spent"][-1] == pytest.approx(result.spent.joules)
    assert np.all(np.diff(result.rows["spent"]) >= 0)
    return result


def test_each_operator_gets_its_joules(machine):
    scheduler = on(machine)
    true = spin(scheduler, machine, 1500)
    scheduler.stop()
    result = check_sums(scheduler)
    for total in result.operators:
        assert total.joules == pytest.approx(true[total.name], rel=0.05)
    assert result.energy["joules"]["overhead"] == pytest.approx(1500 * 5e-6 * WATTS, rel=0.5)
    assert scheduler.overhead.joules == result.energy["joules"]["overhead"]
    assert result.meter.name == "scripted"
    assert scheduler.run.meter.counter.closed


def test_the_budget_is_the_counters(machine):
    scheduler = on(machine, budget="5 J")
    true = spin(scheduler, machine, 10**6)
    result = check_sums(scheduler)
    assert result.reason == "joules spent"
    assert result.spent.joules == pytest.approx(5.0, rel=0.02)
    assert sum(true.values()) == pytest.approx(5.0, rel=0.05)


def test_overhead_is_charged_on_request(machine):
    between = 1_000_000
    plain = on(machine, budget="5 J")
    spin(plain, machine, 10**6, between)
    charged = on(machine, budget="5 J", charge_overhead=True)
    spin(charged, machine, 10**6, between)
    assert plain.result().spent.joules == pytest.approx(5.0, rel=0.02)
    overhead = charged.overhead.joules
    assert overhead > 1.0
    assert charged.result().spent.joules + overhead == pytest.approx(5.0, rel=0.03)
    assert charged.result().spent.decisions < plain.result().spent.decisions


def test_the_start_is_what_came_before(machine):
    scheduler = on(machine)
    machine.run(60_000_000, WATTS)
    scheduler.start(evaluations=3, best=1.0)
    spin(scheduler, machine, 200)
    scheduler.stop()
    assert check_sums(scheduler).spent.start_joules == pytest.approx(1.2, rel=0.05)


def test_a_failed_step_is_charged(machine):
    scheduler = on(machine)
    with pytest.raises(KeyError), scheduler.step():
        machine.run(100_000_000, WATTS)
        raise KeyError
    scheduler.stop()
    assert check_sums(scheduler).spent.joules == pytest.approx(2.0, rel=0.05)


def test_what_came_before_the_first_step_is_free(machine):
    scheduler = on(machine, charge_overhead=True)
    machine.run(500_000_000, WATTS)
    spin(scheduler, machine, 100)
    scheduler.stop()
    result = check_sums(scheduler)
    assert result.spent.start_joules == 0.0
    assert scheduler.overhead.joules < 0.1
    assert result.energy["joules"]["away"] == pytest.approx(10.0, rel=0.05)


def test_stop_in_a_step_and_from_another_thread(machine):
    scheduler = on(machine)
    for step in scheduler:
        machine.run(50_000_000, WATTS)
        step.gain = 1.0
        with ThreadPoolExecutor(1) as pool:
            pool.submit(scheduler.stop).result()
    assert check_sums(scheduler).spent.joules == pytest.approx(1.0, rel=0.05)
    assert scheduler.run.meter.counter.closed


def test_joules_are_not_told_to_a_counter(machine):
    scheduler = on(machine)
    step = scheduler.ask()
    with pytest.raises(InputError, match="which counts them"):
        scheduler.tell(step, 1.0, joules=1.0)


def test_a_checkpoint_settles_first(machine, tmp_path):
    scheduler = on(machine, budget="20 J")
    true = spin(scheduler, machine, 300)
    scheduler.save(tmp_path / "at")
    before = scheduler.result()
    scheduler.run.meter.close()
    counter = Scripted(machine, watts=3 * WATTS)  # a bad first guess, for new charges alone
    meter = Counted(counter, clocks=machine)
    resumed = Scheduler.resume(tmp_path / "at", meter=meter, compiled=False)
    assert resumed.spent == before.spent.joules
    later = spin(resumed, machine, 10**6)
    result = resumed.result()
    assert result.spent.joules == pytest.approx(20.0, rel=0.02)
    for total in result.operators:
        assert total.joules == pytest.approx(true[total.name] + later[total.name], rel=0.05)
    assert np.all(np.diff(result.rows["spent"]) >= 0)
    assert resumed.overhead.joules > scheduler.overhead.joules


def busy(seconds):
    """Keep the CPU busy for so long of this thread's own time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


@pytest.fixture
def ticking(tmp_path, monkeypatch):
    """A powercap tree of 50 W that a process keeps ticking."""
    spec = [{"zone": "0", "name": "package-0", "watts": 50}]
    command = [sys.executable, fake_powercap.__file__, tmp_path / "tree", "--spec"]
    with subprocess.Popen([*command, json.dumps(spec)], stdout=subprocess.PIPE, text=True) as tree:
        assert tree.stdout.readline() == "ready\n"
        monkeypatch.setenv("EIJ_POWERCAP_ROOT", str(tmp_path / "tree/class/powercap"))
        yield
        tree.kill()


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.compiled)])
def test_plain_python_on_a_ticking_counter(ticking, compiled):
    lengths = {"short": 0.001, "long": 0.004}
    scheduler = Scheduler(
        lengths, selector="uniform", meter="powercap", budget="30 J", compiled=compiled
    )
    used = dict.fromkeys(lengths, 0.0)
    for step in scheduler:
        before = time.thread_time()
        busy(lengths[step.operator])
        used[step.operator] += time.thread_time() - before
        step.gain = 1.0
    result = check_sums(scheduler)
    assert scheduler.run.rule.compiled == compiled
    assert result.meter.domains == ("package-0",)
    short, long = (total.joules / used[total.name] for total in result.operators)
    assert long / short == pytest.approx(1.0, rel=0.1)
    assert result.spent.joules == pytest.approx(30.0, rel=0.2)


def test_plain_python_by_cpu_time():
    scheduler = Scheduler(
        ["one", "two"], meter=CpuTimeCounter(10.0), budget="1 J", selector="uniform", compiled=False
    )
    steps = 0
    for step in scheduler:
        busy(0.002)
        time.sleep(0.001)  # is not charged: the thread is off the CPU
        step.gain = 1.0
        steps += 1
    result = check_sums(scheduler)
    assert result.spent.joules == pytest.approx(1.0, rel=0.1)
    assert result.spent.joules == pytest.approx(steps * 0.02, rel=0.15)
    assert result.meter.provenance == "estimated"


def test_a_step_of_the_calendar_clock_does_not_show(monkeypatch):
    def stepped():
        raise AssertionError("durations come from monotonic clocks")

    scheduler = Scheduler(["one"], meter=CpuTimeCounter(10.0), budget="0.1 J", compiled=False)
    monkeypatch.setattr(time, "time", stepped)
    monkeypatch.setattr(time, "time_ns", stepped)
    for step in scheduler:
        busy(0.001)
        step.gain = 1.0
    assert scheduler.result().spent.joules > 0.05
