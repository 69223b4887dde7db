"""`eij check`: what it finds, what it says, and its exit codes."""

import sys

import pytest

MODULE = """
from typing import NamedTuple
from eij_core.components import kernel

class Plain(NamedTuple):
    n: int

    def fitness(self, x):
        return float(x.sum())

@kernel
class Ones(Plain):
    pass

@kernel
class Lying(NamedTuple):
    n: int

    def fitness(self, x):
        return float(x.sum())

    def prepare(self, x):
        import numpy
        return numpy.zeros(1, numpy.int64)

    def flip(self, x, memo, i):
        x[i] ^= 1
        return 7.5

problem, plain, lying, number = Ones(9), Plain(9), Lying(9), 3

def factory(n: int = 12):
    return Ones(n)

def hopeless():
    raise OSError("no disk")
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A module of the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mine_to_check.py").write_text(MODULE, "utf-8")
    (tmp_path / "mine_that_raises.py").write_text("1 / 0", "utf-8")
    yield "mine_to_check"
    sys.modules.pop("mine_to_check", None)


@pytest.mark.parametrize("name", ["problem", "factory", "factory:n=5", "Ones:n=9"])
def test_what_keeps_its_contract(eij, mine, name):
    expected = f"{mine}.{name}: this problem keeps its contract\n"
    assert eij("check", f"{mine}.{name}") == (0, expected, "")


@pytest.mark.parametrize(
    ("name", "family"), [("nk:n=20", "problem"), ("ils:steps=3", "algorithm"), ("eij", "selector")]
)
def test_registered_names(eij, name, family):
    assert eij("check", name) == (0, f"{name}: this {family} keeps its contract\n", "")


def test_faults_are_lines_and_exit_code_1(eij, mine):
    code, out, err = eij("check", f"{mine}.lying")
    assert (code, err) == (1, "")
    assert "flip returns 7.5, but the fitness of these bits is" in out
    code, out, _ = eij("check", f"{mine}.plain")
    assert code == 1
    assert "marked @kernel" in out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mine_to_check.number", "an object with the hooks of a family"),
        ("mine_to_check.nothing", "has no attribute 'nothing'"),
        ("mine_to_check.Ones", "mine_to_check.Ones:n = (missing): expected a whole number"),
        ("mine_to_check.factory:n=x", "mine_to_check.factory:n = x: expected a whole number"),
        ("mine_to_check.hopeless", "OSError: no disk"),
        ("mine_that_raises.x", "ZeroDivisionError"),
        ("no_such_module.x", "No module named 'no_such_module'"),
        ("eij+", "did you mean 'eij-plus'"),
    ],
)
def test_what_cannot_be_checked_is_exit_code_2(eij, mine, name, words):
    code, out, err = eij("check", name)
    assert (code, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1
