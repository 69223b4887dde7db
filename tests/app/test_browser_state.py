"""The page never shows what is not so: lost servers, settings, infeasible phases, history."""

import os
import re
import signal
from pathlib import Path

import pytest

from tests.app.browsing import PATIENCE, await_open, await_points, link, press, stage
from tests.app.processes import serving, until

pytestmark = pytest.mark.ui


def _field(page, name):
    return page.get_by_role("textbox", name=re.compile(f"^{name}"))


def _enter(page, name, value):
    field = _field(page, name)
    field.click()  # with the focus it shows its number plainly
    field.fill(value)
    field.press("Enter")
    return field


def _child_of(pid):
    """The process that a supervisor watches over."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def test_a_lost_server_is_said_at_once_and_the_page_comes_back(page):
    with serving() as (supervisor, port):
        page.set_default_timeout(PATIENCE)
        page.goto(f"http://127.0.0.1:{port}/app?lesson=&problem=nk&budget=5%20kJ&seed=3&pace=600")
        await_open(page)
        _enter(page, "Seed", "77")
        page.wait_for_url(re.compile("seed=77"))
        press(page, "Run")
        stage(page, "^(Compiling|Running)")
        os.kill(_child_of(supervisor.pid), signal.SIGKILL)
        page.get_by_text("The server cannot be reached").wait_for(timeout=5_000)
        page.get_by_text("Disconnected").wait_for()
        for name in ("Pause", "Step", "Stop", "Reset"):
            assert page.get_by_role("button", name=name, exact=True).is_disabled(), name
        page.get_by_text("Your settings are back").wait_for()
        await_open(page)
        stage(page, "^Ready")
        assert _field(page, "Seed").input_value() == "77"
        assert page.get_by_role("button", name="Run", exact=True).is_enabled()
        assert until(lambda: _child_of(supervisor.pid))


def test_a_field_shows_only_what_will_be_used(visit):
    page = visit(compare="false")
    refused = page.get_by_text("was entered; accepted")
    for name, wrong, before, good in (
        ("Seed", "-1", "3", "4"), ("Seed", str(2**64), "4", "7"), ("Energy budget", "-5", "4", "3")
    ):  # fmt: skip
        field = _enter(page, name, wrong)
        refused.wait_for()
        page.wait_for_function(
            "([e, v]) => Number(e.value) == Number(v)", arg=[field.element_handle(), before]
        )
        _enter(page, name, good)
        refused.wait_for(state="hidden")
    _enter(page, "Seed", "5")
    _enter(page, "Seed", "6")  # once more in the field that has the focus
    page.wait_for_url(re.compile("seed=6"))
    for sign in ("less", "more"):
        assert page.get_by_role("button", name=f"Seed: {sign}").count() == 1


def test_folds_open_by_keyboard(visit):
    page = visit()
    fold = page.get_by_role("button", name="Which meters are alive here?")
    fold.focus()
    assert fold.get_attribute("aria-expanded") == "false"
    page.keyboard.press("Enter")
    page.get_by_text("alive, estimated").wait_for()
    assert fold.get_attribute("aria-expanded") == "true"


def test_a_phase_without_a_feasible_solution_has_a_word(visit):
    page = visit("?lesson=&problem=knapsack&budget=3%20J&pace=0&seed=1&compare=true")
    press(page, "Run")
    stage(page, "^Finished")
    tile = page.locator(".stat", has_text=re.compile("best fitness$"))
    assert tile.locator("b").inner_text() == "infeasible"
    words = page.evaluate(WORDS)
    assert "infeasible" in words
    low, _ = page.evaluate(HEIGHT)
    assert low > -1e6, "the axis follows what is infeasible"
    table = page.locator("table.draws", has_text="best fitness")
    table.get_by_text("infeasible").first.wait_for()


WORDS = """() => Array.from(window.Bokeh.documents[0]._all_models.values())
    .filter(m => m.type == 'ColumnDataSource').map(m => m.data)
    .map(d => (d instanceof Map ? d.get('words') : d.words) ?? [])
    .flatMap(words => Array.from(words)).join()"""
HEIGHT = """() => { const f = Array.from(window.Bokeh.documents[0]._all_models.values())
    .find(m => m.type == 'Figure' && m.name == 'fitness')
    return [f.y_range.start, f.y_range.end] }"""


def test_settings_that_differ_from_what_is_shown(visit):
    page = visit(pace="0", compare="false")
    press(page, "Run")
    stage(page, "^Finished")
    _enter(page, "Seed", "9")
    stage(page, "^Shown: previous run")
    press(page, "Bring its settings back")
    stage(page, "^Finished")
    assert _field(page, "Seed").input_value() == "3"
    _enter(page, "Seed", "9")
    press(page, "Run these settings")
    stage(page, "^Finished")
    page.wait_for_url(re.compile("seed=9"))


def test_a_stopped_run_has_not_used_its_budget(visit):
    page = visit(pace="600", compare="false")
    press(page, "Run")
    await_points(page, "selection", "n > 1")
    press(page, "Stop")
    stage(page, "^Stopped")
    bar = page.get_by_role("progressbar").last  # the first is the page's own, and hidden
    assert int(bar.get_attribute("aria-valuenow")) < 50


def test_back_leads_to_the_page_before_and_edits_leave_no_trace(page, server):
    # Not by `visit`: Bokeh may measure a figure of a page that is opened later before its layout.
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server}{link()}")
    await_open(page)
    entries = page.evaluate("history.length")
    _enter(page, "Seed", "5")
    page.wait_for_url(re.compile("seed=5"))
    page.get_by_role("tab", name="Zoo").click()
    page.wait_for_url(re.compile("page=zoo"))
    page.get_by_role("combobox", name="Costs are").wait_for()
    assert page.evaluate("history.length") == entries + 1
    page.go_back()
    page.wait_for_url(re.compile("seed=5"))
    page.get_by_role("button", name="Step", exact=True).wait_for()
    assert page.get_by_role("tab", name="Run", selected=True).count() == 1
    page.go_forward()
    page.get_by_role("tab", name="Zoo", selected=True).wait_for()
    page.get_by_role("combobox", name="Costs are").wait_for()


def test_a_question_comes_before_its_answer(visit):
    page = visit("")
    await_points(page, "selection", "n > 3")
    assert page.get_by_text("Guess first").count() == 0  # a run is shown, and nothing is asked
    page.get_by_role("combobox", name="Lesson").click()
    page.get_by_role("menuitem", name=re.compile("First steps")).click()
    page.get_by_text("Guess first").wait_for()
    await_points(page, "selection", "n == 0")  # the run that would give the answer away is gone


def test_the_help_is_not_covered_by_its_own_tooltip(visit):
    page = visit()
    button = page.get_by_role("button", name=re.compile("What am I seeing.*bought"))
    button.click()
    page.wait_for_timeout(1200)  # a tooltip would have come by now
    assert page.get_by_role("tooltip").count() == 0
