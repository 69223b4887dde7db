"""Our numbers beside the paper's."""

import math

import pandas as pd
import pytest

from eij_core.paper import FINAL_FITNESS, METHODS, PROBLEMS
from eij_core.paper.experiment import _bold, _entries, _remarks, _side_by_side, agreements


def frames(shift=0.0, feasible=True):
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
                        "by_joules": True,
                        "fitness": (mean + sign * sd / 10 + shift * sd) / setting.scale,
                        "joules": 1.0,
                        "feasible": feasible,
                    }
                    for sign in (-1, 1)
                ]
    return type("Frames", (), {"trials": pd.DataFrame(lines)})()


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
    assert "– (0%)" in {cell.text for row in table.rows for cell in row}
    assert _side_by_side(found[:1], "t", "n").rows[1][1].text == ""
    single = found[0]._replace(mean=1.0, sd=math.nan, feasible=0.1, p=0.2)
    assert [cell.text for cell in _entries(single, set())][2:4] == ["1.00 (10%)", "0.20"]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_one_feasible_run_is_compared_by_the_papers_error(problem):
    made = frames()
    keep = made.trials.groupby(["problem", "method"]).head(1)
    made.trials = keep
    assert all(not math.isnan(a.errors) for a in agreements(made) if a.comparable)
