"""Somebody's own module, as a file in a folder of its own, that no other test knows of."""

import sys

import numba
import pytest

from eij_core import imports
from eij_core.registry import FAMILIES, operators

MINE = '''
from pathlib import Path
from typing import NamedTuple

from eij_core.components import kernel, operators, problems, selectors
from eij_core.selectors.uniform import Uniform

with Path(__file__).with_name("executed").open("a") as file:
    file.write("x")


@problems.add("leading-mine")
@kernel
class LeadingMine(NamedTuple):
    """Ones, counted by somebody else."""

    n: int = 16

    def fitness(self, x):
        return float(x.sum())


@selectors.add("somebodys-rule")
def rule():
    """Any operator, by somebody else."""
    return Uniform()


@operators("ils").add("shake")
def shake(x, rng):
    x[rng.integers(x.size)] ^= 1
    return x


@operators("ils").add("turn")
@kernel
class Turn(NamedTuple):
    bits: int = 3
    name: str = "turn"

    def propose(self, problem, state, rng):
        for i in range(self.bits):
            state.bits[i] = i
        return self.bits

    def forecast(self, algorithm, problem):
        return forecast_search(self, algorithm, problem)

    def apply(self, algorithm, problem, state, rng):
        return search(self, algorithm, problem, state, rng)


from eij_core.algorithms.ils import forecast_search, search  # noqa: E402
'''
NAME = "somebodys"


class Mine:
    """The module: where it lies, and how often it was executed."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / f"{NAME}.py"
        self.path.write_text(MINE)

    @property
    def executed(self):
        """How often the module was executed, in whatever process."""
        found = self.folder / "executed"
        return len(found.read_text()) if found.exists() else 0

    def forget(self):
        """Bring this process back to where it knows nothing of the module."""
        for known in (*FAMILIES.values(), operators("ils")):
            for name in [name for name in known if known.origin(name) == NAME]:
                known.remove(name)
        sys.modules.pop(NAME, None)
        imports.imported.pop(NAME, None)
        imports._known.pop(NAME, None)
        sys.path[:] = [place for place in sys.path if place != str(self.folder)]


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.delenv(imports.PUBLIC, raising=False)
    monkeypatch.delenv(imports.VARIABLE, raising=False)
    folder = tmp_path / "theirs"
    folder.mkdir()
    module = Mine(folder)
    yield module
    module.forget()
