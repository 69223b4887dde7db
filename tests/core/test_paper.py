"""The paper's tables, and ours beside them."""

import math

import numpy as np
import pytest

from eij_core import Trial, paper, solve
from eij_core.meters import paper as machine
from eij_core.paper import __main__ as command

# What the paper's text and our readings of it promise: see the docstrings of the algorithms.
PROMISED = [
    ("knapsack", "ils", "ILS-1"),
    ("knapsack", "ils", "EOS-ILS"),
    ("ecc", "ils", "ILS-1"),
    ("ecc", "ils", "ILS-5"),
    ("knapsack", "ssga", "SSGA-1"),
    ("knapsack", "ssga", "SSGA-5"),
    ("knapsack", "ssga", "EOS-SSGA"),
    ("ecc", "ssga", "SSGA-1"),
    ("ecc", "ssga", "SSGA-5"),
    ("ecc", "ssga", "EOS-SSGA"),
]


def tiny(trial):
    """The same trial with next to no budget, for tests of the table itself."""
    fields = trial.to_dict() | {"budget": "3 J", "algorithm": "ils:steps=5"}
    return solve(Trial.from_dict(fields), compiled=False)


# --- the table ------------------------------------------------------------------------------------


def test_the_published_tables():
    for table in (paper.FINAL_FITNESS, paper.FINAL_ENERGY):
        assert list(table) == ["knapsack", "nk", "ecc"]
        assert all(len(methods) == 9 for methods in table.values())
    assert paper.FINAL_FITNESS["knapsack"]["ILS-1"] == (9031.08, 112.59, "0.91")
    assert paper.FINAL_FITNESS["ecc"]["EOS-PSO"] == (5.86, 0.06, "")
    assert math.isnan(paper.FINAL_FITNESS["knapsack"]["ILS-5"].mean)
    assert paper.FINAL_ENERGY["ecc"]["SSGA-5"] == (7379.68, 152.72, "0.19")


def test_the_papers_machine_has_the_papers_prices():
    for algorithm, methods in paper.METHODS.items():
        for method, selector in list(methods.items())[1:]:
            operator = selector.partition("=")[2]
            published = tuple(paper.FINAL_ENERGY[p][method].mean for p in paper.PROBLEMS)
            assert machine.PUBLISHED[operator] == published, algorithm
    evaluations = [setting.evaluations for setting in paper.PROBLEMS.values()]
    assert machine.EVALUATIONS.tolist() == evaluations


def test_the_papers_trials():
    assert len(paper.cells()) == 27
    assert paper.cells(["nk"], ["pso"]) == [
        ("nk", "pso", "EOS-PSO"), ("nk", "pso", "PSO-Light"), ("nk", "pso", "PSO-Full")
    ]  # fmt: skip
    trials = paper.trials("ecc", "ils", "ILS-5", 3)
    assert [trial.repetition for trial in trials] == [0, 1, 2]
    assert {str(trial.budget) for trial in trials} == {"10000 J"}
    assert {str(trial.selector) for trial in trials} == {"static:operator=flip-5"}
    (other,) = paper.trials("knapsack", "pso", "EOS-PSO", 1, fixed="evaluations")
    assert str(other.budget) == "35000 evaluations"
    assert other.selector.parameters["alpha"] == 0.9


def test_a_comparison():
    cell = paper.compare("nk", "ils", "ILS-1", 4, run=tiny)
    values = [100 * tiny(trial).best.fitness for trial in paper.trials("nk", "ils", "ILS-1", 4)]
    assert (cell.paper, cell.paper_sd) == (73.45, 1.31)
    assert (cell.trials, cell.feasible, cell.early, cell.late) == (4, 1.0, 1.0, 1.0)
    assert cell.ours == pytest.approx(np.mean(values))
    error = math.sqrt(np.var(values, ddof=1) / 4 + 1.31**2 / 100)
    assert cell.errors == pytest.approx((cell.ours - 73.45) / error)
    assert not cell.agrees


def test_what_the_paper_leaves_out_is_not_compared():
    cell = paper.compare("knapsack", "ils", "ILS-5", 2, run=tiny)
    assert math.isnan(cell.paper)
    assert math.isnan(cell.errors)
    assert not cell.agrees


def test_a_table_of_cells():
    cells = [paper.compare("ecc", "ils", method, 2, run=tiny) for method in paper.METHODS["ils"]]
    frame = paper.frame(cells)
    assert list(frame.columns) == list(paper.Cell._fields)
    assert frame["method"].tolist() == ["EOS-ILS", "ILS-1", "ILS-5"]


def test_the_command(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(
        command, "compare", lambda *cell, fixed: paper.compare(*cell, fixed=fixed, run=tiny)
    )
    assert command.main(["--trials", "2", "--problem", "knapsack", "--algorithm", "ils"]) == 0
    printed = capsys.readouterr().out
    assert "9031.08 ± 112.59" in printed
    assert "EOS-ILS" in printed
    assert "agree" in printed
    assert command.main(["--quick", "--problem", "ecc", "--algorithm", "ils",
                         "--fixed", "evaluations"]) == 0  # fmt: skip
    assert "Joules at equal evaluations" in capsys.readouterr().out


def test_the_command_needs_two_trials(capsys):
    with pytest.raises(SystemExit) as caught:
        command.main(["--trials", "1"])
    assert caught.value.code == 2
    assert "at least 2" in capsys.readouterr().err


# --- the numbers ----------------------------------------------------------------------------------


def assert_agreement(cell):
    assert cell.agrees, f"{cell.ours:.2f} ± {cell.ours_sd:.2f}, {cell.errors:+.1f} errors: {cell}"


@pytest.mark.compiled
@pytest.mark.parametrize("cell", PROMISED, ids="-".join)
def test_the_papers_numbers(cell):
    assert_agreement(paper.compare(*cell, 30))


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("cell", PROMISED, ids="-".join)
def test_the_papers_numbers_in_full(cell):
    assert_agreement(paper.compare(*cell, 100, seed=2))


@pytest.mark.compiled
def test_ils_5_is_mostly_infeasible_on_the_knapsack():
    assert paper.compare("knapsack", "ils", "ILS-5", 30).feasible < 0.4


@pytest.mark.compiled
@pytest.mark.parametrize("problem", paper.PROBLEMS)
def test_the_energy_aware_ssga_uses_both_operators_alike(problem):
    cell = paper.compare(problem, "ssga", "EOS-SSGA", 30)
    assert cell.early == pytest.approx(0.5, abs=0.12)
    assert cell.late == pytest.approx(0.5, abs=0.12)


@pytest.mark.compiled
@pytest.mark.parametrize("problem", ["knapsack", "nk"])
def test_the_energy_aware_ils_finds_out_that_one_flip_is_better(problem):
    cell = paper.compare(problem, "ils", "EOS-ILS", 30)
    assert cell.early > 0.55
    assert cell.late > 0.9


@pytest.mark.compiled
@pytest.mark.parametrize("method", paper.METHODS["ssga"])
def test_the_papers_energy_at_equal_evaluations(method):
    cell = paper.compare("ecc", "ssga", method, 30, fixed="evaluations")
    assert cell.ours == pytest.approx(cell.paper, rel=0.02)


@pytest.mark.compiled
def test_refusing_duplicates_solves_the_papers_knapsack():
    trial = Trial("knapsack", "ssga:distinct=true,flips=1", "eij", "paper", "1 kJ", points=1)
    fields = trial.to_dict()
    found = [
        solve(Trial.from_dict(fields | {"repetition": repetition})).best.gap == 0.0
        for repetition in range(100)
    ]
    assert np.mean(found) >= 0.95
