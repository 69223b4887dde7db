"""The page of campaigns without a browser: form, progress, stop and resume, stores, errors."""

import os
import time

import panel as pn
import pytest
from bokeh.document import Document

from app.pages.campaign.form import EXAMPLE, CampaignForm
from app.pages.campaign.page import NONE, CampaignPage
from app.pages.campaign.stores import Shelf, stores
from eij_core import InputError
from eij_core.campaigns import Campaign, Reader
from tests.app import tiny
from tests.campaign.small import run

FILE = """
name = "tiny <b>"
problems = ["tiny"]
algorithms = ["ils:steps=4"]
selectors = ["eij", "uniform"]
meter = "model"
budget = "2 J"
seeds = SEEDS
points = 10
"""


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """No stores but the visitor's own."""
    monkeypatch.setenv("EIJ_STORES", str(tmp_path / "stores"))
    (tmp_path / "stores").mkdir()
    return tmp_path / "stores"


@pytest.fixture
def desk(empty, tiny_problems):
    made = CampaignPage("", "me")
    pn.Row(made.controls, made.main()).get_root(Document())
    yield made
    made.close()


def pasted(desk, seeds):
    desk.form.file.value = FILE.replace("SEEDS", str(seeds))
    desk.form.way.value = "file"


def stored(folder, seeds):
    """A finished campaign of interpreted trials: nothing to compile."""
    run(folder, Campaign.from_toml(FILE.replace("SEEDS", str(seeds))))


