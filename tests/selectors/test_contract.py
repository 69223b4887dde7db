"""What every registered selector promises."""

import numba
import numpy as np
import pytest

from eij_core.components import Outcome, check_component, kernel, streams_for
from eij_core.contracts.selector import hints_for
from eij_core.engine.compiled.compiler import _declare_marked
from eij_core.registry import selectors


def variants():
    for name in selectors:
        yield name
        if any(parameter.name == "cost" for parameter in selectors.parameters(name)):
            yield f"{name}:cost=off"


VARIANTS = list(variants())


@pytest.mark.parametrize("spec", VARIANTS)
def test_a_selector_keeps_its_contract(spec):
    assert check_component(selectors.make(spec)) == []


@kernel
def replay(selector, stats, left, rng, deltas, joules, chosen):
    for t in range(chosen.size):
        o = selector.select(stats, left, rng)
        chosen[t] = o
        if o < 0:
            return
        one = deltas[t, o]
        selector.learn(stats, o, Outcome(one.sum(), one.size, 0, one), joules[t, o])
        left -= joules[t, o]


@pytest.mark.compiled
@pytest.mark.parametrize("name", list(selectors))
def test_compiled_equals_interpreted_bit_for_bit(name):
    _declare_marked()  # what a worker that has compiled nothing yet has not done
    compiled = numba.njit(error_model="numpy")(replay)
    random = np.random.default_rng(0)
    deltas = random.normal(-0.3, 1.0, (200, 3, 2)) * (random.random((200, 3, 2)) > 0.3)
    joules = random.uniform(0.5, 4.0, (200, 3))
    for spec in (v for v in VARIANTS if v.partition(":")[0] == name):
        selector = selectors.make(spec)
        results = []
        for function in (replay, compiled):
            stats = selector.memory(hints_for(3, 1.0), 450.0)
            chosen = np.full(200, -2)
            rng = streams_for(5).picks
            with np.errstate(over="ignore"):
                function(selector, stats, 450.0, rng, deltas, joules, chosen)
            beliefs = np.array([selector.belief(stats, o) for o in range(3)])
            results.append((chosen, rng, beliefs))
        for a, b in zip(*results, strict=True):
            np.testing.assert_array_equal(a, b)
