"""What was made with somebody's own components is read where these are not."""

import json

import pytest

from eij_core import InputError, Trial, solve
from eij_core.campaigns import Campaign, Reader
from eij_core.cli import call
from eij_core.imports import import_components
from eij_core.records import load, save
from eij_core.registry import Absent, problems

GRID = """
{import_}
problems = ["leading-mine:n=10", "nk:n=12,k=2"]
algorithms = ["ils:operators=flip-1+shake,steps=3"]
selectors = ["eij", "uniform"]
meter = "model"
budget = "1 J"
seeds = 3
points = 20
"""


def eij(*arguments):
    return call([str(argument) for argument in arguments])


@pytest.fixture
def grid(mine):
    path = mine.folder / "grid.toml"
    path.write_text(GRID.format(import_='import = ["somebodys.py"]'))
    return path


@pytest.fixture
def store(mine, grid, tmp_path, capsys):
    """A finished campaign of somebody else's components, which this process has forgotten."""
    folder = tmp_path / "store"
    assert eij("campaign", "run", grid, "--store", folder, "--jobs", 1) == 0
    assert "12 of 12 trials are done" in capsys.readouterr().out
    mine.forget()
    return folder


def test_a_store_says_what_it_was_made_with(mine, store):
    with Reader(store) as reader:
        assert reader.spec()["import"] == ["somebodys"]
        assert "somebodys " in reader.code_version()
        trials = [json.loads(row.spec_json) for row in reader.rows()]
    assert all(trial["import"] == ["somebodys"] for trial in trials)


@pytest.mark.long
def test_a_store_is_reported_exported_and_counted_without_the_components(mine, store, capsys):
    before = mine.executed
    assert eij("campaign", "status", "--store", store) == 0
    assert "12 of 12 trials are done, 0 failed" in capsys.readouterr().out
    assert eij("report", store, "--out", mine.folder / "report.html") == 0
    assert "leading-mine" in (mine.folder / "report.html").read_text()
    for form in ("csv", "parquet", "ioh"):
        to = mine.folder / form
        assert eij("campaign", "export", "--store", store, "--to", to, "--format", form) == 0
    assert eij("campaign", "salvage", "--store", store, "--to", mine.folder / "new") == 0
    assert mine.executed == before
    assert "leading-mine" not in problems


def test_to_resume_is_to_execute_so_the_owner_says_it(mine, store, capsys):
    before = mine.executed
    resume = ("campaign", "resume", "--store", store, "--jobs", 1)
    assert eij(*resume) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "its owner to import it, which executes code: --import somebodys" in line
    assert mine.executed == before
    assert eij(*resume, "--import", mine.path) == 0


def test_changed_code_is_another_version(mine, store, grid, capsys):
    mine.path.write_text(mine.path.read_text() + "\n# a change\n")
    run = ("campaign", "run", grid, "--store", store, "--jobs", 1)
    assert eij(*run) == 65
    assert "somebodys" in capsys.readouterr().err
    assert eij(*run, "--extend") == 0


def test_an_interruption_names_the_import_to_resume_with(mine, grid, tmp_path, capsys, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("eij_core.campaigns.conductor.run_plan", stop)
    eij("campaign", "run", grid, "--store", tmp_path / "store", "--jobs", 1)
    assert f"--store {tmp_path / 'store'} --import {mine.path}" in capsys.readouterr().err


@pytest.mark.long
def test_workers_that_are_processes_import_what_the_owner_did(mine, grid, tmp_path, capsys):
    """Their results are those of one process, and the record's versions name the code."""
    assert eij("campaign", "run", grid, "--store", tmp_path / "two", "--jobs", 2) == 0
    trial = ["--problem", "leading-mine:n=10", "--meter", "model", "--budget", "1J"]
    several = ["--trials", 2, "--jobs", 2, "--quiet", "--out", tmp_path / "runs"]
    assert eij("run", *trial, *several, "--import", mine.path) == 0
    records = sorted((tmp_path / "runs").iterdir())
    assert len(records) == 2
    versions = load(records[0]).metadata["versions"]
    assert versions["somebodys"].startswith("sha256 ")


def test_a_record_is_shown_and_not_run_without_the_component(mine, tmp_path, capsys):
    import_components([str(mine.path)])
    trial = Trial("leading-mine:n=10", "ils:steps=3", meter="model", budget="1 J")
    save(solve(trial), tmp_path / "a.parquet")
    key = trial.key
    mine.forget()
    before = mine.executed
    assert eij("replay", tmp_path / "a.parquet") == 0
    assert "leading-mine" in capsys.readouterr().out
    assert eij("replay", tmp_path / "a.parquet", "--verify") == 2
    assert "--import somebodys" in capsys.readouterr().err
    assert mine.executed == before
    record = load(tmp_path / "a.parquet")
    assert isinstance(record.trial.problem, Absent)
    assert record.trial.key == key
    assert record.trial.parameters("problem") == ()
    assert eij("replay", tmp_path / "a.parquet", "--verify", "--import", mine.path) == 0


def test_a_campaign_is_read_strictly_but_for_stores():
    with pytest.raises(InputError, match="import = nk"):
        Campaign.from_toml(GRID.format(import_='import = "nk"'))
    with pytest.raises(InputError, match="problem = leading-mine"):
        Campaign.from_toml(GRID.format(import_=""))
