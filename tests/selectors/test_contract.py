"""What every registered selector promises."""

import copy
import math

import numba
import numpy as np
import pytest

from eij_core.kernel import kernel
from eij_core.records import Belief
from eij_core.registry import selectors
from eij_core.rng import streams_for
from tests.selectors.scripted import Player, hints, noisy_arms, outcome, play


def variants():
    for name in selectors:
        yield name
        if any(parameter.name == "cost" for parameter in selectors.parameters(name)):
            yield f"{name}:cost=off"


VARIANTS = list(variants())


@pytest.mark.parametrize("spec", VARIANTS)
def test_chooses_among_its_operators_and_believes_numbers(spec):
    player = Player(spec, 4)
    assert player.beliefs().shape == (4, len(Belief._fields))
    pull = noisy_arms(4, 4)
    for _ in range(120):
        operator = player.select()
        assert operator in range(4)
        player.learn(operator, *pull(operator))
    tried = np.bincount([step.operator for step in player.history], minlength=4) > 0
    assert np.isfinite(player.beliefs()[tried]).all()


@pytest.mark.parametrize("spec", VARIANTS)
def test_before_the_first_try_a_belief_is_a_number_or_nan(spec):
    for row in Player(spec, 3).beliefs():
        assert np.isnan(row).all() or np.isfinite(row).all()


@pytest.mark.parametrize("spec", VARIANTS)
def test_one_operator_is_enough(spec):
    player = Player(spec, 1)
    assert set(play(player, noisy_arms(1, 1), 60)) == {0}


@pytest.mark.parametrize("spec", VARIANTS)
def test_nothing_but_zeros_makes_no_nan(spec):
    player = Player(spec, 3)
    play(player, lambda o: ([0.0, 0.0], 1.0), 60)
    assert not np.isnan(player.beliefs()[[s.operator for s in player.history]]).any()


@pytest.mark.parametrize("spec", VARIANTS)
@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_extreme_sizes_stay_finite(spec, size):
    player = Player(spec, 2)
    random = np.random.default_rng(1)
    play(player, lambda o: ([size * random.normal()], 1.0), 60)
    tried = sorted({step.operator for step in player.history})
    assert np.isfinite(player.beliefs()[tried]).all()


@pytest.mark.parametrize("spec", VARIANTS)
def test_without_a_budget_it_goes_on(spec):
    player = Player(spec, 3, budget=math.inf)
    assert len(play(player, noisy_arms(2), 60)) == 60


@pytest.mark.parametrize("spec", VARIANTS)
def test_explaining_changes_nothing_and_tells_the_truth(spec):
    player = Player(spec, 3)
    pull = noisy_arms(3)
    for _ in range(40):
        before = copy.deepcopy(player.stats), player.rng.copy()
        told = player.explain()
        np.testing.assert_equal(player.stats, before[0])
        np.testing.assert_array_equal(player.rng, before[1])
        assert told.reason
        operator = player.select()
        assert told.operator == operator
        player.learn(operator, *pull(operator))


@pytest.mark.parametrize("spec", VARIANTS)
def test_the_same_seed_gives_the_same_choices(spec):
    runs = [play(Player(spec, 3, seed=9), noisy_arms(9), 80) for _ in range(2)]
    np.testing.assert_array_equal(*runs)


@kernel
def replay(selector, stats, left, rng, deltas, joules, chosen):
    for t in range(chosen.size):
        o = selector.select(stats, left, rng)
        chosen[t] = o
        if o < 0:
            return
        selector.learn(stats, o, outcome_of(deltas[t, o]), joules[t, o])
        left -= joules[t, o]


@kernel
def outcome_of(deltas):
    return Scripted(deltas.sum(), deltas.size, 0, deltas)


Scripted = type(outcome([0.0]))


@pytest.mark.compiled
@pytest.mark.parametrize("name", list(selectors))
def test_compiled_equals_interpreted_bit_for_bit(name):
    compiled = numba.njit(error_model="numpy")(replay)
    random = np.random.default_rng(0)
    deltas = random.normal(-0.3, 1.0, (200, 3, 2)) * (random.random((200, 3, 2)) > 0.3)
    joules = random.uniform(0.5, 4.0, (200, 3))
    for spec in (v for v in VARIANTS if v.partition(":")[0] == name):
        selector = selectors.make(spec)
        results = []
        for function in (replay, compiled):
            stats = selector.memory(hints(3, 1.0), 450.0)
            chosen = np.full(200, -2)
            rng = streams_for(5).picks
            with np.errstate(over="ignore"):
                function(selector, stats, 450.0, rng, deltas, joules, chosen)
            beliefs = np.array([selector.belief(stats, o) for o in range(3)])
            results.append((chosen, rng, beliefs))
        for a, b in zip(*results, strict=True):
            np.testing.assert_array_equal(a, b)
