"""Charges of single applications, settled in windows: the plain-Python meter."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core.engine.cpu_clocks import cycle_count
from eij_core.engine.rows import Limits, new_ledger
from eij_core.meters.counters.cputime import CpuTimeCounter
from eij_core.meters.settlement.applications import SettlingMeter
from eij_core.meters.settlement.counted import Counted
from tests.meters.virtual import Machine, Named, Scripted

MS = 1_000_000


def meter_on(machine, **options):
    counter = Scripted(machine)
    clocks = {"clock": lambda: machine.wall, "cpu_clock": lambda: machine.cpu}
    return SettlingMeter(counter, **clocks, **options)


def test_short_operators_get_their_share():
    machine = Machine()
    meter = meter_on(machine)
    rng = np.random.default_rng(3)
    charges, true = [], []
    for _ in range(2000):
        op = "short" if rng.random() < 0.5 else "long"
        ns = int((300_000 if op == "short" else 1_500_000) * rng.lognormal(0, 0.05))
        machine.run(5_000, 20.0)
        with meter.charge(op) as charge:
            machine.run(ns, 20.0)
        charges.append(charge)
        true.append(20.0 * ns / 1000)
    meter.flush()
    errors = np.abs(np.array([c.uj for c in charges]) / true - 1)
    assert np.median(errors) < 0.02
    assert np.quantile(errors, 0.95) < 0.05
    assert {c.quality for c in charges} == {"attributed"}
    assert sum(meter.totals().values()) == meter.counter.read_uj()
    assert meter.totals()["overhead"] > 0
    assert meter.info.name == "scripted"


def test_a_long_application_is_its_own_window():
    machine = Machine()
    meter = meter_on(machine)
    meter.begin()
    machine.run(25 * MS, 40.0)
    charge = meter.end("pso")
    assert charge.quality == "measured"
    assert charge.settled_uj == pytest.approx(1_000_000, rel=0.05)
    assert charge.sd_uj == pytest.approx(0.408 * 40_000, rel=0.05)
    assert (charge.seq, charge.window) == (0, 0)


def test_no_tick_is_not_zero():
    machine = Machine()
    meter = meter_on(machine)
    with meter.charge("tiny") as charge:
        machine.run(100, 20.0)
    assert charge.quality == "provisional"
    assert meter.flush() == [charge]
    assert charge.quality == "imputed"
    assert charge.uj == charge.provisional_uj == 2
    assert meter.flush() == []


def test_a_step_of_the_calendar_clock_does_not_show(monkeypatch):
    def stepped():
        raise AssertionError("durations come from monotonic clocks")

    cycle_count()  # compiles it
    monkeypatch.setattr(time, "time", stepped)
    monkeypatch.setattr(time, "time_ns", stepped)
    meter = SettlingMeter(CpuTimeCounter(10))
    with meter.charge("x") as charge:
        sum(range(10_000))
    meter.flush()
    assert charge.uj > 0
    counted = Counted(CpuTimeCounter(10))
    compiled = counted.attach("p", "a", (Named("x"),))
    ledger, limits = new_ledger(1), Limits(np.inf, np.inf, 0.0, True, 0)
    counted.begin(compiled, ledger)
    assert counted.finish(compiled, ledger, limits).counter_uj >= 0
    counted.close()


def test_an_exception_is_charged_too():
    machine = Machine()
    meter = meter_on(machine)
    with pytest.raises(KeyError), meter.charge("failing") as charge:
        machine.run(30 * MS, 20.0)
        raise KeyError
    assert charge.quality == "measured"


def test_a_counter_that_is_gone_from_the_start():
    machine = Machine()
    counter = Scripted(machine)
    counter.gone = True
    clocks = {"clock": lambda: machine.wall, "cpu_clock": lambda: machine.cpu}
    meter = SettlingMeter(counter, **clocks)
    for _ in range(3):
        with meter.charge("x") as charge:
            machine.run(30 * MS, 20.0)
    assert charge.quality == "imputed"
    counter.gone = False
    machine.run(30 * MS, 20.0)
    for _ in range(3):
        with meter.charge("x") as charge:
            machine.run(30 * MS, 20.0)
    assert charge.quality == "measured"


def test_a_stuck_counter_holds_nothing_back():
    machine = Machine()
    meter = meter_on(machine)
    meter.counter.stuck = True
    for _ in range(200):
        with meter.charge("x") as charge:
            machine.run(30 * MS, 20.0)
    assert charge.quality == "imputed"
    assert len(meter._segments) < 100


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.integers(1, 40 * MS),
            st.sampled_from([""] * 8 + ["reset", "gone", "back", "stuck"]),
        ),
        max_size=60,
    ),
    st.integers(0, MS),
)
def test_whatever_happens(applications, phase):
    machine = Machine(phase_ns=phase)
    meter = meter_on(machine)
    counter, charges = meter.counter, []
    for op, ns, event in applications:
        if event == "reset":
            counter.reset()
        counter.gone = (counter.gone or event == "gone") and event != "back"
        counter.stuck = counter.stuck != (event == "stuck")
        with meter.charge(op) as charge:
            machine.run(ns, 30.0)
        charges.append(charge)
    flushed = meter.flush()
    assert len(flushed) == len(charges)
    assert all(charge.uj >= 1 for charge in charges)
    assert all(np.isfinite(np.log(charge.uj)) for charge in charges)
    settled = {c.window for c in charges} - {None}
    assert len(settled) <= meter._windows
    assert sum(meter.totals().values()) <= machine.energy + 1
    if not any(event for _, _, event in applications) and flushed:
        assert all(c.quality != "provisional" for c in charges)
