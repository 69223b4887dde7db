"""The paper's selector against its equations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core import Hints, Outcome
from eij_core.engine.rng import streams_for
from eij_core.selectors.eij import EIJ, EijStats, probability_of_first
from tests.oracles import Scheduler, Xoshiro
from tests.oracles import probability_of_first as brute_force

NOTHING = np.zeros(0)
gains = st.floats(-1e6, 1e6)
joules = st.floats(1e-9, 1e6)
histories = st.lists(st.tuples(st.integers(0, 2), gains, joules), max_size=25)
alphas = st.floats(0.0, 1.0)


def hints(k):
    return Hints(tuple(f"o{i}" for i in range(k)), np.zeros(k), np.zeros(k))


def outcome(gain):
    return Outcome(gain, 1, 0, NOTHING)


def learned(history, alpha=0.9, tries=2, k=3):
    """The selector, its statistics and the oracle after the same observations."""
    selector, oracle = EIJ(alpha, tries), Scheduler(k, alpha, tries)
    stats = selector.memory(hints(k), 100.0)
    for o, gain, energy in history:
        selector.learn(stats, o, outcome(gain), energy)
        oracle.learn(o, gain, energy)
    return selector, stats, oracle


@given(histories, alphas)
def test_moving_averages_follow_the_equations(history, alpha):
    _, stats, oracle = learned(history, alpha)
    for o in range(3):
        assert stats.tries[o] == oracle.counts[o]
        if oracle.counts[o]:
            assert stats.gain[o] == pytest.approx(oracle.gain[o].mean, rel=1e-9, abs=1e-9)
            assert stats.gain_var[o] == pytest.approx(oracle.gain[o].variance, rel=1e-9, abs=1e-9)
            assert stats.log_joules[o] == pytest.approx(oracle.log_joules[o].mean, abs=1e-9)
            assert stats.log_joules_var[o] == pytest.approx(oracle.log_joules[o].variance, abs=1e-9)
            assert stats.joules[o] == pytest.approx(oracle.expected_joules(o), rel=1e-9)


@given(histories, alphas)
def test_moving_averages_stay_in_the_hull_of_what_was_seen(history, alpha):
    _, stats, _ = learned(history, alpha)
    for o in range(3):
        seen = [(gain, math.log(energy)) for p, gain, energy in history if p == o]
        if seen:
            for column, mean, variance in (
                (0, stats.gain[o], stats.gain_var[o]),
                (1, stats.log_joules[o], stats.log_joules_var[o]),
            ):
                low, high = (f(s[column] for s in seen) for f in (min, max))
                slack = 1e-9 * max(abs(low), abs(high), 1.0)
                assert low - slack <= mean <= high + slack
                assert 0.0 <= variance <= (high - low) ** 2 + slack


@pytest.mark.parametrize(("alpha", "mean"), [(1.0, 5.0), (0.0, 20.0), (0.9, 0.9 * 5 + 0.1 * 20)])
def test_alpha_weighs_the_old_value(alpha, mean):
    _, stats, _ = learned([(0, 5.0, 1.0), (0, 20.0, 1.0)], alpha)
    assert stats.gain[0] == pytest.approx(mean)


@given(histories, st.one_of(st.just(math.inf), st.floats(1e-9, 1e6)), st.integers(0, 2**32))
def test_selection_equals_algorithm_1(history, left, seed):
    selector, stats, oracle = learned(history)
    rng = streams_for(seed).picks
    assert selector.select(stats, left, rng) == oracle.select(left, Xoshiro(rng_before(seed)))


def rng_before(seed):
    return [int(word) for word in streams_for(seed).picks]


@given(histories, st.floats(1e-9, 1e9), st.integers(0, 2**32))
def test_draws_equal_the_equations(history, left, seed):
    selector, stats, oracle = learned([(o, 1.0, 1.0) for o in range(3)] + history)
    rng, random = streams_for(seed).picks, Xoshiro(rng_before(seed))
    for o in range(3):
        draw = selector.draw(stats, left, o, rng)
        assert draw.priority == pytest.approx(oracle.priority(o, left, random), rel=1e-9)
        assert draw.joules > 0.0
        assert draw.ratio == draw.gain / draw.joules
        assert 0.0 < draw.penalty <= 1.0
        assert draw.penalty == pytest.approx(oracle.penalty(o, left), rel=1e-9)


def test_without_a_budget_there_is_no_penalty():
    selector, stats, _ = learned([(o, 1.0, 5.0) for o in (0, 1, 2, 0, 1, 2)])
    assert selector.draw(stats, math.inf, 0, streams_for(1).picks).penalty == 1.0
    assert selector.draw(stats, 5.0, 0, streams_for(1).picks).penalty == pytest.approx(0.5)


def test_without_spread_the_larger_ratio_wins():
    """Two identical observations leave no variance: improvement per Joule decides alone."""
    selector, stats, _ = learned([(0, 2.0, 1.0), (1, 3.0, 2.0)] * 2, k=2)
    chosen = [selector.select(stats, math.inf, streams_for(seed).picks) for seed in range(20)]
    assert chosen == [0] * 20


@pytest.mark.parametrize("tries", [1, 2, 5])
def test_every_operator_is_tried_first_in_random_order(tries):
    orders = set()
    for seed in range(30):
        selector, stats, _ = learned([], tries=tries, k=3)
        rng = streams_for(seed).picks
        order = []
        for _ in range(3 * tries):
            order.append(selector.select(stats, 10.0, rng))
            selector.learn(stats, order[-1], outcome(-1e9 if order[-1] else 1.0), 1.0)
        assert sorted(order) == sorted(list(range(3)) * tries)
        orders.add(tuple(order))
    assert len(orders) > 3


def test_belief_is_what_the_next_draws_are_made_from():
    selector, stats, oracle = learned([(0, 3.0, 2.0), (0, 5.0, 4.0)])
    belief = selector.belief(stats, 0)
    variance = oracle.log_joules[0].variance
    assert belief.gain == pytest.approx(oracle.gain[0].mean)
    assert belief.gain_sd == pytest.approx(math.sqrt(oracle.gain[0].variance))
    assert belief.joules == pytest.approx(oracle.expected_joules(0))
    assert belief.joules_sd == pytest.approx(
        oracle.expected_joules(0) * math.sqrt(math.exp(variance) - 1)
    )
    assert belief.score == pytest.approx(belief.gain / belief.joules)
    assert all(math.isnan(value) for value in selector.belief(stats, 1))


def test_explain_lays_open_the_decision_that_comes_next():
    selector, stats, _ = learned([(o, float(o), 1.0 + o) for o in (0, 1, 2, 0, 1, 2, 1)])
    rng = streams_for(3).picks
    before = rng.copy()
    decision = selector.explain(stats, 50.0, rng)
    assert (rng == before).all()
    assert decision.operator == selector.select(stats, 50.0, rng)
    priorities = [draw.priority for draw in decision.draws]
    assert decision.operator == priorities.index(max(priorities))


def test_explain_names_the_first_tries():
    selector, stats, _ = learned([(0, 1.0, 1.0)])
    decision = selector.explain(stats, 50.0, streams_for(3).picks)
    assert decision.draws == ()
    assert "of 2 times" in decision.reason


# --- P(o1) ----------------------------------------------------------------------------------------


def stats_of(gains, logs):
    gain, gain_var, log, log_var = (
        np.array([a[k], b[k]]) for a, b in (gains, logs) for k in (0, 1)
    )
    return EijStats(np.array([9, 9]), gain, gain_var, log, log_var, np.ones(2))


means = st.floats(-5, 5)
variances = st.floats(0.05, 5)
log_means = st.floats(-1, 1)
log_variances = st.floats(0.0, 0.5)


@given(
    st.tuples(st.tuples(means, variances), st.tuples(means, variances)),
    st.tuples(st.tuples(log_means, log_variances), st.tuples(log_means, log_variances)),
)
def test_probability_of_the_first_operator(gains, logs):
    assert probability_of_first(stats_of(gains, logs)) == pytest.approx(
        brute_force(gains, logs), abs=1e-4
    )


@pytest.mark.parametrize(
    ("gains", "logs"),
    [
        # Gains without spread: a step in R, which no polynomial follows.
        (((1.0, 0.0), (1.0, 0.0)), ((0.0, 1.0), (0.3, 1.0))),
        (((1.0, 1e-6), (1.0, 1e-6)), ((0.0, 1.0), (0.3, 1.0))),
        (((1.0, 1e-4), (0.5, 0.0)), ((0.5, 0.04), (0.0, 0.02))),
        (((-1.0, 1e-4), (-0.5, 1e-4)), ((0.5, 0.04), (0.0, 0.02))),
        (((0.0, 1e-12), (0.0, 1.0)), ((0.0, 4.0), (0.0, 4.0))),
        (((3.0, 0.01), (1e-3, 25.0)), ((0.0, 2.0), (1.0, 2.0))),
    ],
)
def test_probability_with_steep_steps(gains, logs):
    assert probability_of_first(stats_of(gains, logs)) == pytest.approx(
        brute_force(gains, logs, points=2001), abs=3e-3
    )


def test_probability_without_spread_of_gains_has_a_closed_form():
    """ln R is then all that varies: P(R < μ₁/μ₂) for positive gains."""
    stats = stats_of(((3.0, 0.0), (2.0, 0.0)), ((0.4, 0.3), (0.1, 0.2)))
    z = (math.log(1.5) - 0.3) / math.sqrt(0.5)
    assert probability_of_first(stats) == pytest.approx(
        0.5 * math.erfc(-z / math.sqrt(2)), abs=1e-9
    )
    stats = stats_of(((-3.0, 0.0), (-2.0, 0.0)), ((0.4, 0.3), (0.1, 0.2)))
    assert probability_of_first(stats) == pytest.approx(0.5 * math.erfc(z / math.sqrt(2)), abs=1e-9)


def test_probability_of_equals_is_one_half_and_of_certainty_is_one():
    same = ((1.0, 0.0), (1.0, 0.0))
    certain = ((2.0, 0.0), (1.0, 0.0))
    still = ((0.0, 0.0), (0.0, 0.0))
    assert probability_of_first(stats_of(same, still)) == 0.5
    assert probability_of_first(stats_of(certain, still)) == 1.0
    assert probability_of_first(stats_of(certain, still), 1, 0) == 0.0


@given(st.integers(0, 2**16))
def test_probability_is_the_share_of_decisions(seed):
    """Without a budget, P(o1) is how often the rule chooses the first operator."""
    gains, logs = ((1.0, 1.0), (0.8, 2.0)), ((0.0, 0.1), (0.2, 0.2))
    stats, rng = stats_of(gains, logs), streams_for(seed).picks
    first = sum(EIJ().select(stats, math.inf, rng) == 0 for _ in range(300))
    p = probability_of_first(stats)
    assert abs(first - 300 * p) < 5 * math.sqrt(300 * p * (1 - p))
