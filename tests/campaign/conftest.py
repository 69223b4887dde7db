"""Campaigns of tiny trials: interpreted they take milliseconds, compiled they would wait."""

import numba
import pytest

COMPILED = ("test_campaign",)
"""Here compiled trials must come out the same on every executor."""


@pytest.fixture(scope="module", autouse=True)
def _interpreted(request):
    if request.module.__name__.rpartition(".")[2] in COMPILED:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba.config, "DISABLE_JIT", 1)
        patch.setenv("NUMBA_DISABLE_JIT", "1")
        yield
