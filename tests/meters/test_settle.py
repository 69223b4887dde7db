"""Settlement in virtual time: conservation, monotony, attribution, and every bad day."""

import gc
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core.meters.hostlock import MeterBusy
from eij_core.meters.meter import Provenance
from eij_core.meters.powers import Powers, Prior
from eij_core.meters.rescale import Base, apportion, rescale_ledger, rescale_rows
from eij_core.meters.settle import Counted
from eij_core.records import bin_edges, new_ledger, row_dtype
from tests.meters.virtual import Machine, Scripted, Trial

MS = 1_000_000


@pytest.fixture
def machine():
    return Machine()


def trial_on(machine, watts, **options):
    source = Scripted(machine, **{k: options.pop(k) for k in ("scope",) if k in options})
    return Trial(Counted(source, clocks=machine, **options), machine, watts)


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
    accounts = trial.counted.books.accounts_uj[:operators] * 1e-6
    booked = accounts + trial.counted.books.imputed[:operators]
    # Whole µJ against Joules: the remainders are carried, so the difference does not grow.
    np.testing.assert_allclose(trial.ledger.operator_joules, booked, atol=3e-6, rtol=1e-9)
    assert trial.ledger.histogram.sum() == len(rows)


# --- arithmetic ---


@given(
    st.integers(0, 10**15),
    st.lists(st.floats(0, 1e12), min_size=1, max_size=8),
)
def test_apportion_is_exact(total, parts):
    whole = apportion(total, np.array(parts))
    assert whole.sum() == total
    assert np.all(whole >= -1)


@given(st.integers(0, 10**9), st.lists(st.floats(0.001, 1e3), min_size=1, max_size=8))
def test_apportion_is_within_one(total, parts):
    exact = total * np.array(parts) / sum(parts)
    assert np.all(np.abs(apportion(total, np.array(parts)) - exact) < 1 + 1e-6)


def test_the_start_is_rescaled_with_the_first_window():
    rows = np.zeros(2, row_dtype(2))
    rows["operator"] = [-1, 1]
    rows["joules"] = [2.0, 3.0]
    rows["spent"] = [2.0, 5.0]
    rows["operator_joules"] = [[0, 0], [0, 3.0]]
    base = Base(0.0, np.zeros(2), np.zeros((2, 2048), np.int64))
    out = rescale_rows(rows, base, np.array([9.0, 2.0, 0.5]))
    assert out["joules"].tolist() == [1.0, 6.0]
    assert out["spent"].tolist() == [1.0, 7.0]
    assert rows["spent"].tolist() == [2.0, 5.0]


@pytest.mark.parametrize("by_joules", [True, False])
def test_the_ledger_moves_with_its_rows(by_joules):
    ledger = new_ledger(2)
    ledger.histogram[0, 1000] = 5
    base = Base.of(ledger)
    ledger.joules[0], ledger.mark[0] = 4.0, 4.5
    ledger.operator_joules[:] = [3.0, 1.0]
    ledger.histogram[0, 1000] += 3
    rescale_ledger(ledger, base, np.array([2.0, 1.0, 1.0]), by_joules)
    assert ledger.joules[0] == 7.0
    assert ledger.mark[0] == (7.5 if by_joules else 4.5)
    assert ledger.operator_joules.tolist() == [6.0, 1.0]
    assert ledger.histogram[0, 1000] == 5
    assert ledger.histogram[0, 1032] == 3
    assert bin_edges()[1032] == 2 * bin_edges()[1000]


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
    trial = trial_on(machine, [200.0])  # the source guesses 20
    trial.chunk([(0, 50 * MS)])
    assert trial.ledger.joules[0] == pytest.approx(10.0, rel=0.03)
    trial.chunk([(0, 50 * MS)])
    assert trial.settlements[1].factors[0] == pytest.approx(1.0, rel=0.03)
    assert [s.quality for s in trial.settlements] == ["measured", "measured"]


def test_overhead_is_an_account_of_its_own(machine):
    trial = trial_on(machine, [20.0])
    for _ in range(20):
        trial.chunk([(0, 30 * MS)], overhead_ns=10 * MS, overhead_watts=20.0)
    joules = trial.counted.joules()
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


