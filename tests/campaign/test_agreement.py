"""Our numbers beside the paper's."""

import math

import pandas as pd
import pytest

from eij_core import Trial
from eij_core.campaigns import Campaign, Reader, Store
from eij_core.paper import FINAL_FITNESS, METHODS, PROBLEMS, beside
from eij_core.paper.agreement import _bold, _entries, _remarks, _side_by_side, agreements
from eij_core.paper.experiment import is_papers
from eij_core.reports import report_of
from tests.campaign.small import run


def frames(shift=0.0, feasible=True, source="paper (simulated)", by_joules=True):
    """Trials whose means are the paper's, shifted."""
    lines = []
    for problem, setting in PROBLEMS.items():
        for algorithm, methods in METHODS.items():
            for method in methods:
                entry = FINAL_FITNESS[problem][method]
                mean = 5.0 if math.isnan(entry.mean) else entry.mean
                sd = 1.0 if math.isnan(entry.sd) else entry.sd
                lines += [
                    {
                        "problem": problem,
                        "algorithm": algorithm,
                        "method": method,
                        "by_joules": by_joules,
                        "source": source,
                        "fitness": (mean + sign * sd / 10 + shift * sd) / setting.scale,
                        "joules": 0.001 + 0.0001 * sign,
                        "feasible": feasible,
                    }
                    for sign in (-1, 1)
                ]
    return type("Dataset", (), {"trials": pd.DataFrame(lines)})()


def test_equal_means_agree_and_others_do_not():
    found = agreements(frames())
    assert len(found) == 27
    assert all(a.agrees for a in found if a.comparable)
    assert sum(a.comparable for a in found) == 25
    far = agreements(frames(shift=2.0))
    assert not any(a.agrees for a in far if a.comparable)
    assert all(a.errors > 3 for a in far if a.comparable)
    assert "16 of 16" in _remarks(found)[0]
    assert "0 of 16" in _remarks(far)[0]
    assert "EOS-SSGA on KP (+" in _remarks(far)[0]
    assert _remarks([]) == []


def test_another_machine_s_joules_are_not_held_against_the_paper_s():
    found = agreements(frames(source="cputime (estimated)"))
    found += agreements(frames(source="cputime (estimated)", by_joules=False))
    assert len(found) == 54
    assert not any(a.comparable for a in found)
    (remark,) = _remarks(found)
    assert "not the Joules of the paper's machine" in remark
    table = _side_by_side([a for a in found if a.fixed == "evaluations"], "t", "n")
    assert table.rows[0][3].text == "0.00100 ± 0.00014"  # not 0.00 ± 0.00
    assert {row[5].text for row in table.rows} == {"–"}


def test_bold_is_the_papers():
    """The rule gives the bold entries of the paper's table of final fitness."""
    bold = {(problem, method) for whose, problem, method in _bold(agreements(frames()))
            if whose == "paper"}  # fmt: skip
    plain = {(p, m) for p in PROBLEMS for m in ("PSO-Light", "ILS-5")}
    plain |= {("ecc", "EOS-PSO"), ("ecc", "EOS-ILS")}
    everything = {(p, m) for p in PROBLEMS for group in METHODS.values() for m in group}
    assert bold == everything - plain


def test_what_did_not_work_is_said():
    found = agreements(frames(feasible=False))
    assert all(math.isnan(a.mean) for a in found)
    table = _side_by_side(found, "t", "n")
    assert "none feasible" in _remarks(found)[0]
    assert "– (0%)" in {cell.text for row in table.rows for cell in row}
    few = [a for a in found if (a.problem, a.method) in (("knapsack", "SSGA-1"), ("nk", "ILS-1"))]
    part = _side_by_side([a for a in few if a.fixed == "joules"], "t", "n")
    assert [row[0].text for row in part.rows] == ["SSGA-1", "ILS-1"]
    assert len(part.headings) == 11
    assert [cell.text for cell in part.rows[0][6:]] == [""] * 5
    single = found[0]._replace(mean=1.0, sd=math.nan, feasible=0.1, p=0.2)
    assert [cell.text for cell in _entries(single, set())][2:4] == ["1.00 (10%)", "0.20"]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_one_feasible_run_is_compared_by_the_papers_error(problem):
    made = frames()
    keep = made.trials.groupby(["problem", "method"]).head(1)
    made.trials = keep
    assert all(not math.isnan(a.errors) for a in agreements(made) if a.comparable)


@pytest.mark.parametrize(
    ("changes", "papers"),
    [
        ({}, True),
        ({"selector": "static:operator=flip-1"}, True),
        ({"budget": "35000 evaluations"}, True),
        ({"budget": "300 J"}, False),
        ({"problem": "knapsack:instance=2"}, False),
        ({"algorithm": "ils:steps=10"}, False),
        ({"meter": "model"}, False),
        ({"selector": "uniform"}, False),
        ({"problem": "ecc"}, False),  # at the knapsack's budget
    ],
)
def test_which_trials_are_the_papers(changes, papers):
    own = {"problem": "knapsack", "algorithm": "ils", "selector": "eij", "meter": "paper"}
    assert is_papers(Trial(**{**own, "budget": "1 kJ", **changes})) is papers


def test_any_store_has_the_papers_values_beside_its_own(tmp_path):
    trials = {"problems": ["nk"], "algorithms": ["ssga:population=10"], "selectors": ["eij"]}
    grid = {"meter": "paper", "budget": "3 J", "seeds": 2, "points": 5}
    run(tmp_path / "other", Campaign.from_dict({**trials, **grid}))
    assert report_of(tmp_path / "other", beside=beside).lead == []
    plan = Campaign.from_dict({**grid, **trials, "algorithms": ["ssga"], "budget": "1 kJ"})
    # The same trials, spared their length: what matters is what they are called.
    with Store(tmp_path / "papers") as store, Reader(tmp_path / "other") as reader:
        store.begin(plan.data, "test")
        for row, trial in zip(reader.rows(), plan.trials, strict=True):
            store.put([row._replace(spec_json=trial.to_json(), trace_path="", trace_sha256="")])
    report = report_of(tmp_path / "papers", beside=beside)
    (table,) = report.lead
    assert [cell.text for cell in table.rows[0][:2]] == ["EOS-SSGA", "72.49 ± 1.36"]
    assert report.control == "eij"
