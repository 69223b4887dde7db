"""Settlement in virtual time: conservation, monotony, attribution, and every bad day."""

import gc
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core.meters.counters.host_lock import MeterBusy
from eij_core.meters.settlement.counted import Counted
from eij_core.protocols import Provenance
from tests.meters.virtual import MS, Machine, Scripted, Trial, check, trial_on


@pytest.fixture
def machine():
    return Machine()


# --- the good days ---


def test_joules_of_equal_powers(machine):
    rng = np.random.default_rng(1)
    trial = trial_on(machine, [30.0, 30.0, 30.0])
    durations = np.array([2e3, 20e3, 300e3])
    for _ in range(100):
        picks = rng.integers(0, 3, 150)
        noise = rng.lognormal(0, 0.1, 150)
        trial.chunk([(o, durations[o] * x) for o, x in zip(picks, noise, strict=True)])
    trial.finish()
    check(trial)
    np.testing.assert_allclose(trial.ledger.operator_joules, trial.true, rtol=0.03)
    errors = np.abs(trial.rows["joules"] / np.array(trial.truths) - 1)
    assert np.median(errors) < 0.02
    assert np.quantile(errors, 0.95) < 0.05


def test_the_first_guess_of_the_power_is_mended(machine):
    trial = trial_on(machine, [200.0])  # the counter guesses 20
    trial.chunk([(0, 50 * MS)])
    assert trial.ledger.joules[0] == pytest.approx(10.0, rel=0.03)
    trial.chunk([(0, 50 * MS)])
    assert trial.settlements[1].factors[0] == pytest.approx(1.0, rel=0.03)
    assert [s.quality for s in trial.settlements] == ["measured", "measured"]


def test_overhead_is_an_account_of_its_own(machine):
    trial = trial_on(machine, [20.0])
    for _ in range(20):
        trial.chunk([(0, 30 * MS)], overhead_ns=10 * MS, overhead_watts=20.0)
    joules = trial.counted.accounts.joules()
    assert joules["overhead"] == pytest.approx(20 * 0.2, rel=0.02)
    assert joules["op-0"] == pytest.approx(20 * 0.6, rel=0.02)
    assert joules["others"] == 0


