"""Powers of operators and of overhead, learnt from windows in virtual time."""

import numpy as np
import pytest

from eij_core.meters.settlement.powers import Powers, Prior
from tests.meters.virtual import MS, Machine, check, trial_on


@pytest.fixture
def machine():
    return Machine()


def test_powers_come_apart_by_profiling_windows(machine):
    rng = np.random.default_rng(2)
    trial = trial_on(machine, [12.0, 18.0], prior=Prior.open(2))
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
    for _ in range(150):
        first = int(rng.integers(5, 36))
        trial.chunk([(0, MS)] * first + [(1, MS)] * (40 - first), overhead_ns=2 * MS)
    powers = trial.counted.powers
    assert powers.ratios()[1] / powers.ratios()[0] == pytest.approx(1.5, rel=0.03)
    assert powers.spreads()[:2].max() < 0.03
    # The first windows were divided by cycles alone; they are few.
    np.testing.assert_allclose(trial.ledger.operator_joules, trial.true, rtol=0.03)
    check(trial)


def test_equal_powers_are_not_taken_for_different_ones(machine):
    """Nearly the same mix in every window tells little, and noise must not be believed."""
    rng = np.random.default_rng(6)
    trial = trial_on(machine, [15.0, 15.0])
    for _ in range(150):
        first = int(rng.binomial(2000, 0.5))
        trial.chunk([(0, first * 10_000), (1, (2000 - first) * 10_000)], overhead_ns=MS)
    ratios = trial.counted.powers.ratios()
    assert ratios[1] / ratios[0] == pytest.approx(1.0, abs=0.03)
    check(trial)


def test_powers_that_change_in_mid_run_are_believed_in_the_end(machine):
    """However long they were alike before."""
    rng = np.random.default_rng(5)
    trial = trial_on(machine, [15.0, 15.0])
    for window in range(700):
        if window == 400:
            trial.watts[:] = 12.0, 18.0
        first = int(rng.integers(5, 36))
        trial.chunk([(0, MS)] * first + [(1, MS)] * (40 - first), overhead_ns=2 * MS)
    ratios = trial.counted.powers.ratios()
    assert ratios[1] / ratios[0] == pytest.approx(1.5, rel=0.1)


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
    knowing, blind = Powers(Prior.unknown(1), 1.0), Powers(Prior.unknown(1), 1.0)
    cycles = np.array([10.0, 0, 0, 0])
    for k in range(40):
        knowing.learn(cycles, 10.4 if k % 2 else 9.6, tick_joules=0.8)
        blind.learn(cycles, 10.4 if k % 2 else 9.6)
    assert abs(knowing.rates[0] - 1.0) < 0.5 * abs(blind.rates[0] - 1.0)


def test_a_change_of_frequency_is_followed_at_once():
    powers = Powers(Prior.unknown(2), 1.0)
    for _ in range(50):
        powers.learn(np.array([3.0, 7.0, 0, 1.0, 0]), 11.0, 0.2)
    for _ in range(2):
        powers.learn(np.array([3.0, 7.0, 0, 1.0, 0]), 22.0, 0.2)
    np.testing.assert_allclose(powers.rates[:2], 2.0, rtol=0.03)


def test_powers_stay_within_reason():
    powers = Powers(Prior.unknown(0), 1.0)
    for _ in range(50):
        powers.learn(np.array([1.0, 0, 0]), 1.0)
        powers.learn(np.array([0.0, 1.0, 0]), 1000.0)
    assert powers.rates.min() > 0
    assert powers.shares(np.zeros(3)).tolist() == [0, 1, 0]
    before = powers.rates
    powers.learn(np.zeros(3), 1.0)  # a window in which nobody ran teaches nothing
    assert np.array_equal(powers.rates, before)
