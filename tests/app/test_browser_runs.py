"""The page Runs in a browser: live while another process writes, killed, kept, named, compared."""

import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from eij_core import Trial, solve
from tests.app.browsing import PATIENCE, Watched, link, press, serving, stage

pytestmark = [pytest.mark.ui, pytest.mark.compiled]

TRIAL = Trial("nk:n=16,k=2", "ils", "eij", "model", "20 J")
LOOP = """
import sys, time
from eij_core import Scheduler
scheduler = Scheduler(["near", "far"], meter="model", budget="1 kJ", sense="min", every=1,
                      record=sys.argv[1], compiled=False)
best = 1000.0
for step in scheduler:
    time.sleep(0.02)
    best = step.best = best - 1.0
    step.gain = 1.0
"""
OPEN = "() => document.getElementById('loader') == null"


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A server and the folder of its runs."""
    folder = tmp_path_factory.mktemp("shared")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EIJ_RUNS", str(folder))
        with serving() as port:
            yield port, folder


def come(page, port, query="?page=runs"):
    page.goto(f"http://127.0.0.1:{port}/app{query}")
    page.wait_for_function(OPEN)


def line(page, name):
    return page.locator("tr", has=page.get_by_role("link", name=name, exact=True))


def says(page, name, words):
    line(page, name).get_by_text(re.compile(words)).first.wait_for()


def tick(page, *names):
    for name in names:
        page.get_by_role("checkbox", name=f"Select {name}", exact=True).check()


def test_a_loop_in_another_process_is_followed_until_it_is_killed(shared, page):
    watched = Watched(page)
    port, kept = shared
    come(page, port)
    page.get_by_text("No runs yet").wait_for()
    page.get_by_text("eij watch FOLDER").last.wait_for()
    process = subprocess.Popen([sys.executable, "-c", LOOP, str(kept)], env={**os.environ})
    try:
        says(page, "own-loop-eij-plus-0-0", r"running \d+ %")
        joules = line(page, "own-loop-eij-plus-0-0").locator(".of-joules span")
        first = joules.inner_text()
        page.wait_for_function(
            "([cell, first]) => cell.textContent != first", arg=[joules.element_handle(), first]
        )
        page.get_by_role("link", name="own-loop-eij-plus-0-0", exact=True).click()
        page.get_by_role("heading", name="own-loop-eij-plus-0-0").wait_for()
        decisions = page.locator(".stat", has_text="decisions").locator("b")
        first = decisions.inner_text()
        page.wait_for_function(
            "([cell, first]) => document.body && cell.isConnected === false || "
            "cell.textContent != first",
            arg=[decisions.element_handle(), first],
        )
        assert "open=own-loop-eij-plus-0-0" in page.url or page.wait_for_url("**open=own*")
    finally:
        process.kill()
        process.wait()
    page.get_by_text("Interrupted", exact=True).wait_for()
    press(page, "All runs")
    says(page, "own-loop-eij-plus-0-0", "interrupted")
    watched.check()


def test_a_run_of_the_dashboard_is_there_after_a_reload_and_a_restart(page, tmp_path, monkeypatch):
    monkeypatch.setenv("EIJ_RUNS", str(tmp_path))
    page.set_default_timeout(PATIENCE)  # not watched: a server that goes is complained of
    with serving() as port:
        come(page, port, link())
        press(page, "Run")
        stage(page, "^Finished")
        come(page, port)
        says(page, "tiny-ils-eij-plus-3-0", "finished")
    with serving() as port:
        come(page, port, "?page=runs&open=tiny-ils-eij-plus-3-0")
        page.get_by_role("heading", name="tiny-ils-eij-plus-3-0").wait_for()
        page.get_by_text("Finished", exact=True).wait_for()


def test_names_the_bin_and_comparison(shared, page):
    port, kept = shared
    for path in kept.iterdir():
        path.unlink()
    for selector in ("eij", "uniform"):
        for i in range(2):
            trial = replace(TRIAL, selector=selector, repetition=i)
            solve(trial, compiled=False, record=kept / f"{selector}-{i}.parquet")
    watched = Watched(page)
    come(page, port)
    page.get_by_text("4 runs").wait_for()

    # Filtered and sorted in the browser.
    page.get_by_role("searchbox", name="Filter runs").fill("uniform")
    page.get_by_text("2 of 4 runs").wait_for()
    page.get_by_role("searchbox", name="Filter runs").fill("")
    page.get_by_role("button", name="Run", exact=True).last.click()
    links = page.locator("td.of-name a")
    assert links.all_inner_texts() == ["eij-0", "eij-1", "uniform-0", "uniform-1"]

    # Overlaid and compared; the link holds the choice.
    tick(page, "eij-0", "eij-1", "uniform-0", "uniform-1")
    page.get_by_text("Compared on equal Joules").wait_for()
    page.get_by_text("Mann–Whitney").wait_for()
    page.wait_for_url("**compare=*")
    page.reload()
    page.get_by_text("Mann–Whitney").wait_for()
    page.get_by_text("4 runs · 4 selected").wait_for()
    page.get_by_role("checkbox", name="Select all runs shown").uncheck()
    page.get_by_text("Mann–Whitney").wait_for(state="hidden")

    # Renamed, deleted, brought back.
    tick(page, "eij-0")
    press(page, "Rename")
    page.get_by_label("New name").fill("my best")
    press(page, "Save")
    page.get_by_role("link", name="my best", exact=True).wait_for()
    assert (kept / "my best.parquet").exists()
    press(page, "Delete")
    page.get_by_text("“my best” is deleted.").wait_for()
    page.get_by_text("3 runs").wait_for()
    assert not (kept / "my best.parquet").exists()
    press(page, "Undo")
    page.get_by_role("link", name="my best", exact=True).wait_for()

    tick(page, "my best")
    with page.expect_download() as download:
        press(page, "Download")
    assert download.value.suggested_filename == "my best.parquet"
    watched.check()
