"""What the tests of the page share."""

import pytest

from tests.app import tiny


@pytest.fixture
def tiny_problems():
    tiny.register()
    yield
    tiny.forget()


@pytest.fixture
def tiny_trial(tiny_problems):
    from eij_core import Trial

    return Trial(**tiny.TINY, selector="eij", budget="4 J", seed=3)
