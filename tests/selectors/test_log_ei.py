"""log-ei against its golden vector, and the invariances that it promises."""

import numpy as np
import pytest

from eij_core.selectors.log_ei import log_expected_improvement
from tests.selectors.scripted import Player, noisy_arms, play

STEPS = [
    (0, [-3.0], 1.0),
    (1, [2.0, -8.0], 2.0),
    (0, [-1.0], 1.0),
    (1, [0.0, -4.0], 2.0),
    (0, [0.5], 1.2),
]


@pytest.fixture
def golden():
    player = Player("log-ei", 2, budget=100.0)
    for step in STEPS:
        player.learn(*step)
    return player.stats


def test_sums_equal_the_golden_vector(golden):
    assert golden.scale[0] == 3.0
    assert golden.pushes[0] == 6
    expected = {
        "candidates": (2.065086, 2.810778),
        "total": (-0.417374, -1.534846),
        "squares": (0.425215, 2.868888),
        "joules": (2.265086, 2.810778),
        "applications": (2.065086, 1.405389),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(getattr(golden, name), values, atol=1e-6)


@pytest.mark.parametrize(
    ("left", "luck", "expected"),
    [
        (92.8, (0.0, 0.0), (-3.273553, -2.247612)),
        (92.8, (1.0, -1.0), (-1.980612, -3.625441)),
        (1.5, (0.0, 0.0), (-3.273553, -1002.247612)),
    ],
)
def test_scores_equal_the_golden_vector(golden, left, luck, expected):
    scores = [log_expected_improvement(golden, left, o, luck[o], True) for o in range(2)]
    np.testing.assert_allclose(scores, expected, atol=1e-6)


@pytest.mark.parametrize("factor", [2.0**-30, 2.0**20])
def test_units_do_not_matter(factor):
    chosen = []
    for fitness, energy in ((1.0, 1.0), (factor, 1.0), (1.0, factor)):
        player = Player("log-ei", 3, budget=300.0 * energy)
        pull = noisy_arms(5)
        scaled = lambda o: (lambda d, j: (d * fitness, j * energy))(*pull(o))  # noqa: B023, E731
        chosen.append(play(player, scaled, 80))
    np.testing.assert_array_equal(chosen[0], chosen[1])
    np.testing.assert_array_equal(chosen[0], chosen[2])


def test_nothing_ever_changes():
    player = Player("log-ei", 2, budget=100.0)
    play(player, lambda o: ([0.0, 0.0], 1.0), 50)
    assert player.stats.scale[0] == 0.0
    assert np.isfinite(player.beliefs()).all()


@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_extreme_sizes_stay_finite(size):
    player = Player("log-ei", 2, budget=100.0)
    random = np.random.default_rng(1)
    play(player, lambda o: ([size * random.normal()], 1.0), 50)
    assert np.isfinite(player.beliefs()).all()


def test_a_hopeless_operator_has_no_price():
    player = Player("log-ei:draws=off", 2, budget=1e9)
    for t in range(200):
        player.learn(0, [1.0 if t % 2 else -1.0], 1.0)
    for _ in range(30):
        player.learn(1, [-1e9], 1.0)
    assert log_expected_improvement(player.stats, 1e9, 1, 0.0, True) < -1e6
    assert player.select() == 0
