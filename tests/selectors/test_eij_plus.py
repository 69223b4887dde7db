"""EI/J+ against its oracle, and what it promises."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eij_core.engine.rng import normal
from eij_core.selectors.eij_plus import EijPlus
from tests.selectors.oracles import EijPlusOracle
from tests.selectors.scripted import Player, noisy_arms, play

NAMES = {
    "N": "tries",
    "wins": "wins",
    "Y": "credit",
    "Y2": "squares",
    "E": "joules",
    "variety": "variety",
}


def lucks(player):
    rng = player.rng.copy()
    while True:
        with np.errstate(over="ignore"):
            yield min(max(normal(rng), -3.0), 3.0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("budget", [300.0, math.inf])
def test_agrees_with_the_oracle(seed, budget):
    k = 2 + seed % 3
    known = np.full(k, 1.0)
    player = Player("eij-plus", k, budget=budget, seed=seed, known=known)
    oracle = EijPlusOracle(k, budget, known)
    pull = noisy_arms(seed, k)
    for _ in range(150):
        expected = oracle.choose(player.left, lucks(player))
        operator = player.select()
        assert operator == expected
        if operator < 0:
            break
        deltas, joules = pull(operator)
        player.learn(operator, deltas, joules)
        oracle.learn(operator, deltas, joules)
        arms, pool = player.stats.arms, player.stats.pool[0]
        for name, mine in NAMES.items():
            np.testing.assert_allclose(getattr(arms, mine), getattr(oracle, name), 1e-9)
        np.testing.assert_allclose((pool.credit, pool.cv2), oracle.pooled(), 1e-9)
        if oracle.scale:
            assert pool.scale == pytest.approx(oracle.scale, 1e-9)
    assert len(player.history) > 40


def test_scores_equal_the_oracle():
    player = Player("eij-plus", 3, budget=400.0, known=1.0)
    oracle = EijPlusOracle(3, 400.0, [1.0] * 3)
    for operator, deltas, joules in [(0, [1.0], 2.0), (1, [-0.5, 0.0], 3.0), (2, [-4.0], 1.0)]:
        player.learn(operator, deltas, joules)
        oracle.learn(operator, deltas, joules)
    for o in range(3):
        with np.errstate(over="ignore"):
            draw = player.selector.draw(player.stats, player.left, o, player.rng.copy())
        level, s = oracle.terms(o, player.left)
        assert draw.spread == pytest.approx(s)
        assert draw.priority == pytest.approx(level + s * draw.luck)


def test_unknown_costs_are_tried_once_each():
    player = Player("eij-plus", 4)
    first = play(player, lambda o: ([0.0], 1.0), 4)
    assert sorted(first) == [0, 1, 2, 3]


def test_starts_nothing_that_does_not_fit():
    player = Player("eij-plus", 2, budget=100.0, known=[60.0, 30.0])
    player.learn(0, [1.0], 60.0)
    assert player.select() == 1  # 40 J left: only the second fits
    player.learn(1, [1.0], 30.0)
    assert player.select() == -1
    assert "none fits" in player.explain().reason


def test_a_dear_first_try_waits_until_it_is_the_cheapest():
    player = Player("eij-plus", 2, budget=100.0, known=[1.0, 20.0])
    assert set(play(player, lambda o: ([-1.0], 1.0), 60)) == {0}
    alone = Player("eij-plus", 1, budget=100.0, known=[20.0])
    assert alone.select() == 0


def test_a_price_that_has_just_changed_stakes_a_tenth_at_most():
    player = Player("eij-plus", 2, budget=1000.0, known=[1.0, 2.0])
    for _ in range(5):
        player.learn(0, [1.0], 1.0)
        player.learn(1, [-1.0], 2.0)
    player.learn(0, [1.0], 120.0)  # it has earned far more than the other, but at which price?
    assert set(play(player, lambda o: ([-1.0], 2.0), 20)) == {1}
    player.stats.arms.readings[0] = 2.0  # paid twice, it is as good as any
    player.stats.arms.credit[1] = 0.0
    player.stats.arms.credit[0] = 1e6
    assert player.select() == 0


@pytest.mark.parametrize("dear", [1.0, 2.0, 4.0])
def test_the_dearer_the_less_is_paid_for_re_trying(dear):
    player = Player("eij-plus:uncertainty=0", 2, budget=1e6, known=[1.0, dear])
    chosen = play(player, lambda o: ([-1.0], dear) if o else ([1.0], 1.0), 1500)
    waits = np.diff(np.flatnonzero(chosen == 1)) - 1  # in Joules: those between cost 1 each
    assert waits.size
    np.testing.assert_array_equal(waits, 2 / 0.05 * dear * dear)  # its price, and relative to 1


def test_nobody_starves_who_is_no_dearer_than_the_rest():
    player = Player("eij-plus:uncertainty=0", 12, budget=200.0, known=1.0)
    chosen = play(player, lambda o: ([-1.0] if o else [1.0], 1.0), 195)
    # By their share alone they would wait for 12/0.05 = 240 J, longer than the budget lasts.
    assert np.bincount(chosen, minlength=12).min() == 4


def test_what_is_dearer_is_not_fed_for_the_sake_of_it():
    prices = [1.0] + [10.0] * 3
    player = Player("eij-plus:uncertainty=0", 4, budget=400.0, known=prices)
    chosen = play(player, lambda o: ([-1.0] if o else [1.0], prices[o]), 350)
    assert set(chosen) == {0}


def test_the_more_operators_draw_the_less_doubt_each_may_have():
    def spread(k):
        player = Player("eij-plus", k, known=1.0)
        with np.errstate(over="ignore"):
            return player.selector.draw(player.stats, math.inf, 0, player.rng.copy()).spread

    assert spread(1) == spread(2) == pytest.approx(0.7)
    assert spread(16) == pytest.approx(0.35)  # ln 16 = 4 ln 2


def test_no_draw_is_luckier_than_three_standard_deviations():
    player = Player("eij-plus", 2, known=1.0)
    with np.errstate(over="ignore"):
        drawn = [
            player.selector.draw(player.stats, math.inf, 0, player.rng).luck for _ in range(5000)
        ]
    assert -min(drawn) == max(drawn) == 3.0
    assert np.std(drawn) == pytest.approx(1.0, abs=0.05)


def test_one_lucky_application_says_little_where_credit_is_rare():
    def gain_after(prelude):
        player = Player("eij-plus", 2, budget=1e6, known=1.0)
        for i in range(400):
            player.learn(0, [prelude(i)], 1.0)
        before = player.beliefs()[0, 0]
        player.learn(1, [1.0], 1.0)
        return player.beliefs()[1, 0] / before

    assert gain_after(lambda i: 1.0 if i % 100 == 0 else 0.0) < 6.0  # 51 with n0 = 1
    assert gain_after(lambda i: 1.0) == pytest.approx(1.0, abs=0.1)


def test_failure_is_believed_sooner_than_luck():
    player = Player("eij-plus", 2, budget=1e6, known=1.0)
    for i in range(400):
        player.learn(0, [1.0 if i % 100 == 0 else 0.0], 1.0)
    for _ in range(6):
        player.learn(1, [0.0], 1.0)
    gains = player.beliefs()[:, 0]
    assert gains[1] < gains[0] / 3


def test_without_an_end_of_joules_applications_fade():
    player = Player("eij-plus", 2, budget=math.inf, known=1.0)
    for _ in range(2000):
        player.learn(0, [1.0], 7.0)
    assert player.stats.arms.tries[0] == pytest.approx(1 / (1 - 0.5 ** (1 / 100)), rel=1e-3)


def test_a_dear_twin_is_left_alone():
    player = Player("eij-plus", 2, budget=2000.0, known=[1.0, 10.0])
    random = np.random.default_rng(0)
    chosen = play(player, lambda o: ([random.normal(-1, 1)], 10.0 if o else 1.0), 1500)
    spent = np.where(chosen == 1, 10.0, 1.0)
    assert spent[chosen == 1].sum() < 0.1 * spent.sum()


def test_doing_nothing_earns_nothing():
    player = Player("eij-plus", 2, budget=1000.0, known=1.0)
    random = np.random.default_rng(0)
    chosen = play(player, lambda o: ([0.0 if o else random.normal(-1, 1)], 1.0), 800)
    assert np.mean(chosen[400:] == 1) < 0.1


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_always_almost_is_not_a_near_miss(noise):
    player = Player("eij-plus", 2, budget=1000.0, known=1.0)
    random = np.random.default_rng(0)

    def pull(operator):
        if operator:
            return [-1e-4 * (1 + noise * random.uniform(-1, 1))], 1.0
        return [random.normal(-1, 1)], 1.0

    chosen = play(player, pull, 900)
    assert np.mean(chosen[450:] == 1) < 0.15


def test_a_cheap_null_is_found_out():
    player = Player("eij-plus", 2, budget=1000.0, known=[1.0, 0.01])
    random = np.random.default_rng(0)
    chosen = play(player, lambda o: ([0.0], 0.01) if o else ([random.normal(-1, 1)], 1.0), 4000)
    joules = np.where(chosen == 1, 0.01, 1.0)
    assert joules[chosen == 1].sum() < 0.05 * joules.sum()


@pytest.mark.long
def test_nobody_starves():
    player = Player("eij-plus", 6, budget=3000.0, known=1.0)
    chosen = play(player, lambda o: ([1.0 if o == 0 else -9.0], 1.0), 2500)
    assert all(np.sum(chosen[1250:] == o) >= 3 for o in range(6))


def test_a_surprising_cost_is_believed_at_once():
    player = Player("eij-plus", 2, known=1.0)
    player.learn(0, [1.0], 1.1)
    player.learn(0, [1.0], 1.2)
    assert player.stats.arms.joules[0] == pytest.approx(1.15)
    player.learn(0, [1.0], 10.0)
    assert player.stats.arms.joules[0] == 10.0


def test_a_probe_changes_the_price_alone():
    player = Player("eij-plus", 2, known=[1.0, 2.0])
    player.selector.reprice(player.stats, 1, 0.25)
    assert player.stats.arms.joules[1] == 0.25
    assert player.stats.arms.readings[1] == 0
    assert player.stats.pool[0].cheapest == 0.25


def test_a_probe_that_surprises_makes_the_price_a_new_one():
    player = Player("eij-plus", 2, budget=100.0, known=[1.0, 2.0])
    for _ in range(3):
        player.learn(0, [1.0], 1.0)
        player.learn(1, [-1.0], 2.0)
    player.selector.reprice(player.stats, 0, 1.2)
    assert player.stats.arms.readings[0] == 3
    player.selector.reprice(player.stats, 0, 30.0)
    assert player.stats.arms.readings[0] == 0
    assert set(play(player, lambda o: ([-1.0], 2.0), 10)) == {1}


def test_without_cost_the_prices_do_not_matter():
    chosen = []
    for price in (1.0, 50.0):
        player = Player("eij-plus:cost=off", 3, budget=1e6)
        random = np.random.default_rng(3)
        pull = lambda o: ([random.normal(-o, 1)], price if o else 1.0)  # noqa: B023, E731
        chosen.append(play(player, pull, 200))
    np.testing.assert_array_equal(*chosen)


@pytest.mark.parametrize("factor", [2.0**-30, 2.0**20])
def test_units_of_fitness_and_of_energy_do_not_matter(factor):
    chosen = []
    for fitness, energy in ((1.0, 1.0), (factor, 1.0), (1.0, factor)):
        player = Player("eij-plus", 3, budget=500.0 * energy, known=energy)
        pull = noisy_arms(5)
        scaled = lambda o: (lambda d, j: (d * fitness, j * energy))(*pull(o))  # noqa: B023, E731
        chosen.append(play(player, scaled, 150))
    np.testing.assert_array_equal(chosen[0], chosen[1])
    np.testing.assert_array_equal(chosen[0], chosen[2])


@given(
    steps=st.lists(
        st.tuples(
            st.integers(0, 2),
            st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=4),
            st.floats(1e-12, 1e12),
        ),
        max_size=40,
    )
)
def test_whatever_it_sees_its_numbers_stay_finite(steps):
    player = Player("eij-plus", 3, budget=1e6, known=1.0)
    for operator, deltas, joules in steps:
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            player.learn(operator, deltas, joules)
    assert np.isfinite(player.beliefs()).all()
    player.left = 1e15
    assert player.select() in range(3)


def test_explains_the_draws_that_decide():
    player = Player("eij-plus", 3, budget=500.0, known=1.0)
    pull = noisy_arms(2)
    for _ in range(60):
        told = player.explain()
        operator = player.select()
        assert told.operator == operator
        if told.draws:
            assert np.argmax([draw.priority for draw in told.draws]) == operator
        player.learn(operator, *pull(operator))


def test_the_default_parameters_are_those_of_the_notes():
    assert EijPlus() == EijPlus(0.10, 0.7, 0.5, 1.0, 0.05, 0.10, True, 0.0)