def test_short_chunks_gather_until_the_counter_has_ticked_enough(machine):
    trial = trial_on(machine, [20.0])
    open_ = [trial.chunk([(0, MS // 10)]) is None for _ in range(199)]
    assert all(open_[:198])
    trial.chunk([(0, 2 * MS)])
    trial.finish()
    check(trial)


def test_a_window_without_a_tick_is_imputed_at_the_end(machine):
    trial = trial_on(machine, [20.0])
    trial.chunk([(0, 1000)])
    assert trial.finish().quality == "imputed: no tick"
    assert trial.ledger.joules[0] == pytest.approx(20e-6)
    assert trial.counted.summary()["imputed_share"] == 1.0
    check(trial)


# --- the bad days ---


def test_pauses_are_nobodys_energy(machine):
    trial = trial_on(machine, [20.0])
    for _ in range(5):
        trial.chunk([(0, 50 * MS)])
        machine.run(1000 * MS, 5.0, on_cpu=False)
    trial.finish()
    check(trial)
    assert trial.ledger.joules[0] == pytest.approx(5.0, rel=0.02)
    assert trial.counted.accounts.joules()["away"] == pytest.approx(25.0, rel=0.01)
    assert trial.counted.accounts.quality["pause"] == 5


def test_time_off_the_cpu_is_not_the_operators(machine):
    trial = trial_on(machine, [20.0, 20.0])
    for _ in range(20):
        trial.counted.begin(trial.meter, trial.ledger)
        for o in (0, 1):
            trial.apply(o, 15 * MS)
        machine.run(10 * MS, 20.0, on_cpu=False)  # preempted between applications
        trial.publish(trial.counted.settle(trial.meter, trial.ledger, trial.limits))
    assert trial.counted.accounts.joules()["away"] == pytest.approx(4.0, rel=0.02)
    np.testing.assert_allclose(trial.ledger.operator_joules, [6.0, 6.0], rtol=0.02)
    # Preempted inside an application, below the guard: the chunk is scaled by its CPU time.
    before = trial.ledger.operator_joules.copy()
    for _ in range(20):
        trial.counted.begin(trial.meter, trial.ledger)
        machine.run(10 * MS, 20.0, on_cpu=False)
        trial.meter.cycles[0] += 20 * MS
        trial.apply(0, 30 * MS)
        trial.publish(trial.counted.settle(trial.meter, trial.ledger, trial.limits))
    moved = trial.ledger.operator_joules - before
    assert moved[0] == pytest.approx(20 * 0.6 * 0.75, rel=0.05)


@pytest.mark.parametrize(
    "fault", ["reset", "vanished", "suspended", "stuck", "stolen", "moved to another machine"]
)
def test_a_window_that_cannot_be_trusted_is_imputed(machine, fault):
    trial = trial_on(machine, [20.0, 20.0])
    counter = trial.counted.counter
    good = [(0, 20 * MS), (1, 20 * MS)]
    for _ in range(5):
        trial.chunk(good)
    fine = trial.ledger.joules[0]
    trial.counted.begin(trial.meter, trial.ledger)
    trial.apply(0, 40 * MS)
    if fault == "reset":
        counter.reset()
    elif fault == "vanished":
        counter.gone = True
    elif fault == "suspended":
        machine.asleep += 10**12
    elif fault == "stuck":
        counter.stuck = True
        trial.apply(0, 2000 * MS)
    elif fault == "stolen":
        trial.apply(0, 500 * MS)
        machine.stolen += 400 * MS
    else:
        trial.apply(0, 500 * MS)
        machine.identity = ("another boot", "cpu")
    settlement = trial.publish(trial.counted.settle(trial.meter, trial.ledger, trial.limits))
    for _ in range(60):
        if settlement is not None:
            break
        settlement = trial.chunk([(0, 40 * MS)])
    assert settlement.quality == f"imputed: {fault}"
    assert settlement.counter_uj == 0
    assert trial.ledger.joules[0] - fine == pytest.approx(trial.true.sum() - fine, rel=0.05)
    counter.gone = counter.stuck = False
    for _ in range(6):
        trial.chunk(good)
    trial.finish()
    check(trial)
    assert trial.settlements[-2].quality == "attributed"
    assert trial.counted.accounts.quality[f"imputed: {fault}"] >= 1
    summary = trial.counted.summary()
    assert 0 < summary["imputed_share"] < 1
    assert trial.ledger.joules[0] == pytest.approx(trial.true.sum(), rel=0.05)


def test_a_counter_that_stops_in_the_middle_of_a_window(machine):
    trial = trial_on(machine, [20.0], min_ticks=100)
    trial.chunk([(0, 50 * MS)])
    trial.counted.counter.stuck = True
    for _ in range(30):
        settlement = trial.chunk([(0, 50 * MS)])
        if settlement:
            break
    assert settlement.quality == "imputed: stuck"
    trial.finish()
    check(trial)


def test_a_reset_in_a_pause_spoils_nothing(machine):
    trial = trial_on(machine, [20.0], min_ticks=30)
    trial.chunk([(0, 20 * MS)])
    machine.run(10_000 * MS, 5.0, on_cpu=False)
    machine.asleep += 10**12
    trial.counted.counter.reset()
    assert trial.chunk([(0, 20 * MS)]).quality == "measured"
    assert trial.ledger.joules[0] == pytest.approx(0.8, rel=0.06)
    assert trial.counted.accounts.quality["reset in a pause"] == 1


def test_a_counter_lost_between_chunks(machine):
    trial = trial_on(machine, [20.0])
    trial.chunk([(0, 10 * MS)])
    trial.counted.counter.gone = True
    trial.counted.begin(trial.meter, trial.ledger)
    trial.counted.counter.gone = False
    trial.apply(0, 30 * MS)
    settlement = trial.counted.settle(trial.meter, trial.ledger, trial.limits)
    assert settlement.quality == "imputed: vanished"


def test_another_thread_has_another_clock(machine):
    trial = trial_on(machine, [20.0], scope="thread")
    trial.chunk([(0, 30 * MS)])
    machine.thread, machine.cpu = 2, 0
    trial.chunk([(0, 30 * MS)])
    trial.finish()
    check(trial)
    assert trial.ledger.joules[0] == pytest.approx(1.2, rel=0.05)


def test_settle_needs_begin(machine):
    trial = trial_on(machine, [20.0])
    with pytest.raises(RuntimeError, match="begin"):
        trial.counted.settle(trial.meter, trial.ledger, trial.limits)


@st.composite
def days(draw):
    """What may happen to a run, chunk by chunk."""
    events = ["chunk"] * 6 + ["pause", "reset", "gone", "back", "stuck", "suspend", "thread"]
    return draw(
        st.lists(
            st.tuples(
                st.sampled_from(events),
                st.lists(
                    st.tuples(st.integers(0, 2), st.integers(100, 30 * MS)), min_size=1, max_size=6
                ),
                st.integers(0, 5 * MS),
            ),
            min_size=1,
            max_size=25,
        )
    )


@given(days(), st.sampled_from(["exclusive", "shared"]), st.integers(0, MS))
def test_whatever_happens(days, sharing, phase):
    machine = Machine(phase_ns=phase)
    counted = Counted(Scripted(machine), clocks=machine, sharing=sharing)
    trial = Trial(counted, machine, [5.0, 20.0, 80.0])
    counter = counted.counter
    for event, applications, overhead in days:
        if event == "pause":
            machine.run(20 * MS, 3.0, on_cpu=False)
        elif event == "reset":
            counter.reset()
        elif event in ("gone", "back"):
            counter.gone = event == "gone"
        elif event == "stuck":
            counter.stuck = not counter.stuck
        elif event == "suspend":
            machine.asleep += 10**9
        elif event == "thread":
            machine.thread, machine.cpu = machine.thread + 1, 17
        trial.chunk(applications, overhead)
    trial.finish()
    check(trial)
    assert trial.ledger.joules[0] > 0
    assert math.isfinite(counted.accounts.summary()["quantisation_sd"])
    counted.close()


# --- whose energy ---


def test_a_shared_package_is_attributed_by_cpu_time(machine):
    trial = trial_on(machine, [20.0], sharing="shared")
    for _ in range(40):
        machine.other_cpu += 60 * MS
        trial.chunk([(0, 60 * MS)])
    assert trial.counted.summary()["contention"] == pytest.approx(1.0, rel=0.1)
    assert trial.counted.info.provenance == Provenance.ATTRIBUTED
    assert trial.counted.accounts.joules()["others"] == pytest.approx(24.0, rel=0.1)
    total = sum(s.counter_uj for s in trial.settlements)
    assert trial.counted.accounts.settled_uj.sum() == total
    check(trial)


@pytest.mark.long
def test_one_measured_run_at_a_time(machine):
    first = Counted(Scripted(machine), clocks=machine)
    late = Scripted(machine)
    with pytest.raises(MeterBusy, match="holds"):
        Counted(late, clocks=machine)
    assert late.closed
    second = Counted(Scripted(machine), clocks=machine, sharing="shared")
    second.close()
    first.close()
    third = Counted(Scripted(machine), clocks=machine)
    del third
    gc.collect()
    Counted(Scripted(machine), clocks=machine).close()


def test_contention_is_told(machine):
    trial = trial_on(machine, [20.0])
    for _ in range(20):
        machine.other_cpu += 10 * MS
        trial.chunk([(0, 100 * MS)])
    summary = trial.counted.summary()
    assert summary["contention"] == pytest.approx(0.1, rel=0.1)
    assert summary["quality"]["contended"] >= 3
    assert summary["sharing"] == "exclusive"


def test_no_proc_stat(machine, monkeypatch):
    monkeypatch.setattr(machine, "host", lambda: None)
    trial = trial_on(machine, [20.0])
    for _ in range(20):
        trial.chunk([(0, 100 * MS)])
    assert trial.counted.summary()["contention"] == 0.0


# --- what is told ---


def test_uncertainty_keeps_its_two_parts_apart(machine):
    trial = trial_on(machine, [20.0])
    for _ in range(10):
        trial.chunk([(0, 40 * MS)])
    accounts = trial.counted.accounts
    known, joules = accounts.uncertainty("op-0"), accounts.joules()["op-0"]
    assert joules == pytest.approx(8.0, rel=0.01)
    assert known["band"] == pytest.approx([joules / 1.1, joules * 1.1])
    assert 0.408 * 0.02 * 3 < known["quantisation_sd"] < 0.2


def test_summary_is_plain_data(machine):
    import json

    trial = trial_on(machine, [20.0], refusals=[("perf", "no such PMU")])
    trial.chunk([(0, 40 * MS)])
    summary = json.loads(json.dumps(trial.counted.summary()))
    assert summary["provenance"] == "measured"
    assert summary["refusals"] == [["perf", "no such PMU"]]
    assert "perf refused: no such PMU" in summary["notes"]
