"""Files out of the page and into it, and texts from outside, in a real browser."""

import dataclasses
import json
import re

import pandas as pd
import pytest

from eij_core import Trial, solve
from eij_core.records import load, write
from tests.app import tiny
from tests.app.browsing import await_points, press, stage

pytestmark = pytest.mark.ui

KNAPSACK = "6 10\n10 5\n7 4\n3 3\n1 9\n5 2\n4 6\n"


def download(page, button, folder):
    with page.expect_download() as found:
        press(page, button)
    name = found.value.suggested_filename
    assert re.fullmatch(r"[A-Za-z0-9._-]+", name)
    found.value.save_as(folder / name)
    return folder / name


def choose(page, field, file):
    """Give a file to a field; its label tells the last file's name, so its class finds it."""
    page.locator(f".{field} input[type=file]").set_input_files(file)


def evil_record(path):
    """A sound record whose operator bears a name that is none."""
    trial = Trial("knapsack:n=20", "ils:steps=4", budget="4 J", seed=3)
    result = solve(trial, compiled=False)
    first, *others = result.operators
    named = (first._replace(name=tiny.PAYLOAD), *others)
    path.write_bytes(write(dataclasses.replace(result, operators=named), ".json"))
    return path


def not_hacked(page):
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x]").count() == 0


def test_runs_out_and_in_again(visit, tmp_path):
    page = visit(pace="0", compare="false", problem="knapsack:n=20", meter="paper")
    press(page, "Run")
    stage(page, "^Finished")
    page.get_by_text("Share and keep").click()
    page.get_by_text("eij run --problem").first.wait_for()
    code = page.locator("pre.code", has_text="import").inner_text()
    compile(code, "snippet", "exec")  # its lines are still lines
    files = {kind: download(page, kind, tmp_path) for kind in ("Parquet", "CSV", "JSON")}
    rows = {kind: load(files[kind]).rows for kind in ("Parquet", "JSON")}
    assert rows["Parquet"].tobytes() == rows["JSON"].tobytes()
    table = pd.read_csv(files["CSV"])  # as it is: no line is to be skipped
    assert len(table) == len(rows["JSON"]) > 5
    assert set(table["provenance"]) == {"simulated"}

    bad = tmp_path / "bad.json"
    bad.write_text(f'{{"names": ["{tiny.PAYLOAD}"]}}')
    choose(page, "file-run", bad)
    page.get_by_text("no record").wait_for()
    press(page, "Reset")
    await_points(page, "selection", "n == 0")

    evil = evil_record(tmp_path / f"{'x' * 90}.json")
    choose(page, "file-run", evil)
    await_points(page, "selection", "n > 3")
    page.get_by_text("<img src=x").first.wait_for()
    not_hacked(page)


def test_an_instance_from_a_file(visit, tmp_path):
    page = visit(problem="knapsack", meter="paper", pace="0", compare="false", budget="4 J")
    bad = tmp_path / "bad <img src=x onerror=window.hacked=1>.kp"
    bad.write_text("2 10\n10 5\n7 <img/src=x/onerror=window.hacked=1>\n")
    choose(page, "file-instance", bad)
    page.get_by_text(re.compile("line 3, column 3")).wait_for()
    not_hacked(page)

    good = tmp_path / "my items.kp"
    good.write_text(KNAPSACK)
    choose(page, "file-instance", good)
    page.get_by_text("6 items, capacity 10").wait_for()
    page.wait_for_url(re.compile("meter=model"))  # the paper has no prices for it
    press(page, "Run")
    stage(page, "^Finished")
    assert page.locator(".stat", has_text="best fitness").locator("b").inner_text() == "18"
    page.get_by_text("Share and keep").click()
    page.get_by_text("knapsack-file:file=my-items.kp").first.wait_for()
    press(page, "Use the numbered instance again")
    page.get_by_text("6 items, capacity 10").wait_for(state="detached")


def test_pictures_of_figures(visit, tmp_path):
    page = visit(pace="0", compare="false")
    press(page, "Run")
    stage(page, "^Finished")
    figure = page.locator(".view-selection .bk-events").first
    figure.scroll_into_view_if_needed()
    figure.hover()  # the tools hide until then
    view = page.locator(".view-selection")
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<svg")):
        button = view.get_by_title(f"Save as {kind.upper()}")
        if not button.is_visible():
            view.locator(".bk-tool-overflow").click()
        with page.expect_download() as found:
            button.click()
        assert found.value.suggested_filename == f"eij-selection.{kind}"
        found.value.save_as(tmp_path / kind)
        assert (tmp_path / kind).read_bytes().startswith(start)
    assert "simulated Joules" in (tmp_path / "svg").read_text("utf-8")  # shown once a page only


def test_payloads_in_a_link_stay_text(visit):
    page = visit(selector=tiny.PAYLOAD, lesson=tiny.PAYLOAD, budget="$$x$$</script>", seed="<b>")
    page.get_by_text("This link held values").wait_for()
    not_hacked(page)


def test_changes_while_running_are_in_the_record(visit, tmp_path):
    page = visit(pace="12", compare="false", selector="eij", problem="knapsack:n=20", meter="paper")
    press(page, "Run")
    stage(page, "^Running")
    slider = page.get_by_role("slider", name=re.compile("alpha"))
    slider.focus()
    for _ in range(5):
        slider.press("ArrowLeft")
    page.wait_for_url(re.compile("alpha"))
    stage(page, "^Finished")
    page.get_by_text("Share and keep").click()
    kept = json.loads(download(page, "JSON", tmp_path).read_text("utf-8"))
    assert "alpha" in json.dumps(kept["eij"]["changes"])


def test_the_solution_is_drawn_and_can_be_kept(visit, tmp_path):
    page = visit(pace="0", compare="false", target="optimum")
    page.get_by_text("No solution yet.").wait_for()
    press(page, "Run")
    stage(page, "^Finished")
    page.get_by_text("24 ones in 24 bits.").wait_for()
    await_points(page, "solution", "n == 24")
    kept = json.loads(download(page, "Solution as JSON", tmp_path).read_text("utf-8"))
    assert kept["solution"] == [1] * 24
    assert (kept["fitness"], kept["optimum"], kept["provenance"]) == (24.0, 24.0, "simulated")
