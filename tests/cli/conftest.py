"""The command line, in this process and as one of its own."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from eij_core.cli import call

# The trials here are tiny: interpreted they take milliseconds, compiled they would take seconds.
TINY = ["--problem", "nk:n=16,k=2", "--meter", "model", "--budget", "3J"]
EIJ = str(Path(sys.executable).with_name("eij"))
INTERPRETED = {**os.environ, "NUMBA_DISABLE_JIT": "1", "COLUMNS": "100"}


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def eij(capfd):
    """Run a command line in this process; return exit code, output and errors."""

    def run(*arguments):
        code = call([str(argument) for argument in arguments])
        return code, *capfd.readouterr()

    return run


@pytest.fixture
def spawn():
    """Start `eij` as a process of its own; it is gone when the test ends."""
    started = []

    def start(*arguments, **options):
        settings = {"env": INTERPRETED, "stdout": -1, "stderr": -1, "text": True, **options}
        process = subprocess.Popen([EIJ, *map(str, arguments)], **settings)
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
