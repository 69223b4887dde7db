"""Every rival against a slow oracle, and on a bandit whose answer is known."""

import numpy as np
import pytest

from eij_core.rng import normal
from eij_core.selectors.draws import beta
from eij_core.selectors.picking import spin
from tests.selectors import oracles
from tests.selectors.scripted import Player, noisy_arms, play

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


def played(spec, seed, steps=STEPS):
    player = Player(spec, K, seed=seed)
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


@pytest.mark.parametrize("seed", [1, 2])
def test_budgeted_thompson_equals_the_oracle(seed):
    for player, history in played("budgeted-thompson", seed):
        if len(history) % 9 == 0:
            a, b, c, d = oracles.budgeted_thompson(player.selector, history, K)
            rng = player.rng.copy()
            expected = []
            with np.errstate(over="ignore"):
                for o in range(K):
                    gain = beta(a[o], b[o], rng)
                    expected.append(gain / beta(c[o], d[o], rng))
            np.testing.assert_allclose(player.scores(), expected, rtol=1e-6)


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


def stationary(seed):
    """Arm 0 is good and cheap, arm 1 poor and cheap, arm 2 good but five times as dear."""
    random = np.random.default_rng(seed)

    def pull(operator):
        improves = random.random() < (0.8, 0.1, 0.8)[operator]
        size = random.uniform(0.5, 1.0)
        return [size if improves else -size], (1.0, 1.0, 5.0)[operator]

    return pull


@pytest.mark.parametrize("spec", LEARNERS)
def test_learners_find_the_best_arm_per_joule(spec):
    shares = []
    for seed in (1, 2, 3):
        player = Player(spec, K, budget=3000.0, seed=seed)
        chosen = play(player, stationary(seed), 1200)
        shares.append(np.bincount(chosen[600:], minlength=K) / len(chosen[600:]))
    share = np.mean(shares, axis=0)
    assert np.argmax(share) == 0, share
    assert share[0] > (0.4 if spec.startswith("roulette") else 0.5), share


@pytest.mark.parametrize("spec", [s for s in LEARNERS if not s.startswith("greedy")])
def test_blind_learners_avoid_the_poor_arm_whatever_the_price(spec):
    counts = np.zeros(K)
    for seed in (1, 2, 3):
        player = Player(with_cost(spec, "off"), K, budget=1e6, seed=seed)
        chosen = play(player, stationary(seed), 1200)
        counts += np.bincount(chosen[600:], minlength=K)
    assert np.argmin(counts) == 1, counts
