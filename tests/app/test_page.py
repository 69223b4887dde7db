"""The page without a browser: what a visitor does, and what the document then holds."""

import subprocess
import sys
import time
from dataclasses import replace

import pytest
from bokeh.document import Document

from app.background.controller import Controller
from app.pages.run.page import RunPage
from app.pages.run.settings import Settings
from eij_core import Run
from eij_core.meters.counters import detect
from tests.app import tiny

LIGHT = """
import sys, app
assert not {"panel", "holoviews", "bokeh", "numba"} & set(sys.modules), "import app is not light"
assert "LiveRun" in app.__all__
"""


@pytest.fixture
def dashboard(tiny_problems):
    settings = Settings(**tiny.TINY, budget="4 J", pace=0.0, compare=True, lesson="", seed=3)
    made = RunPage(settings)
    made.main().get_root(Document())
    yield made
    made.close()


def click(button):
    button.clicks += 1


def play(dashboard, condition, seconds=30.0):
    """Tick as the shell would, with a browser that answers."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, dashboard.controller.stage
        dashboard.tick()
        time.sleep(0.01)


def finish(dashboard):
    awake = len(dashboard.views)
    play(dashboard, lambda: dashboard._awake >= awake and "Finished" in dashboard.bar.stage.label)
    dashboard.tick()  # it may have ended between a look at its rows and a look at its stage


def test_a_run_says_that_it_is_interpreted_until_it_is_compiled(dashboard, monkeypatch):
    label = dashboard.bar.stage
    monkeypatch.setattr(Run, "compiling", True, raising=False)
    dashboard.settings.pace = 60.0
    click(dashboard.bar.run)
    play(dashboard, lambda: label.label == "Running: interpreted until compiled")
    assert not dashboard.bar.pause.disabled
    monkeypatch.setattr(Run, "compiling", False)
    play(dashboard, lambda: label.label == "Running")


def drawn(dashboard):
    """The number of points of each line that the document holds."""
    return {
        (view.key, number, key): len(next(iter(source.data.values())))
        for view in dashboard.views
        for number, figure in enumerate(view.figures)
        for key, sources in figure._sources.items()
        for source in sources
    }


def test_a_run_is_drawn_to_its_end(dashboard):
    play(dashboard, lambda: dashboard._awake >= len(dashboard.views))
    click(dashboard.bar.run)
    finish(dashboard)
    result = dashboard.controller.job.leader.result()
    counts = drawn(dashboard)
    assert counts["estimates", 0, "line 0"] == len(result.rows)
    assert counts["selection", 0, "line 1"] == len(result.rows)
    assert counts["fitness", 0, "run"] >= len(result.rows)
    assert counts["fitness", 0, "other 0"] > 10
    assert "Finished" in dashboard.bar.stage.label
    assert not dashboard.share.downloads["json"].disabled


@pytest.mark.long
def test_step_without_a_run_begins_one(dashboard):
    click(dashboard.bar.step)
    play(dashboard, lambda: dashboard.controller.snapshot.tally is not None)
    play(dashboard, lambda: dashboard.controller.snapshot.tally.decisions == 1)
    assert dashboard.controller.stage == "paused"
    assert "Decision 2" in dashboard.views[2]._table.object
    click(dashboard.bar.pause)
    finish(dashboard)


def test_reset_clears_the_views(dashboard):
    click(dashboard.bar.run)
    finish(dashboard)
    click(dashboard.bar.reset)
    assert len(dashboard.controller.snapshot.rows) == 0
    assert dashboard.controller.stage == "idle"
    assert set(drawn(dashboard).values()) <= {0, 1, 2, 3}


def test_run_twice_is_one_run(dashboard):
    dashboard.settings.budget = "1 MJ"
    click(dashboard.bar.run)
    first = dashboard.controller.job
    click(dashboard.bar.run)
    first.join(10)
    assert first.over
    assert dashboard.controller.job is not first


def test_a_bad_setting_is_told_at_its_field_and_nothing_starts(dashboard):
    dashboard.settings.budget = "0 J"
    click(dashboard.bar.run)
    assert dashboard.controller.job is None
    assert dashboard.controls._problem.visible
    dashboard.settings.budget = "4 J"
    dashboard.controls.pickers["selector"].widgets["exploration"].value = 0.2
    click(dashboard.bar.run)
    assert not dashboard.controls._problem.visible
    assert dashboard.controller.job is not None


def test_a_meter_that_is_not_alive_is_told_at_its_field(tmp_path, monkeypatch, tiny_problems):
    monkeypatch.setenv("EIJ_POWERCAP_ROOT", str(tmp_path / "powercap"))
    dashboard = RunPage(Settings(**{**tiny.TINY, "meter": "powercap"}))
    picker = dashboard.controls.pickers["meter"]
    assert "kernel without powercap" in picker._problem.object and picker._problem.visible
    assert not dashboard.controls._problem.visible
    assert dashboard.controller.snapshot.energy == "no Joules, meter powercap"
    assert dashboard.bar.energy.label == "no meter"
    click(dashboard.bar.run)
    assert dashboard.controller.job is None
    assert "Which meters are alive here?" in dashboard._failure.object
    dashboard.settings.meter = "model"
    assert not picker._problem.visible
    assert dashboard.bar.energy.label == "simulated energy"
    dashboard.close()


def test_the_choice_of_auto_is_made_once_for_all_clicks(tiny_trial, monkeypatch):
    opened = []
    found = detect.detect
    monkeypatch.setattr(detect, "detect", lambda: opened.append(1) or found())
    detect._auto_info.cache_clear()
    trial = replace(tiny_trial, meter="auto")
    controller = Controller(lambda: trial, Settings())
    for _ in range(2):
        controller.preview()
    assert opened == [1]
    assert controller.snapshot.provenance in ("measured", "attributed", "estimated")


def test_a_failure_is_shown_escaped(dashboard):
    dashboard.settings.problem = "raises"
    dashboard.settings.budget = "50 J"
    click(dashboard.bar.run)
    play(dashboard, lambda: dashboard.controller.stage == "failed")
    play(dashboard, lambda: dashboard._failure.visible)
    assert "<" not in dashboard._failure.object


@pytest.mark.long
def test_a_lesson_sets_everything(dashboard):
    dashboard.controls.lesson.value = "small-alpha"
    assert dashboard.settings.problem == "nk"
    assert dashboard.settings.seed == 2
    assert dashboard.controls.pickers["selector"].widgets["alpha"].value == 0.05
    assert "Guess first" in dashboard.controls._question.object


def test_leaving_a_lesson_with_parts_of_its_own(dashboard):
    dashboard.controls.lesson.value = "dear-twin"
    assert not dashboard.settings.trial().is_data
    dashboard.controls.pickers["algorithm"].select.value = "ssga"
    assert dashboard.settings.lesson == ""
    assert dashboard.settings.trial().is_data


@pytest.mark.long
def test_the_history_is_overlaid(dashboard):
    for _ in range(2):
        click(dashboard.bar.run)
        finish(dashboard)
        dashboard.tick()
    dashboard.share.refresh()
    first = dashboard.share.past.options[0]
    dashboard.share.past.value = [first]
    assert any(lane.label == first for lane in dashboard.controller.snapshot.others)


def test_replay_shows_an_earlier_moment(dashboard):
    click(dashboard.bar.run)
    finish(dashboard)
    whole = drawn(dashboard)["selection", 0, "line 0"]
    dashboard.bar.replay.value = 50.0
    assert drawn(dashboard)["selection", 0, "line 0"] == pytest.approx(whole / 2, abs=2)
    dashboard.bar.replay.value = 100.0
    assert drawn(dashboard)["selection", 0, "line 0"] == whole


def test_a_controller_needs_no_page(tiny_trial):
    controller = Controller(lambda: tiny_trial, Settings(pace=0.0, compare=True))
    controller.start()
    while controller.busy:
        controller.news()
        time.sleep(0.005)
    controller.news()
    assert controller.snapshot.tally.decisions == controller.snapshot.rows["decision"][-1]
    assert len(controller.snapshot.others) == 3
    assert not controller.news()


@pytest.mark.long
def test_a_refused_adjustment_is_shown_at_the_rule_until_one_is_accepted(dashboard):
    dashboard.settings.budget = "1 MJ"
    click(dashboard.bar.run)
    play(dashboard, lambda: dashboard.controller.stage == "running")
    picker = dashboard.controls.pickers["selector"]
    # A parameter of another rule than the one that runs.
    picker.select.value = "eij"
    picker.widgets["alpha"].value = 0.3
    play(dashboard, lambda: picker._problem.visible)
    assert "alpha" in picker._problem.object
    assert not dashboard.controls._problem.visible and not dashboard._failure.visible
    assert dashboard.controller.stage == "running"
    picker.select.value = "eij-plus"
    picker.widgets["exploration"].value = 0.3
    play(dashboard, lambda: not picker._problem.visible)
    click(dashboard.bar.stop)
    play(dashboard, lambda: dashboard.controller.stage == "stopped")


def test_importing_app_is_light():
    subprocess.run([sys.executable, "-c", LIGHT], check=True, timeout=60)


def test_the_entry_is_three_lines():
    from pathlib import Path

    import app

    lines = Path(app.__file__).with_name("main.py").read_text().splitlines()
    assert len([line for line in lines if line]) == 3


def test_the_server_s_settings_are_safe(monkeypatch):
    from app.server.serve import arguments, environment

    monkeypatch.delenv("BOKEH_SECRET_KEY", raising=False)
    command = arguments("127.0.0.1", 5006)
    assert command[command.index("--session-ids") + 1] == "signed"
    assert "*" not in command
    assert not {"--admin", "--dev", "--autoreload"} & set(command)
    made = environment(public=True)
    assert len(made["BOKEH_SECRET_KEY"]) > 40
    assert (made["EIJ_PUBLIC"], made["EIJ_WARM"]) == ("1", "0")
    assert not any(made["BOKEH_SECRET_KEY"] in word for word in command)


def test_a_problem_that_the_paper_has_no_prices_for_changes_the_meter():
    settings = Settings()
    page = RunPage(settings)
    settings.problem = "maxcut:n=30"
    assert settings.meter == "model"
    settings.problem = "nk:n=20"
    assert settings.meter == "model"
    page.close()
