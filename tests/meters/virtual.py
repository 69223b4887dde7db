"""A machine in virtual time: clocks, operators of known power, and a counter that ticks."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

from eij_core.engine.loop import spend
from eij_core.engine.rows import Limits, new_ledger, row_dtype
from eij_core.errors import MeterUnavailable
from eij_core.meters.counters.host import Ticks
from eij_core.meters.settlement.clocks import Instant
from eij_core.meters.settlement.counted import Counted
from eij_core.protocols import EnergyInfo, Outcome, Provenance

MS = 1_000_000
CYCLES_PER_NS = 2


class Named(NamedTuple):
    name: str


class Machine:
    """Clocks, and the energy that a counter of `tick_ns` and `unit_uj` shows of it."""

    def __init__(self, tick_ns=1_000_000, unit_uj=61.0, phase_ns=0):
        self.tick_ns, self.unit_uj = tick_ns, unit_uj
        self.wall, self.cpu, self.asleep, self.thread = phase_ns, 0, 0, 1
        self.energy = 0.0
        self.latched = 0.0
        self.other_cpu = self.stolen = 0
        self.identity = ("boot", "cpu")

    def run(self, ns, watts, on_cpu=True):
        ns = int(ns)
        to_tick = (self.wall + ns) // self.tick_ns * self.tick_ns - self.wall
        if to_tick > 0:
            self.latched = self.energy + watts * to_tick / 1000.0
        self.energy += watts * ns / 1000.0
        self.wall += ns
        self.cpu += ns * on_cpu

    # Clocks

    def now(self):
        return Instant(self.wall, self.cpu, self.wall * CYCLES_PER_NS, self.asleep, self.thread)

    def host(self):
        busy = self.cpu + self.other_cpu
        return Ticks(busy, self.stolen, max(busy + self.stolen, self.wall))

    def machine(self):
        return self.identity

    def frequency(self):
        return float(CYCLES_PER_NS)


class Scripted:
    """A counter on such a machine, with the faults of a real one."""

    origin_uj = 0
    idle_watts = 0.0

    def __init__(self, machine, scope="package", watts=20.0):
        self.machine, self.watts = machine, watts
        self.breaks, self.gone, self.stuck, self.offset = 0, False, False, 0
        self.closed = False
        self._last = 0
        self.info = EnergyInfo(
            "scripted",
            Provenance.MEASURED,
            ("package-0",),
            scope,
            machine.tick_ns,
            machine.unit_uj,
            rel_uncertainty=0.1,
        )

    def read_uj(self):
        if self.gone:
            raise MeterUnavailable("gone")
        if not self.stuck:
            unit = self.machine.unit_uj
            self._last = int(math.floor(self.machine.latched / unit) * unit) + self.offset
        return self._last

    def reset(self):
        self.breaks += 1

    def close(self):
        self.closed = True


class Trial:
    """What `Run` does around the loop, with virtual operators."""

    def __init__(self, counted, machine, watts, limits=None):
        self.counted, self.machine, self.watts = counted, machine, np.asarray(watts, float)
        self.operators = len(self.watts)
        names = tuple(Named(f"op-{o}") for o in range(self.operators))
        self.meter = counted.attach("p", "a", names)
        self.ledger = new_ledger(self.operators)
        self.limits = limits or Limits(math.inf, math.inf, 0.0, True, 0)
        self.true = np.zeros(self.operators)
        self.held, self.published, self.settlements = [], [], []
        self.charges, self.truths = [], []

    def apply(self, o, ns, watts=None):
        """One application: in the loop, this is meter.start … stop, spend, record."""
        watts = self.watts[o] if watts is None else watts
        self.machine.run(ns, watts)
        cycles = int(ns) * CYCLES_PER_NS
        self.meter.cycles[o] += cycles
        joules = max(self.meter.rate[o] * cycles, 1e-12)
        spend(self.ledger, o, Outcome(0.0, 1, 0, np.zeros(0)), joules)
        self.true[o] += watts * ns * 1e-9
        row = np.zeros(1, row_dtype(self.operators))
        row["decision"], row["operator"], row["joules"] = self.ledger.decisions[0], o, joules
        row["spent"] = self.ledger.joules[0]
        row["operator_joules"] = self.ledger.operator_joules
        row["applications"] = self.ledger.applications
        self.held.append(row)
        self.truths.append(watts * ns * 1e-9)

    def chunk(self, applications, overhead_ns=0, overhead_watts=10.0):
        self.counted.begin(self.meter, self.ledger)
        for o, ns in applications:
            self.apply(o, ns)
        self.machine.run(overhead_ns, overhead_watts)
        return self.publish(self.counted.settle(self.meter, self.ledger, self.limits))

    def finish(self):
        self.counted.begin(self.meter, self.ledger)
        return self.publish(self.counted.finish(self.meter, self.ledger, self.limits))

    def publish(self, settlement):
        if settlement is not None:
            self.settlements.append(settlement)
            if self.held:
                self.published.append(settlement.rescale(np.concatenate(self.held)))
                self.held = []
        return settlement

    @property
    def rows(self):
        return np.concatenate(self.published)


def domains_uj(counter):
    """Read a counter of registers; return the µJ since opening by domain."""
    counter.read_uj()
    return {register.domain.name: register.total_uj for register in counter.registers}


def trial_on(machine, watts, **options):
    counter = Scripted(machine, **{k: options.pop(k) for k in ("scope",) if k in options})
    return Trial(Counted(counter, clocks=machine, **options), machine, watts)


def check(trial):
    """What must hold whatever happened."""
    settled = sum(s.counter_uj for s in trial.settlements)
    assert sum(int(s.accounts_uj.sum()) for s in trial.settlements) == settled
    rows = trial.rows
    assert np.all(rows["joules"] > 0)
    assert np.all(np.isfinite(np.log(rows["joules"])))
    assert np.all(np.diff(rows["spent"]) >= 0)
    assert np.all(np.diff(rows["operator_joules"], axis=0) >= -1e-12)
    operators = trial.operators
    assert rows["spent"][-1] == pytest.approx(trial.ledger.joules[0])
    np.testing.assert_allclose(rows["operator_joules"][-1], trial.ledger.operator_joules)
    assert trial.ledger.operator_joules.sum() == pytest.approx(rows["joules"].sum())
    accounts = trial.counted.accounts.settled_uj[:operators] * 1e-6
    booked = accounts + trial.counted.accounts.imputed[:operators]
    # Whole µJ against Joules: the remainders are carried, so the difference does not grow.
    np.testing.assert_allclose(trial.ledger.operator_joules, booked, atol=3e-6, rtol=1e-9)
    assert trial.ledger.histogram.sum() == len(rows)
