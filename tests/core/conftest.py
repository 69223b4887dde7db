"""Settings of the core's tests."""

import numpy as np
import pytest

from eij_core.engine import execution
from eij_core.engine.compiled import cache, entries


@pytest.fixture(autouse=True)
def _words_wrap_around():
    """Random words wrap around on purpose; numpy warns of it outside compiled code."""
    with np.errstate(over="ignore"):
        yield


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """The compiler at work, in an interpreted session too, with an empty cache of its own."""
    import numba

    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)
    folder = tmp_path / "kernels"
    monkeypatch.setattr(cache, "folder", lambda: folder)
    monkeypatch.setattr(entries, "_loaded", {})
    monkeypatch.setattr(entries, "_refused", {})
    return folder


@pytest.fixture(autouse=True)
def _every_warning():
    """Let each test see a warning that is otherwise given once in a process."""
    execution._warn.cache_clear()
