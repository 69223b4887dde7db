"""Every rival against a slow oracle, and on a bandit whose answer is known."""

import math

import numpy as np
import pytest

from eij_core.engine.rng import normal
from eij_core.selectors.shared.choice import spin
from eij_core.selectors.shared.distributions import beta
from tests.selectors import oracles
from tests.selectors.scripted import BUDGET, Player, noisy_arms, play

K = 3
STEPS = 90

CHANCES = {
    "epsilon-greedy": oracles.epsilon_greedy,
    "softmax": oracles.softmax,
    "probability-matching": oracles.probability_matching,
    "adaptive-pursuit": oracles.adaptive_pursuit,
    "exp3": oracles.exp3,
    "roulette:segment=10": oracles.roulette,
}
SCORES = {
    "ucb1": oracles.ucb1,
    "d-ucb:discount=0.95": oracles.d_ucb,
    "sw-ucb:window=20": oracles.sw_ucb,
}


def with_cost(spec, cost):
    return f"{spec}{',' if ':' in spec else ':'}cost={cost}"


def played(spec, seed, steps=STEPS, budget=BUDGET):
    player = Player(spec, K, budget=budget, seed=seed)
    pull = noisy_arms(seed, K)
    while len(player.history) < steps:
        operator = player.select()
        player.learn(operator, *pull(operator))
        yield player, player.history


@pytest.mark.parametrize("cost", ["on", "off"])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("spec", CHANCES)
def test_chances_equal_the_oracle(spec, seed, cost):
    for player, history in played(with_cost(spec, cost), seed):
        if len(history) % 9 == 0:
            chance = player.stats.chance / player.stats.chance.sum()
            expected = CHANCES[spec](player.selector, history, K)
            np.testing.assert_allclose(chance, expected, rtol=1e-9)


@pytest.mark.parametrize("spec", CHANCES)
def test_the_wheel_decides(spec):
    for player, history in played(spec, 3):
        if len(history) >= K:
            with np.errstate(over="ignore"):
                expected = spin(player.stats.chance, player.rng.copy())
            told = player.explain()
            assert told.operator == expected == player.select()
            assert sum(draw.chance for draw in told.draws) == pytest.approx(1.0)


@pytest.mark.parametrize("cost", ["on", "off"])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("spec", SCORES)
def test_scores_equal_the_oracle(spec, seed, cost):
    for player, history in played(with_cost(spec, cost), seed):
        if len(history) % 9 == 0:
            expected = SCORES[spec](player.selector, history, K)
            np.testing.assert_allclose(player.scores(), expected, rtol=1e-9)
            if np.isfinite(expected).all():
                assert player.select() == np.argmax(expected)


@pytest.mark.parametrize("cost", ["on", "off"])
@pytest.mark.parametrize("seed", [1, 2])
def test_kube_equals_the_oracle(seed, cost):
    for player, history in played(with_cost("kube", cost), seed):
        if len(history) % 9 == 0:
            player.left = 3.0
            expected = oracles.kube(player.selector, history, K, 3.0)
            np.testing.assert_allclose(player.scores(), expected, rtol=1e-9)
            affordable = np.isfinite(expected).any()
            assert player.select() == (np.argmax(expected) if affordable else -1)
            player.left = 1e9


@pytest.mark.parametrize("cost", ["on", "off"])
@pytest.mark.parametrize("seed", [1, 2])
def test_dmab_equals_the_oracle(seed, cost):
    restarts = 0
    for player, history in played(with_cost("dmab:threshold=0.5,delta=0.02", cost), seed):
        expected, restarts = oracles.dmab(player.selector, history, K)
        np.testing.assert_allclose(player.scores(), expected, rtol=1e-9)
        assert player.stats.restarts[0] == restarts
    assert restarts > 0


@pytest.mark.parametrize("cost", ["on", "off"])
@pytest.mark.parametrize("seed", [1, 2])
def test_thompson_equals_the_oracle(seed, cost):
    for player, history in played(with_cost("thompson", cost), seed):
        if len(history) % 9 == 0:
            mean, sd = oracles.thompson(player.selector, history, K)
            rng = player.rng.copy()
            with np.errstate(over="ignore"):
                lucks = [normal(rng) for _ in range(K)]
            np.testing.assert_allclose(player.scores(), mean + sd * lucks, rtol=1e-9)


@pytest.mark.parametrize("cost", ["on", "off"])
@pytest.mark.parametrize("seed", [1, 2])
def test_dynamic_thompson_equals_the_oracle(seed, cost):
    for player, history in played(with_cost("dynamic-thompson:cap=12", cost), seed):
        if len(history) % 9 == 0:
            a, b = oracles.dynamic_thompson(player.selector, history, K)
            np.testing.assert_allclose(player.stats.hits, a, rtol=1e-9)
            np.testing.assert_allclose(player.stats.misses, b, rtol=1e-9)
            rng = player.rng.copy()
            with np.errstate(over="ignore"):
                expected = [beta(a[o], b[o], rng) for o in range(K)]
            np.testing.assert_allclose(player.scores(), expected, rtol=1e-6)


