"""The page Runs without a browser: a folder's runs, one opened, several compared, the bin."""

import io
import shutil
import time
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import pytest

from app.background import kept_runs
from app.background.controller import Controller
from app.pages.run.settings import Settings
from app.pages.runs.comparison import Comparison, Course, at_equal_joules
from app.pages.runs.page import RunsPage
from app.pages.runs.table import row_of
from app.server import visitors
from eij_core import Run, Trial, solve
from eij_core.records import RunFolder, load
from tests.app.processes import until

TRIAL = Trial("nk:n=16,k=2", "ils", "eij", "model", "20 J")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Three repetitions of one rule, three of another."""
    folder = tmp_path_factory.mktemp("made")
    for selector in ("eij", "uniform"):
        for i in range(3):
            trial = replace(TRIAL, selector=selector, repetition=i)
            solve(trial, compiled=False, record=folder / f"{selector}-{i}.parquet")
    return folder


@pytest.fixture
def place(made, tmp_path):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def shelf(place):
    return opened(place)


def opened(place, query=""):
    page = RunsPage(query, SimpleNamespace(runs=place))
    until(lambda: page.watch.ask() and page.watch.known)
    tick(page)
    return page


def tick(page):
    page._looked = 0.0
    return page.tick()


def names(page):
    return [row["name"] for row in page.table.rows]


def test_all_runs_are_there(shelf):
    page = shelf
    assert sorted(names(page)) == [f"{rule}-{i}" for rule in ("eij", "uniform") for i in range(3)]
    row = page.table.rows[0]
    assert (row["state"], row["problem"], row["rule"]) == ("finished", "nk", "uniform")
    assert row["joules_text"].endswith(" J") and row["provenance"] == "simulated"
    assert not page._empty.visible
    assert not tick(page)


def test_an_empty_folder_says_how_to_fill_it(tmp_path):
    page = opened(tmp_path)
    assert page._empty.visible and not page.table.visible
    for way in ("page Run", "eij run --record", "Scheduler(", "eij watch"):
        assert way in page._empty.object
    solve(TRIAL, compiled=False, record=tmp_path)
    until(lambda: tick(page) and names(page))
    assert page.table.visible and not page._empty.visible


def test_a_run_is_followed_and_opened(place):
    run = Run(replace(TRIAL, seed=9), compiled=False, record=place)
    run.recorder._pause = run.recorder._due = 0.0
    page = opened(place, "?page=runs&open=nk-ils-eij-9-0")
    until(lambda: tick(page) or page._run.visible)
    assert not page._list.visible
    run.advance(1)
    until(lambda: tick(page) and page.opened.record is not None)
    until(lambda: tick(page) or len(page.opened.record.rows) == len(run.rows()))
    for _ in run:
        pass
    until(lambda: tick(page) or "Finished" in page.opened._facts.object)
    assert page.opened.views[0]._snapshot.rows["spent"][-1] == run.result().spent.joules
    assert page.link() == "?page=runs&open=nk-ils-eij-9-0"
    kept = page.opened._file("csv")
    (place / "copy.csv").write_bytes(kept.getvalue())
    assert load(place / "copy.csv").digest == run.result().digest
    page.close_run()
    assert page._list.visible and page.link() == "?page=runs"


def test_a_link_to_a_run_that_is_not_there(place):
    page = opened(place, "?page=runs&open=gone")
    assert "one of the 6 runs" in page.alert.object
    assert page._list.visible


def test_statistics_where_there_are_repetitions(place):
    page = opened(place, "?page=runs&compare=eij-0|eij-1|eij-2|uniform-0|uniform-1|uniform-2")
    until(lambda: tick(page) or not page._is_loading())
    tick(page)
    assert page._compared_box.visible
    words = page.compared._table.object
    assert "Mann" in words and "A12" in words and "±" in words
    assert (
        "simulated Joules, meter model"
        in page.compared.figure.pane.object.opts.get().kwargs.get(
            "title", "simulated Joules, meter model"
        )
    )
    page.table.selected = ["eij-0", "uniform-0"]
    assert "Mann" not in page.compared._table.object
    assert "One run a method says little" in page.compared._table.object
    page.table.selected = ["eij-0"]
    assert not page._compared_box.visible


def courses(place, *chosen):
    folder = RunFolder(place)
    folder.look()
    known = {run.name: run for run in folder.runs}
    return [Course.of(known[name], load(folder.path_of(name))) for name in chosen]


def test_runs_are_held_against_each_other_where_all_have_been(place):
    one, other = courses(place, "eij-0", "uniform-0")
    comparison = Comparison((one, other))
    assert comparison.joules == min(one.spent, other.spent)
    assert (
        one.best_at(comparison.joules)
        == one.rows["best"][one.rows["spent"] <= comparison.joules][-1]
    )
    assert not comparison.doubts
    strange = other._replace(run=other.run._replace(task="knapsack", meter="cputime"))
    assert len(Comparison((one, strange)).doubts) == 2


def test_the_better_run_is_the_smaller_where_less_is_better(place):
    found = courses(place, "eij-0", "uniform-0")
    found[1].rows["best"][:] -= 0.1
    ends = [course.best_at(Comparison(tuple(found)).joules) for course in found]
    assert ends[0] != ends[1]
    for sense, top in (("max", max(ends)), ("min", min(ends))):
        turned = [c._replace(run=c.run._replace(sense=sense)) for c in found]
        winner = at_equal_joules(Comparison(tuple(turned))).partition("<tr class='winner'>")[2]
        assert found[ends.index(top)].run.name in winner.partition("</tr>")[0]


def test_rename_delete_and_undo(shelf):
    page = shelf
    page.table.selected = ["eij-0"]
    page._ask_name()
    page.new_name.value = page.new_name.value_input = "the best so far"
    page._try(page.rename)
    assert page.table.selected == ["the best so far"] and not page._naming.visible
    page._ask_name()
    page.new_name.value = page.new_name.value_input = "eij-1"
    page._try(page.rename)
    assert "no other run" in page.alert.object
    page.table.selected = ["the best so far", "eij-1"]
    page._try(page.delete)
    assert len(names(page)) == 4 and page.undo.visible
    assert page.alert.object == "2 runs are deleted."
    page._try(page.bring_back)
    assert {"the best so far", "eij-1"} <= set(names(page)) and not page.undo.visible


def test_downloads(shelf, place):
    page = shelf
    page.table.selected = ["eij-0"]
    assert page._file().getvalue() == (place / "eij-0.parquet").read_bytes()
    page.table.selected = ["eij-0", "eij-1"]
    with zipfile.ZipFile(io.BytesIO(page._file().getvalue())) as file:
        assert sorted(file.namelist()) == ["eij-0.parquet", "eij-1.parquet"]


def test_strange_names_are_shown_as_text(place):
    payload = "<img src=x onerror=hacked>"
    (place / "eij-0.parquet").rename(place / "an & b; 'c'.parquet")
    page = opened(place)
    (line,) = [run for run in page.runs if run.name == "an & b; 'c'"]
    assert row_of(line._replace(problem=payload))["problem"] == payload  # a text node there
    page.open(line.name)
    assert "an &amp; b; &#x27;c&#x27;" in page._title.object


def test_the_dashboard_keeps_its_runs(tmp_path):
    controller = Controller(lambda: TRIAL, Settings(pace=0.0, compare=False))
    controller.record = tmp_path
    controller.start()
    until(lambda: not controller.busy)
    assert controller.stage == "finished"
    folder = RunFolder(tmp_path)
    folder.look()
    assert [(run.name, run.state) for run in folder.runs] == [("nk-ils-eij-0-0", "finished")]


# --- public servers -------------------------------------------------------------------------------


@pytest.fixture
def public(monkeypatch, tmp_path):
    monkeypatch.setenv("EIJ_PUBLIC", "1")
    monkeypatch.setenv("EIJ_RUNS", str(tmp_path / "kept"))
    monkeypatch.setattr(kept_runs, "_cleaned", time.monotonic())
    monkeypatch.setattr(kept_runs, "_bytes", 0)
    return tmp_path / "kept"


class Handler:
    """What a handler of tornado has for a cookie."""

    def __init__(self, **cookies):
        self.request = SimpleNamespace(cookies=cookies, protocol="http")
        self.given = {}

    def set_cookie(self, name, value, **settings):
        self.given[name] = (value, settings)


def test_visitors_of_a_public_server_are_kept_apart(public):
    one, other = Handler(), Handler()
    for handler in (one, other):
        visitors.know_visitor(handler)
        assert handler.given[visitors.COOKIE][1]["httponly"]
    first, second = (kept_runs.runs_of(visitors.visitor_of(each.request)) for each in (one, other))
    assert first != second and first.parent == second.parent == public / "visitors"
    again = Handler(**{visitors.COOKIE: SimpleNamespace(value=first.name)})
    visitors.know_visitor(again)
    assert again.given == {}
    assert kept_runs.runs_of(visitors.visitor_of(again.request)) == first
    for forged in ("../..", "", "x" * 32, first.name + "/.."):
        assert visitors.visitor_of(SimpleNamespace(cookies={visitors.COOKIE: forged})) == ""
    assert kept_runs.runs_of("") is None


def test_what_visitors_leave_expires(public, monkeypatch):
    place = kept_runs.runs_of("a" * 32)
    for i in range(3):
        solve(TRIAL, compiled=False, record=place / f"{i}.parquet")
    monkeypatch.setattr(kept_runs, "VISITOR_RUNS", 2)
    kept_runs.expire()
    assert sorted(path.name for path in place.iterdir()) == ["1.parquet", "2.parquet"]
    monkeypatch.setattr(kept_runs, "ALL_BYTES", 100.0)
    assert kept_runs.runs_of("a" * 32) is None
    monkeypatch.setattr(kept_runs, "VISITOR_SECONDS", -1.0)
    kept_runs.expire()
    assert not place.exists()
    assert kept_runs.runs_of("a" * 32) == place


def test_a_public_page_shows_no_folder(public):
    page = opened(kept_runs.runs_of("b" * 32))
    assert str(public) not in page._empty.object
    assert "only your browser sees your runs" in page._empty.object