def test_powers_come_apart_by_profiling_windows(machine):
    rng = np.random.default_rng(2)
    trial = trial_on(machine, [12.0, 18.0], prior=Prior.open(5))
    for k in range(40):
        trial.chunk([(k % 2, 50 * MS)], overhead_ns=2 * MS)
    ratios = trial.counted.powers.ratios()
    assert ratios[1] / ratios[0] == pytest.approx(1.5, rel=0.02)
    before = trial.ledger.operator_joules.copy(), trial.true.copy()
    for _ in range(60):
        trial.chunk([(o, 80_000 * (1 + 4 * o)) for o in rng.integers(0, 2, 150)], 4 * MS)
    trial.finish()
    moved = trial.ledger.operator_joules - before[0]
    np.testing.assert_allclose(moved, trial.true - before[1], rtol=0.05)
    check(trial)


def test_a_profile_tells_the_powers_of_the_next_run(machine):
    prior = Prior(np.array([0.8, 1.2, 1.0, 1.0, 1.0]), np.array([0.02, 0.02, 0.3, 0.3, 0.3]))
    trial = trial_on(machine, [12.0, 18.0], prior=prior)
    for _ in range(50):
        trial.chunk([(0, MS), (1, MS)] * 20)
    np.testing.assert_allclose(trial.ledger.operator_joules, trial.true, rtol=0.03)
    with pytest.raises(ValueError, match="accounts"):
        trial_on(machine, [1.0], prior=prior, sharing="shared")


def test_powers_come_apart_by_windows_alone(machine):
    """No profile: the mix of operators changes from window to window."""
    rng = np.random.default_rng(4)
    trial = trial_on(machine, [12.0, 18.0])
    for _ in range(600):
        first = int(rng.integers(5, 36))
        trial.chunk([(0, MS)] * first + [(1, MS)] * (40 - first), overhead_ns=2 * MS)
    ratios = trial.counted.powers.ratios()
    assert ratios[1] / ratios[0] == pytest.approx(1.5, rel=0.05)
    check(trial)


