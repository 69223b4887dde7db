"""The paper's tables, and ours beside them."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from eij_core import Trial, paper, solve
from eij_core.campaigns import Campaign, Reader
from eij_core.meters import paper as machine
from eij_core.paper import published
from eij_core.paper.agreement import Agreement, agreements
from eij_core.paper.experiment import name
from eij_core.reports import read_dataset
from tests.campaign.small import run

FEATURED = {"ssga": "replace-1", "pso": "full", "ils": "flip-1"}
"""The operator whose share the paper plots."""

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


class Cell(NamedTuple):
    """One method on one problem: how it agrees with the paper, and how it chose."""

    agreement: Agreement
    early: float
    """Share of the operator that the paper plots, in the decisions of the first fifth."""
    late: float
    """The same in the last fifth."""


@pytest.fixture
def compare(tmp_path):
    """Run one method in one cell as a campaign; return the cell."""

    def run_cell(problem, algorithm, method, trials, fixed="joules", seed=1):
        unit = "J" if fixed == "joules" else "evaluations"
        grid = {
            "problems": [problem],
            "algorithms": [algorithm],
            "selectors": [paper.METHODS[algorithm][method]],
            "meter": "paper",
            "budget": f"{getattr(paper.PROBLEMS[problem], fixed):g} {unit}",
            "seeds": trials,
            "seed": seed,
            "points": 100,
        }
        run(tmp_path, Campaign.from_dict(grid))
        (agreement,) = agreements(read_dataset(tmp_path, namer=name, curves=False))
        with Reader(tmp_path) as reader:
            names = [entry["name"] for entry in reader.rows()[0].result["operators"]]
            featured = names.index(FEATURED[algorithm])
            traces = dict(reader.traces()).values()
        shares = [_shares(rows, "spent" if unit == "J" else unit, featured) for rows in traces]
        return Cell(agreement, *np.mean(shares, axis=0))

    return run_cell


def _shares(rows, axis, operator):
    """Return the operator's share of the decisions in the first and the last fifth of the axis."""
    ends = np.searchsorted(rows[axis], np.array([0.2, 0.8]) * rows[axis][-1])
    applied = rows["applications"]
    first, last = applied[ends[0]], applied[-1] - applied[ends[1]]
    return first[operator] / max(first.sum(), 1), last[operator] / max(last.sum(), 1)


# --- the table ------------------------------------------------------------------------------------


def test_the_published_tables():
    for table in (published.FINAL_FITNESS, published.FINAL_ENERGY):
        assert list(table) == ["knapsack", "nk", "ecc"]
        assert all(len(methods) == 9 for methods in table.values())
    assert published.FINAL_FITNESS["knapsack"]["ILS-1"] == (9031.08, 112.59, "0.91")
    assert published.FINAL_FITNESS["ecc"]["EOS-PSO"] == (5.86, 0.06, "")
    assert math.isnan(published.FINAL_FITNESS["knapsack"]["ILS-5"].mean)
    assert published.FINAL_ENERGY["ecc"]["SSGA-5"] == (7379.68, 152.72, "0.19")


def test_the_papers_machine_has_the_papers_prices():
    for algorithm, methods in paper.METHODS.items():
        for method, selector in list(methods.items())[1:]:
            operator = selector.partition("=")[2]
            table = tuple(published.FINAL_ENERGY[p][method].mean for p in paper.PROBLEMS)
            assert machine.PUBLISHED[operator] == table, algorithm
    evaluations = [setting.evaluations for setting in paper.PROBLEMS.values()]
    assert machine.EVALUATIONS.tolist() == evaluations


# --- the numbers ----------------------------------------------------------------------------------


@pytest.mark.compiled
@pytest.mark.parametrize("cell", PROMISED, ids="-".join)
def test_the_papers_numbers(compare, cell):
    found = compare(*cell, 30).agreement
    assert found.agrees, found


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("cell", PROMISED, ids="-".join)
def test_the_papers_numbers_in_full(compare, cell):
    found = compare(*cell, 100, seed=2).agreement
    assert found.agrees, found


@pytest.mark.compiled
def test_ils_5_is_mostly_infeasible_on_the_knapsack(compare):
    assert compare("knapsack", "ils", "ILS-5", 30).agreement.feasible < 0.4


@pytest.mark.compiled
@pytest.mark.parametrize("problem", paper.PROBLEMS)
def test_the_energy_aware_ssga_uses_both_operators_alike(compare, problem):
    cell = compare(problem, "ssga", "EOS-SSGA", 30)
    assert cell.early == pytest.approx(0.5, abs=0.12)
    assert cell.late == pytest.approx(0.5, abs=0.12)


@pytest.mark.compiled
@pytest.mark.parametrize("problem", ["knapsack", "nk"])
def test_the_energy_aware_ils_finds_out_that_one_flip_is_better(compare, problem):
    cell = compare(problem, "ils", "EOS-ILS", 30)
    assert cell.early > 0.55
    assert cell.late > 0.9


@pytest.mark.compiled
@pytest.mark.parametrize("method", paper.METHODS["ssga"])
def test_the_papers_energy_at_equal_evaluations(compare, method):
    cell = compare("ecc", "ssga", method, 30, fixed="evaluations")
    assert cell.agreement.mean == pytest.approx(cell.agreement.published.mean, rel=0.02)


@pytest.mark.compiled
def test_refusing_duplicates_solves_the_papers_knapsack():
    trial = Trial("knapsack", "ssga:distinct=true,flips=1", "eij", "paper", "1 kJ", points=1)
    fields = trial.to_dict()
    found = [
        solve(Trial.from_dict(fields | {"repetition": repetition})).best.gap == 0.0
        for repetition in range(100)
    ]
    assert np.mean(found) >= 0.95
