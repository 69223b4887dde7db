"""What 0.1 wrote is read: records, a trial, a campaign and its store; see also test_permalink.

The files of `samples-0.1` were written by 0.1 and are never written anew.
"""

import json
import shutil
from pathlib import Path

import pytest

from eij_core import Trial, solve
from eij_core.campaigns import Campaign
from eij_core.campaigns.grid import key_of
from eij_core.campaigns.reader import Reader
from eij_core.cli import call
from eij_core.protocols import Provenance
from eij_core.records import load, save
from eij_core.reports.export import steps_of
from tests.records.made import same

SAMPLES = Path(__file__).parent / "samples-0.1"
RUN = [SAMPLES / name for name in ("run.parquet", "run.csv", "run.json")]


@pytest.mark.parametrize("path", RUN, ids=lambda path: path.suffix)
def test_a_record_in_each_form(path, tmp_path):
    record = load(path)
    assert record.metadata["versions"]["eij"] == "0.1.0"
    assert record.digest == "bfe0ecc149b6981d797ce1785a395f21"
    assert record.names == ("flip-1", "flip-5")
    assert [(c.decision, c.name, c.value) for c in record.result().changes] == [(4, "alpha", 0.5)]
    assert record.operators[0].histogram.sum() == record.operators[0].applications
    same(record.result(), load(RUN[0]).result())
    save(record, tmp_path / "new.parquet")
    same(load(tmp_path / "new.parquet").result(), record.result())


@pytest.mark.parametrize("path", RUN, ids=lambda path: path.suffix)
def test_its_commands(path, capsys):
    assert call(["replay", str(path), "--verify"]) == 0
    assert "verified" in capsys.readouterr().out
    assert call(["counterfactual", str(path), "--selector", "ucb1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rule"] == "ucb1"


def test_a_record_on_the_grid_and_its_trial():
    record = load(SAMPLES / "grid.parquet")
    trial = Trial.from_toml((SAMPLES / "trial.toml").read_text("utf-8"))
    assert record.trial == trial
    assert record.metadata["key"] == trial.key
    assert solve(trial, compiled=False).digest == record.digest


def test_an_unfinished_record():
    record = load(SAMPLES / "unfinished.json")
    assert record.reason == "unfinished"
    assert record.spent.decisions == 3


def test_a_record_of_a_real_counter(capsys):
    result = load(SAMPLES / "counted.json").result()
    assert result.meter.provenance is Provenance.ESTIMATED
    assert result.energy["joules"]["overhead"] > 0
    assert call(["replay", str(SAMPLES / "counted.json")]) == 0
    assert "beside the budget" in capsys.readouterr().out


def test_a_campaign_and_its_store(tmp_path, capsys):
    folder = Path(shutil.copytree(SAMPLES / "store", tmp_path / "store"))
    campaign = Campaign.from_toml((SAMPLES / "campaign.toml").read_text("utf-8"))
    with Reader(folder) as reader:
        assert campaign.data == reader.spec()
        keys = {key_of(trial): trial for trial in campaign.trials}
        assert keys.keys() == reader.states().keys()
        for row in reader.rows():
            assert solve(keys[row.key], compiled=False).digest == row.result["digest"]
    assert set(steps_of(folder)["run_id"]) == keys.keys()
    assert call(["report", str(folder), "--out", str(tmp_path / "report.html")]) == 0
    # Another version goes on with a store when it is told to; here nothing is left to do.
    command = ["campaign", "run", str(SAMPLES / "campaign.toml"), "--store", str(folder)]
    assert call([*command, "--jobs", "1", "--extend"]) == 0
    assert "4 of 4" in capsys.readouterr().out
