"""ALNS: its own tests with our scheme, couplings, gains, stopping."""

import inspect
import math

import numpy as np
import pytest
from alns import ALNS
from alns.accept import HillClimbing
from alns.select.tests import test_random_select, test_roulette_wheel
from alns.stop import MaxIterations
from alns.tests import test_alns
from alns.tests.states import One, VarObj, Zero

from eij_core import RunError
from eij_core.adapters.alns import JouleSelect, MaxJoules

SIMULATED = {"meter": "model", "budget": "1 MJ", "compiled": False}


def scheme(*arguments, **options):
    """Our scheme, made like any of theirs: scores and other numbers come before the sizes."""
    sizes = [each for each in arguments if isinstance(each, int | np.ndarray)]
    return JouleSelect(*sizes, **options, **SIMULATED)


def speaks_of(module, name):
    """The tests of a module in the wheel that make a scheme."""
    found = inspect.getmembers(module, inspect.isfunction)
    return [test for each, test in found if each.startswith("test") and name in _source(test)]


def _source(test):
    return inspect.getsource(test)


ANY_SCHEME = {
    test_alns: speaks_of(test_alns, "RouletteWheel"),
    test_roulette_wheel: [test_roulette_wheel.test_raises_invalid_num_operators]
    if hasattr(test_roulette_wheel, "test_raises_invalid_num_operators")
    else [],
}


def cases(test):
    """The arguments of each case of a test of theirs."""
    for mark in getattr(test, "pytestmark", ()):
        names, values = mark.args
        several = not isinstance(names, str) or "," in names
        return [tuple(each) if several else (each,) for each in values]
    return [()]


@pytest.mark.parametrize("test", speaks_of(test_alns, "RouletteWheel"), ids=lambda t: t.__name__)
def test_their_tests_of_the_search(test, monkeypatch):
    monkeypatch.setattr(test_alns, "RouletteWheel", scheme)
    for case in cases(test):
        test(*case)


@pytest.mark.parametrize(
    "test", speaks_of(test_random_select, "RandomSelect"), ids=lambda t: t.__name__
)
def test_their_tests_of_couplings(test, monkeypatch):
    """They choose at random, and so does our scheme by the rule that does."""
    monkeypatch.setattr(
        test_random_select, "RandomSelect", lambda *sizes: scheme(*sizes, selector="uniform")
    )
    test()
