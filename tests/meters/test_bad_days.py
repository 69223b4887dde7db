"""Whole runs on bad days: the budget is right, ln E finite, and the user is told."""

import math
import time

import numpy as np
import pytest

from eij_core.cli.shared import summaries as tables
from eij_core.errors import MeterUnavailable
from eij_core.meters.counters.counter import CumulativeCounter, Domain
from eij_core.meters.settlement import window
from eij_core.meters.settlement.clocks import RealClocks
from eij_core.meters.settlement.counted import Counted
from eij_core.protocols import EnergyInfo, Provenance
from eij_core.run import Run
from eij_core.trial import Trial

pytestmark = pytest.mark.long

WATTS, TICK_NS, RANGE = 50.0, 1_000_000, 10**9
GOOD_NS = 150_000_000
"""How long the counter behaves before its bad day begins."""


class Fading:
    """A package and its DRAM on the real clock, until something happens to them."""

    def __init__(self, fault: str) -> None:
        self.fault, self.watts = fault, WATTS
        self.info = EnergyInfo(
            "powercap",
            Provenance.MEASURED,
            ("package-0", "package-0/dram"),
            "package",
            TICK_NS,
            1.0,
            rel_uncertainty=0.1,
        )
        self.started = time.monotonic_ns()
        self.first_read, self.bad = 0, False
        domains = [Domain("package-0", RANGE, 150.0), Domain("package-0/dram", RANGE, 150.0)]
        self._tally = CumulativeCounter(self._raws, domains)

    @property
    def breaks(self) -> int:
        return self._tally.breaks

    @property
    def origin_uj(self) -> int:
        return self._tally.origin_uj

    def _raws(self) -> list[int]:
        elapsed = time.monotonic_ns() - self.started
        bad, fault = self.bad, self.fault
        if bad and fault == "a file vanishes":
            raise MeterUnavailable("gone")
        if bad and fault == "DRAM alone vanishes" and elapsed % 7:
            raise MeterUnavailable("no dram")
        if bad and fault == "stops":
            elapsed = self.first_read + GOOD_NS - self.started
        raw = int(elapsed // TICK_NS * TICK_NS * WATTS * 0.5 / 1000.0)
        start = RANGE - 2_000_000 if fault == "wraps" else RANGE // 2
        package = (start + raw) % (RANGE + 1)
        if bad and fault == "is reset":
            package = raw
        if bad and fault == "falls again and again":
            package -= 5_000_000 * (elapsed // 70_000_000 % 2)
        return [package, start + raw]

    def end_chunk(self) -> None:
        """Begin the bad day, if it is late enough: between chunks it would be a pause's."""
        self.bad |= bool(self.first_read) and time.monotonic_ns() - self.first_read > GOOD_NS

    def read_uj(self) -> int:
        self.first_read = self.first_read or time.monotonic_ns()
        return self._tally.read_uj()

    def close(self) -> None:
        pass


class Watched(Counted):
    """Calls its counter at the end of a chunk."""

    def settle(self, *arguments, **options):
        self.counter.end_chunk()
        return super().settle(*arguments, **options)


class Sleepy(RealClocks):
    """Clocks of a machine that was suspended for an hour in mid-run."""

    def __init__(self, counter: Fading) -> None:
        self.counter = counter

    def now(self):
        now = super().now()
        return now._replace(asleep_ns=3600 * 10**9 * self.counter.bad)


def carried_out(fault, budget="30 J"):
    counter = Fading(fault)
    clocks = Sleepy(counter) if fault == "is suspended" else RealClocks()
    counted = Watched(counter, clocks=clocks)
    trial = Trial("nk:n=20,k=3", "ssga", "eij", counted, budget, seed=1)
    run = Run(trial, compiled=False)
    for _ in run:
        pass
    return run, run.result()


def is_right(run, result, budget):
    rows = run.rows()
    known = rows["joules"][~np.isnan(rows["joules"])]
    assert np.all(np.isfinite(np.log(known)))
    assert np.all(np.isfinite(run.stats.log_joules))
    assert np.all(np.diff(rows["spent"]) >= 0)
    assert result.reason == "joules spent"
    assert budget <= result.spent.joules < 1.5 * budget + 1.0
    energy = result.energy
    booked = sum(energy["joules"][name] for name in (*run.names, "start"))
    assert booked + energy["imputed_joules"] == pytest.approx(result.spent.joules, rel=1e-3)
    assert all(joules >= 0 for joules in energy["joules"].values())


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("a file vanishes", "vanished"),
        ("DRAM alone vanishes", "vanished"),
        ("stops", "stuck"),
        ("is reset", "reset"),
        ("falls again and again", "reset"),
        ("is suspended", "suspended"),
    ],
)
def test_a_bad_day(monkeypatch, capsys, fault, why):
    monkeypatch.setattr(window, "STUCK_NS", 100_000_000)
    run, result = carried_out(fault)
    is_right(run, result, 30.0)
    energy = result.energy
    assert energy["quality"][f"imputed: {why}"] >= 1
    assert 0 < energy["imputed_share"] <= 1
    # What the counter said while it was well stays; nothing was counted twice.
    lasted = (time.monotonic_ns() - run.meter.counter.started) * 1e-9
    assert sum(energy["joules"].values()) < WATTS * lasted
    tables.show([result.to_dict()])
    told = capsys.readouterr().out
    assert "imputed" in told and why in told
    assert "overhead" in told


def test_a_wrap_is_no_bad_day():
    run, result = carried_out("wraps", "20 J")
    is_right(run, result, 20.0)
    assert "imputed: reset" not in result.energy["quality"]
    lasted = (time.monotonic_ns() - run.meter.counter.started) * 1e-9
    assert sum(result.energy["joules"].values()) < WATTS * lasted


@pytest.mark.parametrize("budget", ["1e-9 J", "0.001 J"])
def test_a_budget_below_one_tick(budget):
    run, result = carried_out("none", budget)
    assert result.spent.joules > 0
    assert math.isfinite(result.spent.overshoot)
    assert result.spent.overshoot < 5.0
    assert np.all(np.isfinite(np.log(run.rows()["joules"][:1])))