@pytest.mark.parametrize("cost", ["on", "off"])
@pytest.mark.parametrize("seed", [1, 2])
def test_budgeted_thompson_equals_the_oracle(seed, cost):
    for player, history in played(with_cost("budgeted-thompson", cost), seed):
        if len(history) % 9 == 0:
            a, b, c, d = oracles.budgeted_thompson(player.selector, history, K)
            rng = player.rng.copy()
            expected = []
            with np.errstate(over="ignore"):
                for o in range(K):
                    gain = beta(a[o], b[o], rng)
                    expected.append(gain / beta(c[o], d[o], rng) if cost == "on" else gain)
            np.testing.assert_allclose(player.scores(), expected, rtol=1e-6)


@pytest.mark.parametrize("cost", ["on", "off"])
@pytest.mark.parametrize("budget", [300.0, math.inf])
@pytest.mark.parametrize("seed", [1, 2])
def test_log_ei_equals_the_oracle(seed, budget, cost):
    for player, history in played(with_cost("log-ei", cost), seed, budget=budget):
        if len(history) % 9 == 0:
            rng = player.rng.copy()
            with np.errstate(over="ignore"):
                lucks = np.array([normal(rng) for _ in range(K)])
            left = player.left
            expected = oracles.log_ei(player.selector, history, K, budget, left, lucks)
            np.testing.assert_allclose(player.scores(), expected, rtol=1e-6)
            assert player.explain().operator == np.argmax(expected)


@pytest.mark.parametrize("cost", ["on", "off"])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    ("spec", "oracle", "first"),
    [("greedy:tries=4", oracles.greedy, 4 * K), ("joule-round-robin", oracles.round_robin, K)],
)
def test_choices_equal_the_oracle(spec, oracle, first, seed, cost):
    for player, history in played(with_cost(spec, cost), seed):
        if len(history) >= first:
            assert player.explain().operator == oracle(player.selector, history, K)


def test_round_robin_shares_joules_or_turns():
    for cost, unit in (("on", np.array([1.0, 4.0])), ("off", np.ones(2))):
        player = Player(f"joule-round-robin:cost={cost}", 2, budget=1e9)
        chosen = play(player, lambda o: ([0.0], 4.0 if o else 1.0), 500)
        had = np.bincount(chosen) * unit
        assert had[0] == pytest.approx(had[1], abs=4.0)


@pytest.mark.parametrize("shape", [(0.3, 0.7), (1.0, 1.0), (2.0, 5.0), (40.0, 2.0)])
def test_beta_has_the_right_moments(shape):
    a, b = shape
    rng = np.array([1, 2, 3, 4], np.uint64)
    with np.errstate(over="ignore"):
        drawn = np.array([beta(a, b, rng) for _ in range(4000)])
    mean, var = a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))
    assert drawn.mean() == pytest.approx(mean, abs=5 * np.sqrt(var / 4000))
    assert drawn.var() == pytest.approx(var, rel=0.15)


# --- a bandit with a known answer ---

LEARNERS = [
    *CHANCES,
    *SCORES,
    "kube",
    "dmab",
    "thompson",
    "dynamic-thompson",
    "budgeted-thompson",
    "greedy:tries=20",
    "log-ei",
    "eij-plus",
    "eij",
]


ANSWERS = {"on": 0, "off": 2}


def stationary(seed):
    """Arm 0 is good and cheap, arm 1 poor and cheap, arm 2 the best but ten times as dear.

    So the answer depends on the question: arm 0 per Joule, arm 2 per application.
    """
    random = np.random.default_rng(seed)

    def pull(operator):
        improves = random.random() < (0.7, 0.1, 0.95)[operator]
        size = random.uniform(0.5, 1.0)
        return [size if improves else -size], (1.0, 1.0, 10.0)[operator]

    return pull


@pytest.mark.parametrize("cost", ANSWERS)
@pytest.mark.parametrize("spec", LEARNERS)
def test_learners_find_the_best_arm_per_joule_or_per_application(spec, cost):
    counts = np.zeros(K)
    for seed in (1, 2, 3):
        player = Player(with_cost(spec, cost), K, budget=20_000.0, seed=seed)
        chosen = play(player, stationary(seed), 800)
        counts += np.bincount(chosen[400:], minlength=K)
    share = counts / counts.sum()
    assert np.argmax(share) == ANSWERS[cost], share
    assert share[ANSWERS[cost]] > 0.4, share
    assert np.argmin(share) == 1 or share[1] < 0.15, share
