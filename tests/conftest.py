"""Settings shared by all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import eij_core
from tests.clock import Clock
from tests.find_browser import find

# No deadline: the first example of a property may compile a kernel.
settings.register_profile("dev", max_examples=25, deadline=None)
settings.register_profile(
    "ci", max_examples=50, deadline=None, derandomize=True, print_blob=True, database=None
)
settings.register_profile(
    "chaos", max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev")
)

BOTH = ("core", "meters", "selectors")
"""Rooms whose code is compiled: their tests run interpreted and compiled."""
ONCE = ("test_bad_days.py", "test_pyrapl.py")
"""Tests in these rooms of code that is never compiled."""


def pytest_collection_modifyitems(items):
    """Mark the tests of the rooms whose code is compiled."""
    rooms = [Path(__file__).parent / room for room in BOTH]
    for item in items:
        if item.path.parent in rooms and item.path.name not in ONCE:
            item.add_marker(pytest.mark.both)


@pytest.fixture(autouse=True, scope="session")
def _runs_elsewhere(tmp_path_factory):
    """Keep the runs of the tests' servers out of the user's folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EIJ_RUNS", str(tmp_path_factory.mktemp("runs")))
        yield


@pytest.fixture(autouse=True)
def _compiled_first(request, monkeypatch):
    """Compile before a run begins, in the compiled session's tests of compiled code.

    By default a run begins interpreted, and most runs of tests would be over before the change.
    """
    compiled = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
    if compiled and request.node.get_closest_marker("both"):
        for function in (eij_core.Run.__init__, eij_core.solve):
            monkeypatch.setitem(function.__kwdefaults__, "compiled", True)


@pytest.fixture
def pace_clock(monkeypatch):
    """A clock that the driver of runs reads, and that its waits move: pacing without waiting."""
    clock = Clock(look_ns=1_000)  # a driver that is exactly on time looks again
    monkeypatch.setattr("eij_core.drive.time", clock)
    monkeypatch.setattr(
        "eij_core.drive.Control.sleep_until", lambda self, moment: clock.sleep_until(moment)
    )
    return clock


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    """Start the Chromium that `make browser` found; a root user has no sandbox."""
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    sandbox = [] if os.geteuid() else ["--no-sandbox"]
    return {
        **browser_type_launch_args,
        "executable_path": find(),
        "args": [*quiet, "--disable-quic", "--no-first-run", *sandbox],
    }