def test_overhead_has_a_power_of_its_own(machine):
    """A third of the operators'; what it does not draw must not be missing from theirs."""
    rng = np.random.default_rng(3)
    trial = trial_on(machine, [20.0, 20.0])
    for _ in range(400):
        busy = int(rng.integers(20, 40))
        trial.chunk([(0, MS // 2), (1, MS // 2)] * busy, (45 - busy) * MS // 2, 7.0)
    ratios = trial.counted.powers.ratios()
    assert ratios[-2] / ratios[0] == pytest.approx(0.35, abs=0.1)
    assert trial.ledger.operator_joules.sum() == pytest.approx(trial.true.sum(), rel=0.01)


def test_what_one_window_lacks_the_next_has_too_much():
    """Windows that end just before or just after a tick, by turns: no noise to the filter."""
    knowing, blind = Powers(Prior.unknown(4), 1.0), Powers(Prior.unknown(4), 1.0)
    cycles = np.array([10.0, 0, 0, 0])
    for k in range(40):
        knowing.learn(cycles, 10.4 if k % 2 else 9.6, tick_joules=0.8)
        blind.learn(cycles, 10.4 if k % 2 else 9.6)
    assert abs(knowing.rates[0] - 1.0) < 0.5 * abs(blind.rates[0] - 1.0)


def test_a_change_of_frequency_is_followed_at_once():
    powers = Powers(Prior.unknown(5), 1.0)
    for _ in range(50):
        powers.learn(np.array([3.0, 7.0, 0, 1.0, 0]), 11.0, 0.2)
    for _ in range(2):
        powers.learn(np.array([3.0, 7.0, 0, 1.0, 0]), 22.0, 0.2)
    np.testing.assert_allclose(powers.rates[:2], 2.0, rtol=0.03)


def test_powers_stay_within_reason():
    powers = Powers(Prior.unknown(3), 1.0)
    for _ in range(50):
        powers.learn(np.array([1.0, 0, 0]), 1.0)
        powers.learn(np.array([0.0, 1.0, 0]), 1000.0)
    assert powers.rates.min() > 0
    assert powers.shares(np.zeros(3)).tolist() == [0, 1, 0]
    before = powers.rates
    powers.learn(np.zeros(3), 1.0)  # a window in which nobody ran teaches nothing
    assert np.array_equal(powers.rates, before)


# --- the bad days ---


def test_pauses_are_nobodys_energy(machine):
    trial = trial_on(machine, [20.0])
    for _ in range(5):
        trial.chunk([(0, 50 * MS)])
        machine.run(1000 * MS, 5.0, on_cpu=False)
    trial.finish()
    check(trial)
    assert trial.ledger.joules[0] == pytest.approx(5.0, rel=0.02)
    assert trial.counted.joules()["away"] == pytest.approx(25.0, rel=0.01)
    assert trial.counted.books.quality["pause"] == 5


def test_time_off_the_cpu_is_not_the_operators(machine):
    trial = trial_on(machine, [20.0, 20.0])
    for _ in range(20):
        trial.counted.begin(trial.meter, trial.ledger)
        for o in (0, 1):
            trial.apply(o, 15 * MS)
        machine.run(10 * MS, 20.0, on_cpu=False)  # preempted between applications
        trial.publish(trial.counted.settle(trial.meter, trial.ledger, trial.limits))
    assert trial.counted.joules()["away"] == pytest.approx(4.0, rel=0.02)
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
    source = trial.counted.source
    good = [(0, 20 * MS), (1, 20 * MS)]
    for _ in range(5):
        trial.chunk(good)
    fine = trial.ledger.joules[0]
    trial.counted.begin(trial.meter, trial.ledger)
    trial.apply(0, 40 * MS)
    if fault == "reset":
        source.reset()
    elif fault == "vanished":
        source.gone = True
    elif fault == "suspended":
        machine.asleep += 10**12
    elif fault == "stuck":
        source.stuck = True
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
    source.gone = source.stuck = False
    for _ in range(6):
        trial.chunk(good)
    trial.finish()
    check(trial)
    assert trial.settlements[-2].quality == "attributed"
    assert trial.counted.books.quality[f"imputed: {fault}"] >= 1
    summary = trial.counted.summary()
    assert 0 < summary["imputed_share"] < 1
    assert trial.ledger.joules[0] == pytest.approx(trial.true.sum(), rel=0.05)


def test_a_counter_that_stops_in_the_middle_of_a_window(machine):
    trial = trial_on(machine, [20.0], min_ticks=100)
    trial.chunk([(0, 50 * MS)])
    trial.counted.source.stuck = True
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
    trial.counted.source.reset()
    assert trial.chunk([(0, 20 * MS)]).quality == "measured"
    assert trial.ledger.joules[0] == pytest.approx(0.8, rel=0.06)
    assert trial.counted.books.quality["reset in a pause"] == 1


def test_a_counter_lost_between_chunks(machine):
    trial = trial_on(machine, [20.0])
    trial.chunk([(0, 10 * MS)])
    trial.counted.source.gone = True
    trial.counted.begin(trial.meter, trial.ledger)
    trial.counted.source.gone = False
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
    source = counted.source
    for event, applications, overhead in days:
        if event == "pause":
            machine.run(20 * MS, 3.0, on_cpu=False)
        elif event == "reset":
            source.reset()
        elif event in ("gone", "back"):
            source.gone = event == "gone"
        elif event == "stuck":
            source.stuck = not source.stuck
        elif event == "suspend":
            machine.asleep += 10**9
        elif event == "thread":
            machine.thread, machine.cpu = machine.thread + 1, 17
        trial.chunk(applications, overhead)
    trial.finish()
    check(trial)
    assert trial.ledger.joules[0] > 0
    assert math.isfinite(counted.uncertainty().quantisation)
    counted.close()


# --- whose energy ---


def test_a_shared_package_is_attributed_by_cpu_time(machine):
    trial = trial_on(machine, [20.0], sharing="shared")
    for _ in range(40):
        machine.other_cpu += 60 * MS
        trial.chunk([(0, 60 * MS)])
    assert trial.counted.contention == pytest.approx(1.0, rel=0.1)
    assert trial.counted.info.provenance == Provenance.ATTRIBUTED
    assert trial.counted.joules()["others"] == pytest.approx(24.0, rel=0.1)
    total = sum(s.counter_uj for s in trial.settlements)
    assert trial.counted.books.accounts_uj.sum() == total
    check(trial)


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
    assert trial.counted.contention == 0.0


# --- what is told ---


def test_uncertainty_keeps_its_two_parts_apart(machine):
    trial = trial_on(machine, [20.0])
    for _ in range(10):
        trial.chunk([(0, 40 * MS)])
    known = trial.counted.uncertainty("op-0")
    assert known.joules == pytest.approx(8.0, rel=0.01)
    assert known.low == pytest.approx(known.joules / 1.1)
    assert known.high == pytest.approx(known.joules * 1.1)
    assert 0.408 * 0.02 * 3 < known.quantisation < 0.2


def test_summary_is_plain_data(machine):
    import json

    trial = trial_on(machine, [20.0], refusals=[("perf", "no such PMU")])
    trial.chunk([(0, 40 * MS)])
    summary = json.loads(json.dumps(trial.counted.summary()))
    assert summary["provenance"] == "measured"
    assert summary["refusals"] == [["perf", "no such PMU"]]
    assert "perf refused: no such PMU" in summary["notes"]
