"""The compiled meter: the guard against preemption, and replayed charges."""

import math
import time

import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from eij_core.engine.cpu_clocks import cycle_count, thread_ns
from eij_core.engine.rng import streams_for
from eij_core.engine.rows import Limits, new_ledger
from eij_core.errors import InputError
from eij_core.metering import ReplayDiverged, charges_of
from eij_core.meters import meter as module
from eij_core.meters.meter import scripted, timed
from eij_core.meters.replay import Replay
from eij_core.protocols import Outcome
from eij_core.registry import meters
from tests.meters.virtual import Named

NOTHING = Outcome(0.0, 1, 0, np.zeros(0))
FREE = Limits(math.inf, math.inf, 0.0, True, 0)


def test_time_off_the_cpu_is_not_charged(monkeypatch):
    """Cycles of 2 per ns; a long application of which half was somebody else's."""
    clock = {"cycles": 0, "cpu": 0}
    monkeypatch.setattr(module, "cycle_count", lambda: clock["cycles"])
    monkeypatch.setattr(module, "thread_ns", lambda: clock["cpu"])
    meter = timed(1, 1e-9, long=1000, per_ns=2.0)
    rng = streams_for(1).noise
    for wall, cpu, expected, cut in (
        (100, 100, 200, 0),  # short: not looked at
        (1000, 1000, 2000, 0),  # long, and on the CPU
        (100, 90, 200, 0),
        (3000, 1000, 1980, 1),  # interrupted; a little of it before
        (2000, 2000, 4000, 1),
        (9000, 0, 635, 2),  # all of it somebody else's, they say: charged as usual
    ):
        meter.cycles[:] = 0
        mark = meter.start()
        clock["cycles"] += 2 * wall
        clock["cpu"] += cpu
        joules = meter.stop(mark, 0, NOTHING, rng)
        assert meter.cycles[0] == expected
        assert joules == pytest.approx(expected * 1e-9)
        assert meter.cut[0] == cut


@pytest.mark.compiled
def test_the_clocks_of_compiled_code():
    @numba.njit
    def both():
        return cycle_count(), thread_ns()

    first, cpu = both()
    assert abs(cpu - time.thread_time_ns()) < 100_000_000
    assert first < both()[0] < cycle_count()
    assert both()[1] <= time.thread_time_ns()


def test_the_clock_runs_and_charges_are_positive():
    meter = timed(2, 1e-9)
    rng = streams_for(1).noise
    joules = [meter.stop(meter.start(), 1, NOTHING, rng) for _ in range(50)]
    assert min(joules) > 0
    assert meter.cycles[1] > 0
    assert meter.cycles[0] == 0
    assert cycle_count() < cycle_count()


def test_a_replay_repeats_and_notices_divergence():
    replay = Replay([1, 0], [0.5, 0.25], start=2.0)
    replayed = charges_of(replay, "p", "a", (Named("x"), Named("y")))
    meter, ledger, rng = replayed.compiled, new_ledger(2), streams_for(1).noise
    replayed.begin(ledger)
    charges = [meter.stop(0, o, NOTHING, rng) for o in (2, 1, 0)]
    assert charges == [2.0, 0.5, 0.25]
    assert replayed.settle([], ledger, FREE) == []
    assert meter.stop(0, 0, NOTHING, rng) > 0  # past the end
    with pytest.raises(ReplayDiverged, match="every=1"):
        replayed.finish([], ledger, FREE)
    assert replay.info.provenance == "replayed"
    assert replayed.summary() == {}


def test_a_clocked_meter_needs_the_hooks_of_a_counted_one():
    class Careless:
        def attach(self, problem, algorithm, operators):
            return timed(len(operators), 1e-9)

    with pytest.raises(InputError, match=r"Careless: expected begin, .*CountedMeter"):
        charges_of(Careless(), "p", "a", (Named("x"),))


def test_a_replay_of_another_operator_diverges_for_good():
    meter = scripted(np.zeros(2), np.array([1, 0]), np.array([0.5, 0.25]), 0.1)
    rng = streams_for(1).noise
    for o in (2, 0, 1):
        assert meter.stop(0, o, NOTHING, rng) > 0
    assert meter.position[0] == -1


@pytest.mark.parametrize("joules", [[1.0, 0.0], [1.0], [1.0, math.nan]])
def test_a_record_needs_joules(joules):
    with pytest.raises(InputError, match="Joules above 0"):
        Replay([0, 1], joules)


def test_replay_from_a_file(tmp_path):
    def write(name, **columns):
        path = tmp_path / name
        pyarrow.parquet.write_table(pa.table(columns), path)
        return path

    good = write("run.parquet", joules=[3.0, 1.0, 2.0], operator=[-1, 0, 1], decision=[0, 1, 2])
    replay = meters.make(f"replay:file={good}")
    assert replay.start == 3.0
    assert replay.joules.tolist() == [1.0, 2.0]
    assert replay.info.notes == ("from run.parquet",)
    assert meters.is_private("replay")
    grid = write("grid.parquet", joules=[1.0, 2.0], operator=[0, 1], decision=[1, 5])
    lacking = write("lacking.parquet", joules=[1.0], decision=[1])
    for path, text in ((grid, "every decision"), (lacking, "Parquet"), (tmp_path / "x", "Parquet")):
        with pytest.raises(InputError, match=text):
            meters.make(f"replay:file={path}")
