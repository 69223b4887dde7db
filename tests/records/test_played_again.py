"""Records in place of a meter."""

import dataclasses

import pytest

from eij_core import Run, Trial, solve
from eij_core.records import save
from tests.records.made import TRIAL


def test_the_replay_meter_reads_our_parquet(result, tmp_path):
    save(result, tmp_path / "a.parquet")
    trial = dataclasses.replace(TRIAL, meter=f"replay:file={tmp_path / 'a.parquet'}")
    run = Run(trial, compiled=False)
    run.advance(10)
    run.adjust(alpha=0.5)
    for _ in run:
        pass
    assert run.result().digest == result.digest


@pytest.mark.parametrize("selector", ["eij-plus", "kube", "log-ei"])
def test_a_replay_gives_the_rule_the_prices_that_it_knew(selector, tmp_path):
    trial = Trial("nk:n=20,k=3", "ils", selector, "paper", "300 J", seed=4, every=1)
    result = solve(trial, compiled=False)
    save(result, tmp_path / "a.parquet")
    again = dataclasses.replace(trial, meter=f"replay:file={tmp_path / 'a.parquet'}")
    assert solve(again, compiled=False).digest == result.digest
