"""A run whose best solution does not have the fitness it reports fails, wherever it is made."""

import json
from typing import NamedTuple

import numpy as np
import pytest

from eij_core import Belief, InputError, Run, RunError, Trial, kernel, solve
from eij_core.algorithms.ils import ILS, Flip
from eij_core.campaigns import Reader
from eij_core.cli import call
from eij_core.contracts.problem import check_problem, same_fitness
from eij_core.registry import problems
from tests.campaign.small import campaign
from tests.campaign.small import run as run_campaign
from tests.core.components import Lying, OneMax

DISAGREES = r"problem Lying: the run reports best fitness \d+, but fitness\(best\.x\) is \d+"


def trial(problem, algorithm="ils"):
    return Trial(problem, algorithm, meter="model", budget="20 J")


@kernel
class LastBitLies(NamedTuple):
    """A problem with a `flip` that is wrong for its last bit."""

    n: int

    def fitness(self, x):
        return float(x.sum())

    def prepare(self, x):
        return np.zeros(1, np.int64)

    def flip(self, x, memo, i):
        x[i] ^= 1
        return float(x.sum()) + (1.0 if i == self.n - 1 else 0.0)


@pytest.fixture
def lying(monkeypatch):
    """The name of a registered problem with a wrong `flip`."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    problems.add("lying")(lambda: Lying(20))
    yield "lying"
    problems.remove("lying")


@pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=pytest.mark.compiled)], ids=str
)
def test_a_wrong_flip_fails_the_run(compiled):
    with pytest.raises(RunError, match=DISAGREES):
        solve(trial(Lying(20)), compiled=compiled)


@kernel
class Astray(NamedTuple):
    """A selector that chooses an operator beyond the portfolio."""

    chosen: int

    def memory(self, hints, budget):
        return np.zeros(len(hints.names))

    def select(self, stats, left, rng):
        return self.chosen

    def learn(self, stats, operator, outcome, joules):
        stats[operator] += joules

    def belief(self, stats, operator):
        return Belief(0.0, 0.0, 1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=pytest.mark.compiled)], ids=str
)
def test_a_choice_beyond_the_portfolio_fails_the_run(compiled):
    """Compiled code has no bounds checks: it would write beyond its arrays, and never end."""
    wrong = Trial(OneMax(20), "ils", Astray(7), "model", budget="20 J")
    with pytest.raises(RunError, match=r"selector Astray chose .* must return 0 to 1, or -1"):
        solve(wrong, compiled=compiled)


@pytest.mark.parametrize("operators", [(), Flip(1), (Flip(1), Flip(1))], ids=str)
def test_a_portfolio_holds_operators_with_names_of_their_own(operators):
    with pytest.raises(InputError, match=r"operators of ILS .* a tuple of one or more operators"):
        Trial(OneMax(20), ILS(operators), meter="model")


def test_a_wrong_flip_of_one_bit_is_said_of_flip_not_of_what_is_derived_from_it():
    found = check_problem(LastBitLies(64))
    assert found and all(text.startswith("flip") for text in found)


def test_a_wrong_flip_fails_a_run_that_is_stopped():
    run = Run(trial(Lying(20)), compiled=False)
    run.advance(20)
    with pytest.raises(RunError, match=DISAGREES):
        run.stop()
    assert run.done
    assert run.stop().done  # it fails once, not whenever it is asked


def test_the_check_is_neither_counted_nor_charged():
    run = Run(trial(OneMax(20)), compiled=False)
    run.advance(5)
    before = run.ledger.joules[0], run.ledger.evaluations[0], run.streams.moves.tolist()
    run.stop()
    assert before == (run.ledger.joules[0], run.ledger.evaluations[0], run.streams.moves.tolist())
    assert run.result().best.fitness == run.problem.fitness(run.result().best.x)


def test_the_command_line_prints_one_line(lying, capfd):
    code = call(["run", "--problem", lying, "--meter", "model", "--budget", "5J", "--json"])
    out, err = capfd.readouterr()
    assert (code, out) == (1, "")
    assert "problem lying: the run reports best fitness" in err
    assert len(err.splitlines()) == 1


def test_a_campaign_has_a_failed_trial(lying, tmp_path):
    plan = campaign(problems=["nk:n=16,k=2", lying], seeds=2)
    run_campaign(tmp_path, plan)
    with Reader(tmp_path) as reader:
        rows = list(reader.rows())
    failed = [row for row in rows if row.state == "failed"]
    assert len(rows) == 8
    assert {json.loads(row.spec_json)["problem"] for row in failed} == {"lying"}
    assert len(failed) == 4


@pytest.mark.parametrize(
    ("a", "b", "scale", "same"),
    [
        (3.0, 4.0, 1e12, False),
        (2.0**53, 2.0**53 + 2, 0.0, True),
        (0.1 + 0.2, 0.3, 0.0, True),
        (1e-12, 0.0, 0.0, False),
        (1e-12, 2e-17, 1.0, True),
        (1.5, float("inf"), 0.0, False),
    ],
)
def test_whole_numbers_are_compared_exactly_and_others_up_to_rounding(a, b, scale, same):
    assert same_fitness(a, b, scale) == same
