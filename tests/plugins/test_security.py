"""Imports execute code: who asks for them, and whom they are refused."""

import json

import numba
import pytest

from eij_core import InputError, Scheduler, Trial, imports, records, solve
from eij_core.campaigns import Campaign, Conductor
from eij_core.cli import call
from eij_core.imports import import_components
from eij_core.problems.bits.external import External
from eij_core.records import load, save
from eij_core.registry import Absent, problems
from eij_core.reports import report_of

pytest.importorskip("panel")

from app.pages.campaign.form import EXAMPLE, CampaignForm
from app.pages.campaign.report import ReportView
from app.pages.common.offers import offered, operators_of
from app.pages.run import permalink, uploads
from app.pages.run.settings import Settings
from app.pages.run.share import command, snippet

LINK = "?problem=leading-mine:n=9&algorithm=ils:operators=flip-1%2Bshake&selector=somebodys-rule"


def test_a_link_names_components_and_imports_none(mine):
    found, notice = permalink.read(f"{LINK}&import={mine.path}")
    assert "problem" not in found
    assert notice.startswith("This link held values that cannot be used")
    assert mine.executed == 0
    import_components([str(mine.path)])  # the owner: eij serve --import
    found, notice = permalink.read(LINK)
    assert notice == ""
    trial = Settings(**found).trial()
    assert trial.imports == ("somebodys",)
    assert command(trial).startswith(f"eij run --import {mine.path} --problem leading-mine:n=9")
    assert (
        snippet(trial).partition("\n\n")[2].startswith(f"import_components([{str(mine.path)!r}])")
    )
    assert permalink.write(found).count("leading-mine") == 1
    assert mine.executed == 1


def test_forms_offer_what_the_owner_has_imported(mine):
    assert "leading-mine" not in offered("problem")
    import_components([str(mine.path)])
    assert "leading-mine" in offered("problem")
    assert "somebodys-rule" in offered("selector")
    problems.add("needs-n")(External)
    try:
        assert "needs-n" not in offered("problem")  # a form could not begin with it
    finally:
        problems.remove("needs-n")
    assert {"shake", "turn"} < set(operators_of("ils"))
    form = CampaignForm()
    assert "leading-mine" in form.fields["problems"].options


def test_a_pasted_campaign_imports_nothing(mine):
    form = CampaignForm()
    form.way.value = "file"
    form.file.value = f"import = [{json.dumps(str(mine.path))}]\n{EXAMPLE}"
    assert "no import in a file that a page is given: it executes code" in form.complaint.object
    form.file.value = EXAMPLE.replace('"knapsack"', '"leading-mine"')
    assert "one of" in form.complaint.object
    assert mine.executed == 0


@pytest.fixture
def theirs(mine, tmp_path):
    """A record and a store that name the module, in a process that does not know it."""
    import_components([str(mine.path)])
    trial = Trial("leading-mine:n=9", "ils:steps=2", "somebodys-rule", "model", "1 J")
    save(solve(trial), tmp_path / "a.json")
    text = """
        problems = ["leading-mine:n=9"]
        algorithms = ["ils:steps=2"]
        selectors = ["somebodys-rule"]
        meter = "model"
        budget = "1 J"
        seeds = 2
    """
    list(Conductor(Campaign.from_toml(text), tmp_path / "store", jobs=1))
    mine.forget()
    return tmp_path, mine.executed


def test_an_uploaded_record_is_shown_and_imports_nothing(mine, theirs):
    folder, before = theirs
    snapshot = uploads.read((folder / "a.json").read_bytes(), "a.json")
    assert snapshot.problem == "leading-mine"
    assert mine.executed == before


@pytest.mark.long
def test_a_store_is_shown_by_the_page_and_imports_nothing(mine, theirs):
    folder, before = theirs
    view = ReportView()
    view.draw(report_of(folder / "store"))
    assert view.title.endswith("2 trials that are done")
    assert mine.executed == before


def test_a_record_that_calls_a_function_by_name_does_not_call_it(tmp_path, capsys, monkeypatch):
    """`external` names any function of any module, so whoever writes a record could name one."""
    trial = Trial("external:function=tests.campaign.poison.harmless,n=8", "ils:steps=2",
                  meter="model", budget="1 J")  # fmt: skip
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    save(solve(trial), tmp_path / "a.parquet")
    record = load(tmp_path / "a.parquet")
    assert isinstance(record.trial.problem, Absent)
    assert call(["replay", "--verify", str(tmp_path / "a.parquet")]) == 2
    assert "which executes code: --import tests.campaign.poison" in capsys.readouterr().err


def test_a_record_of_a_scheduler_with_somebodys_rule(mine, tmp_path):
    import_components([str(mine.path)])
    scheduler = Scheduler(["a", "b"], selector="somebodys-rule", meter="model", budget="1 J")
    for step in scheduler:
        step.gain = 1.0
    data = records.write(scheduler.result(), ".json")
    mine.forget()
    trial = records.read(data).trial
    assert isinstance(trial.selector, Absent)
    assert trial.imports == ("somebodys",)


@pytest.mark.parametrize(("way", "field"), [("option", "--import"), ("variable", "EIJ_IMPORT")])
def test_a_public_server_starts_with_no_import(mine, way, field, monkeypatch, capsys):
    monkeypatch.setattr("app.server.serve.serve", lambda **_: pytest.fail("it was started"))
    options = ["--import", str(mine.path)] if way == "option" else []
    if way == "variable":
        monkeypatch.setenv(imports.VARIABLE, str(mine.path))
    assert call(["serve", "--public", *options]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert line.startswith(f"eij: {field} = {mine.path}"[:60])
    assert "nothing to import on a public server: strangers would start code" in line


def test_a_process_that_serves_strangers_imports_nothing(mine, monkeypatch):
    monkeypatch.setenv(imports.PUBLIC, "1")
    with pytest.raises(InputError, match="on a public server"):
        import_components([str(mine.path)])
    (mine.folder / "grid.toml").write_text('import = ["somebodys.py"]\n' + EXAMPLE)
    with pytest.raises(InputError, match="on a public server"):
        Campaign.from_file(mine.folder / "grid.toml")
    assert mine.executed == 0


def test_a_private_server_passes_its_imports_on(mine, monkeypatch):
    seen = {}
    monkeypatch.setattr("app.server.serve.serve", lambda **options: seen.update(options))
    monkeypatch.setenv(imports.VARIABLE, "json")
    assert call(["serve", "--import", str(mine.path)]) == 0
    assert seen["imports"].endswith(str(mine.path))
    assert seen["imports"].startswith("json")