def until(desk, condition, seconds=120):
    """Tick as the shell does until something holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, desk._progress
        desk.tick()
        time.sleep(0.01)


def finished(desk):
    return lambda: desk.job is None


# --- the form ---


def test_a_grid_from_widgets(tiny_problems):
    form = CampaignForm()
    plan = form.campaign()
    rules = {str(trial.selector).partition(",")[0] for trial in plan.trials}
    assert {"static:operator=flip-1", "static:operator=flip-5"} < rules
    assert len(plan.trials) == 5 * 20
    form.fields["alone"].value = False
    assert len(form.campaign().trials) == 3 * 20
    assert "60 trials, 3 combinations" in form.size.object


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("budget", "300 apples", "budget"),
        ("budget", '1 J"\nseeds = 1', "budget"),
        ("problems", [], "problems"),
        ("selectors", [], "selectors"),
    ],
)
def test_errors_are_shown_at_their_field(field, value, said):
    form = CampaignForm()
    form.fields[field].value = value
    assert form.fields[field].error_state
    assert said in form.complaint.object
    assert form.complaint.visible
    assert not [key for key, w in form.fields.items() if key != field
                and getattr(w, "error_state", False)]  # fmt: skip
    with pytest.raises(InputError):
        form.campaign()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"knapsack"', '"knapsack', "TOML"),
        ("seeds = 20", "seeds = 0", "seeds"),
        ("seeds = 20", "sedes = 20", "sedes"),
        ("seeds = 20", "seeds = 1000000000", "at most 20,000"),
        ('"knapsack"', '"knapsack-file:file=/etc/passwd"', "one of"),
        ('"knapsack"', '{name = "external", function = "os.getcwd"}', "one of"),
        ('"knapsack"', '"<img src=x>"', "&lt;img src=x&gt;"),
    ],
)
def test_a_pasted_file_is_checked(old, new, said):
    form = CampaignForm()
    form.way.value = "file"
    assert form.file.visible
    assert not form.fields["budget"].visible
    form.file.value = EXAMPLE.replace(old, new)
    assert form.file.error_state
    assert said in form.complaint.object
    assert "<img" not in form.complaint.object
    form.file.value = EXAMPLE
    assert not form.complaint.visible


def test_a_private_component_in_a_grid_is_refused():
    form = CampaignForm()
    form.way.value = "file"
    form.file.value = EXAMPLE + '\n[[grid]]\nproblems = ["external:function=os.getcwd,n=3"]\n'
    assert "external" in form.complaint.object


def test_a_public_server_has_limits(monkeypatch):
    monkeypatch.setenv("EIJ_PUBLIC", "1")
    form = CampaignForm()
    form.way.value = "file"
    form.file.value = EXAMPLE.replace("seeds = 20", "seeds = 1001")
    assert "at most 2,000" in form.complaint.object
    form.file.value = EXAMPLE.replace('"300 J"', '"300 kJ"')
    assert "budget" in form.complaint.object
    form.file.value = EXAMPLE.replace('"knapsack"', '"nk:n=20000"')
    assert "10000" in form.complaint.object


# --- running ---


@pytest.mark.long
def test_a_campaign_runs_and_reports(desk, empty):
    pasted(desk, 3)
    desk.start()
    assert desk.toolbar.run.disabled
    until(desk, finished(desk))
    assert desk._progress.what == "finished"
    assert desk.view.report is not None
    assert len(desk.view.report.dataset.trials) == 6
    assert desk._reports.visible
    assert "tiny" in desk.view._body.object
    assert "<b>tiny" not in desk.view._lead.object
    desk.view.part.value = desk.view.part.options[1]
    assert desk.view._body.object == desk.view._sections[desk.view.part.value]
    assert b"EI/J report" in desk.view._file().read()
    (name,) = stores()
    assert name in desk.store.options  # it can be opened again
    with Reader(empty / name) as reader:
        assert len(reader.rows()) == 6


@pytest.mark.long
def test_stop_and_resume(desk, empty):
    pasted(desk, 2000)
    desk.start()
    until(desk, lambda: desk._progress.done > 5)
    assert "trials are stored" in desk._words.object
    assert "<b>uniform</b>" in desk._table.object
    desk.halt()
    until(desk, finished(desk))
    assert desk._progress.what == "stopped"
    assert desk.toolbar.run.label == "Resume"
    assert desk.view.report is not None  # of what there is
    with Reader(empty / next(iter(stores()))) as reader:
        before = [row.key for row in reader.rows()]
    assert 5 < len(before) < 4000
    desk.start()
    until(desk, lambda: desk._progress.done > len(before) + 5)
    desk.halt()
    until(desk, finished(desk))
    with Reader(empty / next(iter(stores()))) as reader:
        after = [row.key for row in reader.rows()]
    assert after[: len(before)] == before  # none was run twice
    assert len(after) > len(before)


def test_another_control(desk):
    pasted(desk, 3)
    desk.start()
    until(desk, finished(desk))
    assert desk.view.control.value == "eij"
    desk.view.control.value = "uniform"
    until(desk, lambda: desk.view.report.control == "uniform")


def test_a_failing_problem_is_told(desk):
    pasted(desk, 2)
    desk.form.file.value = desk.form.file.value.replace('"tiny"', '"raises"')
    desk.start()
    until(desk, finished(desk))
    assert "4 trials failed" in desk.view._lead.object
    assert "All trials are stored; 4 of them failed." in desk._words.object
    assert not desk.view._bar.visible  # there is no part to choose
    assert tiny.PAYLOAD not in desk.view._lead.object


def test_what_cannot_be_run_is_said(desk):
    desk.form.fields["budget"].value = "nothing"
    desk.start()
    assert not desk.busy
    assert desk.alert.visible
    assert "nothing" in desk.alert.object


# --- stores ---


def test_any_store_can_be_opened(empty, tiny_problems):
    stored(empty / "mine", 3)
    desk = CampaignPage("?page=campaign&store=mine&alone=false&seeds=7", "me")
    assert desk.form.fields["seeds"].value == 7
    assert not desk.form.fields["alone"].value
    until(desk, finished(desk))
    assert "The report of tiny &lt;b&gt;: 6 trials" in desk._words.object
    assert desk.link() == "?page=campaign&store=mine&alone=false&seeds=7"
    desk.close()
    assert (empty / "mine" / "campaign.sqlite").exists()


def test_a_damaged_store_is_refused_with_advice(empty, desk):
    stored(empty / "bad", 2)
    file = empty / "bad" / "campaign.sqlite"
    data = file.read_bytes()
    assert b'"joules"' in data
    file.write_bytes(data.replace(b'"joules"', b'"jewels"', 1))
    desk.list_stores()
    desk.store.value = "bad"
    until(desk, finished(desk))
    assert desk._progress.what == "failed"
    assert "salvage" in desk.alert.object


@pytest.mark.parametrize("name", ["../outside", "/etc", "link", "nothing", "", NONE])
def test_only_names_below_the_directory(empty, tmp_path, desk, name):
    stored(tmp_path / "outside", 1)
    (empty / "link").symlink_to(tmp_path / "outside")
    assert stores() == {}
    with pytest.raises(InputError):
        desk.shelf.find(name)
    desk.open(name)
    assert desk.alert.visible
    assert not desk.busy


def test_where_stores_are(tmp_path, monkeypatch, tiny_problems):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EIJ_STORES", raising=False)
    stored(tmp_path / "here", 1)
    assert list(stores()) == ["here"]  # where `eij paper` leaves them
    monkeypatch.setenv("EIJ_PUBLIC", "1")
    assert stores() == {}
    shelf = Shelf()
    folder = shelf.place("../../x", "abc")
    assert folder.name == "x-abc"
    assert not shelf.keeps
    assert folder.parent.is_dir()
    assert os.path.commonpath([folder, tmp_path]) != str(tmp_path)
    shelf.clear()
    assert not folder.parent.exists()


def test_closing_ends_the_work(desk):
    pasted(desk, 3000)
    desk.start()
    until(desk, lambda: desk._progress.done > 0)
    work = desk.job
    desk.close()
    work.join(120)
    assert work.over


# --- in a browser ---


@pytest.mark.ui
def test_a_campaign_in_a_browser(server, page):
    """Choose, run, read the report and take it along; nothing complains, nobody else is asked."""
    complaints, asked = [], []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("request", lambda request: asked.append(request.url))
    page.set_default_timeout(120_000)
    query = "page=campaign&problems=tiny&selectors=eij,uniform&budget=2 J&seeds=3&meter=model"
    page.goto(f"{server}?{query}")
    page.get_by_text("12 trials, 4 combinations").wait_for()
    page.get_by_text("Ready").wait_for()  # a link never starts a run
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("All trials are stored.").wait_for()
    page.get_by_text("Held against").first.wait_for()
    page.locator("table").get_by_text("static flip-1").first.wait_for()
    with page.expect_download() as download:
        page.get_by_text("Whole report").click()
    assert download.value.suggested_filename == "dashboard.html"
    assert "EI/J report" in download.value.path().read_text("utf-8")
    assert complaints == []
    own = ("http://127.0.0.1:", "data:", "blob:")
    assert [url for url in asked if not url.startswith(own)] == []
