"""The compiled meter: the guard against preemption, and replayed charges."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core.errors import InputError
from eij_core.meters.meter import UNUSUAL, cycle_count, guarded, scripted, timed
from eij_core.meters.replay import Replay, ReplayDiverged
from eij_core.records import Limits, Outcome, new_ledger
from eij_core.registry import meters
from eij_core.rng import streams_for
from tests.meters.virtual import Named

NOTHING = Outcome(0.0, 1, 0, np.zeros(0))
FREE = Limits(math.inf, math.inf, 0.0, True, 0)


def test_the_usual_is_a_high_quantile():
    rng = np.random.default_rng(5)
    usual, cut = np.zeros(1), np.zeros(1, np.int64)
    for cycles in rng.lognormal(7, 0.3, 5000).astype(int):
        guarded(usual, cut, 0, int(cycles))
    assert cut[0] == 0
    # ln 1.9 ≈ 1.28 × 0.3 + the jitter of the steps
    assert 0.9 < usual[0] / math.exp(7) < 2.5


def test_an_interrupted_application_is_charged_as_a_usual_one():
    usual, cut = np.zeros(1), np.zeros(1, np.int64)
    rng = np.random.default_rng(6)
    charged = 0
    for k in range(10_000):
        cycles = int(500 * rng.lognormal(0, 0.2))
        charged += guarded(usual, cut, 0, 10**8 if k % 1000 == 999 else cycles)
    assert cut[0] == 10
    assert charged / 10_000 == pytest.approx(510, rel=0.03)


def test_a_long_path_taken_now_and_then_is_not_cut_for_long():
    """One application in five takes 100 times longer, and means it."""
    usual, cut = np.zeros(1), np.zeros(1, np.int64)
    rng = np.random.default_rng(7)
    for _ in range(5000):
        guarded(usual, cut, 0, 50_000 if rng.random() < 0.2 else 500)
    assert cut[0] < 100


@given(st.lists(st.integers(1, 2**40), min_size=1, max_size=60))
def test_whatever_comes_a_charge_is_positive_and_no_larger(cycles):
    usual, cut = np.zeros(1), np.zeros(1, np.int64)
    for c in cycles:
        limit = usual[0]
        kept = guarded(usual, cut, 0, c)
        assert 1 <= kept <= c
        assert kept == c or c > UNUSUAL * limit
    assert cut[0] < len(cycles)


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
    meter = replay.attach("p", "a", (Named("x"), Named("y")))
    ledger, rng = new_ledger(2), streams_for(1).noise
    replay.begin(meter, ledger)
    charges = [meter.stop(0, o, NOTHING, rng) for o in (2, 1, 0)]
    assert charges == [2.0, 0.5, 0.25]
    replay.settle(meter, ledger, FREE)
    assert meter.stop(0, 0, NOTHING, rng) > 0  # past the end
    with pytest.raises(ReplayDiverged, match="every=1"):
        replay.finish(meter, ledger, FREE)
    replay.close()
    assert replay.info.provenance == "replayed"


def test_a_replay_of_another_operator_diverges_for_good():
    meter = scripted(2, np.array([1, 0]), np.array([0.5, 0.25]), 0.1)
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
