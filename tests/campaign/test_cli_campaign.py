"""`eij campaign`, `eij report` and `eij paper`, as they are typed."""

import json

import pytest

from eij_core import __version__
from eij_core.campaigns import Reader, Store
from eij_core.cli import call
from eij_core.imports import imported
from eij_core.paper import METHODS, PROBLEMS, agreement, experiment
from tests.campaign.small import GRID, essence


@pytest.fixture
def grid(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text(GRID)
    return str(path)


@pytest.fixture
def store(tmp_path):
    return tmp_path / "results"


def test_run_status_report_export(tmp_path, grid, store, capsys):
    assert call(["campaign", "run", grid, "--store", str(store), "--jobs", "1"]) == 0
    assert "12 of 12 trials are done" in capsys.readouterr().out
    assert call(["campaign", "status", "--store", str(store)]) == 0
    assert capsys.readouterr().out == "12 of 12 trials are done, 0 failed\n"
    assert call(["campaign", "status", "--store", str(store), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["done"] == 12
    # again: nothing is left to do
    assert call(["campaign", "run", grid, "--store", str(store), "--jobs", "2", "--quiet"]) == 0
    assert call(["campaign", "resume", "--store", str(store), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert call(["report", str(store)]) == 0
    assert "<!doctype html>" in (tmp_path / "results.html").read_text()
    for form, words in (("md", "### Results by cell"), ("tex", r"\toprule")):
        assert call(["report", str(store), "--format", form, "--out", str(tmp_path / "t")]) == 0
        assert words in (tmp_path / "t").read_text()
    assert call(["campaign", "export", "--store", str(store), "--to", str(tmp_path / "x")]) == 0
    assert (tmp_path / "x" / "trials.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["campaign", "export", "--store", "S", "--to", "X", "--format", "cvs"], "csv"),
        (["campaign", "run", "nowhere.toml", "--store", "S"], "readable"),
        (
            ["campaign", "run", "GRID", "--store", "S", "--jobs", "2", "--dask", "tcp://x:1"],
            "either",
        ),
        (["report", "S", "--format", "pdf"], "html, md, tex"),
    ],
)
def test_bad_input_is_one_line_and_2(grid, store, capsys, arguments, words):
    names = {"GRID": grid, "S": str(store)}
    assert call([names.get(word, word) for word in arguments]) == 2
    assert words in capsys.readouterr().err
    assert not store.exists()


def test_no_campaign_there(tmp_path, capsys):
    assert call(["report", str(tmp_path)]) == 65
    assert "holds no campaign" in capsys.readouterr().err


def test_a_changed_file_needs_extend(tmp_path, grid, store, capsys):
    """F37: refused with the difference; with --extend the old trials stay."""
    run = ["campaign", "run", grid, "--store", str(store), "--jobs", "1"]
    assert call(run) == 0
    (tmp_path / "grid.toml").write_text(GRID.replace("seeds = 6", "seeds = 7"))
    assert call(run) == 65
    assert "+ seeds: 7" in capsys.readouterr().err
    assert call([*run, "--extend"]) == 0
    with Reader(store) as reader:
        assert len(reader.rows()) == 14
        assert reader.spec()["grid"][0]["seeds"] == 7


def test_another_version_needs_extend(grid, store, capsys, monkeypatch):
    run = ["campaign", "run", grid, "--store", str(store), "--jobs", "1"]
    assert call(run) == 0
    monkeypatch.setattr("eij_core.campaigns.conductor.__version__", "9.9")
    assert call(run) == 65
    assert f"version {__version__} became 9.9" in capsys.readouterr().err
    assert call(["campaign", "resume", "--store", str(store), "--jobs", "1", "--extend"]) == 0


def test_failures_are_listed_and_exit_1(tmp_path, grid, store, capsys):
    problems = 'problems = ["external:function=tests.campaign.poison.faulty,n=8"]'
    (tmp_path / "grid.toml").write_text(GRID.replace('problems = ["nk:n=16,k=2"]', problems))
    assert call(["campaign", "run", grid, "--store", str(store), "--jobs", "1"]) == 1
    assert capsys.readouterr().err.count("no fitness today") == 12
    assert call(["campaign", "status", "--store", str(store)]) == 0
    assert "0 of 12 trials are done, 12 failed" in capsys.readouterr().out
    imported.clear()
    retry = ["campaign", "resume", "--store", str(store), "--retry-failed", "--jobs", "1"]
    assert call(retry) == 2  # a store calls nobody's code
    assert "--import tests.campaign.poison" in capsys.readouterr().err
    assert call([*retry, "--import", "tests.campaign.poison"]) == 1
    imported.clear()


def test_a_bad_part_is_reported(grid, store, capsys):
    assert call(["campaign", "run", grid, "--store", str(store), "--jobs", "1", "--quiet"]) == 0
    next((store / "parts").iterdir()).unlink()
    assert call(["campaign", "status", "--store", str(store)]) == 0
    assert "missing or damaged" in capsys.readouterr().out


def test_salvage(tmp_path, grid, store, capsys):
    assert call(["campaign", "run", grid, "--store", str(store), "--jobs", "1", "--quiet"]) == 0
    new = tmp_path / "new"
    salvage = ["campaign", "salvage", "--store", str(store), "--to", str(new), "--file", grid]
    assert call(salvage) == 0
    assert "12 trials saved (0 without their trace)" in capsys.readouterr().out
    with Reader(store) as old, Reader(new) as saved:
        assert essence(old) == essence(saved)


def test_an_interrupt_says_how_to_go_on(grid, store, capsys, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("eij_core.campaigns.conductor.run_plan", interrupted)
    call(["campaign", "run", grid, "--store", str(store), "--jobs", "1"])
    assert f"eij campaign resume --store {store}" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_dask_that_does_not_answer(grid, store, capsys, monkeypatch):
    from eij_core.campaigns import CampaignError

    def refuse(address):
        raise CampaignError(f"no Dask scheduler answers at {address}")

    monkeypatch.setattr("eij_core.campaigns.conductor.Dask", refuse)
    assert call(["campaign", "run", grid, "--store", str(store), "--dask", "tcp://x:1"]) != 0
    assert "no Dask scheduler" in capsys.readouterr().err


# --- the paper ---


@pytest.fixture
def tiny_paper(monkeypatch):
    """The paper's experiment with budgets for an interpreter."""
    small = {
        problem: setting._replace(joules=setting.joules / 400, evaluations=150)
        for problem, setting in PROBLEMS.items()
    }
    parts = {"ils": METHODS["ils"]}
    for module in (experiment, agreement):
        monkeypatch.setattr(module, "PROBLEMS", small)
        monkeypatch.setattr(module, "METHODS", parts)


@pytest.mark.long
def test_the_paper_in_small(tmp_path, capsys, tiny_paper, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call(["paper", "--trials", "2", "--jobs", "1"]) == 0
    text = capsys.readouterr().out
    assert "Final fitness at equal Joules, beside the paper: ECC" in text
    assert "Joules at equal evaluations, beside the paper: KP" in text
    assert "9035.58 ± 125.06" in text
    assert "published means are within 3 standard errors" in text
    page = (tmp_path / "eij-paper.html").read_text()
    assert "EOS-ILS" in page
    assert "425.98 ± 12.02" in page
    assert call(["paper", "--trials", "2", "--jobs", "1", "--quiet"]) == 0


def test_the_paper_on_another_machine(tmp_path, capsys, tiny_paper, monkeypatch):
    """Its budgets are related to the paper's once, then kept."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(experiment, "SAMPLE", 200)
    arguments = ["paper", "--trials", "2", "--jobs", "1", "--meter", "model:evaluation=0.001"]
    assert call(arguments) == 0
    first = capsys.readouterr().out.partition("\n")[0]
    assert first.startswith("budgets that buy the paper's evaluations here: knapsack 0.")
    monkeypatch.setattr(experiment, "host_budgets", None)
    assert call(arguments) == 0
    assert capsys.readouterr().out.partition("\n")[0] == first


def test_names_of_the_paper():
    plan = experiment.paper_campaign(1)
    assert len(plan.trials) == 54
    names = {experiment.name(trial) for trial in plan.trials}
    assert ("PSO-Full", "second operator") in names
    assert len(names) == 9
    assert len({role for _, role in names}) == 3
    odd = experiment.Trial("nk", "ils", "uniform")
    assert experiment.name(odd) == ("uniform", "uniform")


def test_an_interrupted_paper_prints_no_table(tmp_path, capsys, tiny_paper, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from eij_core.cli.shared import signals

    monkeypatch.setattr("eij_core.cli.paper.conduct", lambda *args, **options: 1)
    monkeypatch.setattr(type(signals.interrupts), "code", 130)
    assert call(["paper", "--trials", "2"]) == 130
    assert capsys.readouterr().out == ""


def test_the_report_cannot_be_written(grid, store, capsys):
    with Store(store) as opened:
        opened.begin({"name": "x"}, "1")
    assert call(["report", str(store), "--out", str(store)]) == 2
    assert "a file to write to" in capsys.readouterr().err
