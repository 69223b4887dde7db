"""Settings of the core's tests."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _words_wrap_around():
    """Random words wrap around on purpose; numpy warns of it outside compiled code."""
    with np.errstate(over="ignore"):
        yield
