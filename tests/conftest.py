"""Settings shared by all tests."""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.find_browser import find

# No deadline: the first example of a property may compile a kernel.
settings.register_profile("dev", max_examples=25, deadline=None)
settings.register_profile(
    "ci", max_examples=200, deadline=None, derandomize=True, print_blob=True, database=None
)
settings.register_profile(
    "chaos", max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev")
)


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
