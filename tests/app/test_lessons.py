"""Lessons ask for a guess, and the run's own numbers answer it."""

import dataclasses

import pytest

from app.pages.run.controls import Controls
from app.pages.run.lessons.lessons import LESSONS
from app.pages.run.lessons.verdicts import choices_of, gap_of_choices, versus_uniform
from app.pages.run.settings import Settings
from app.views.snapshot import Curve, snapshot_of_result
from eij_core import solve


@pytest.fixture
def snapshot(tiny_trial):
    uniform = solve(dataclasses.replace(tiny_trial, selector="uniform"))
    lanes = (Curve("uniform", uniform.rows, "uniform"),)
    return snapshot_of_result(solve(tiny_trial), lanes)


def with_totals(snapshot, column, values):
    rows = snapshot.rows.copy()
    rows[column][-1] = values
    return snapshot._replace(rows=rows)


@pytest.mark.parametrize(("share", "right"), [(5, 0), (30, 1), (80, 2)])
def test_a_share_is_judged_by_its_bounds(snapshot, share, right):
    judge = choices_of("flip-5", (10.0, 50.0), "applications")
    verdict = judge(with_totals(snapshot, "applications", [100 - share, share]))
    assert verdict.right == right
    assert f"{share} %" in verdict.words


@pytest.mark.parametrize(("first", "right"), [(80, 0), (20, 1), (53, 2)])
def test_two_operators_are_judged_by_the_gap(snapshot, first, right):
    judge = gap_of_choices(("flip-1", "flip-5"), even=10.0)
    assert judge(with_totals(snapshot, "applications", [first, 100 - first])).right == right


@pytest.mark.parametrize(("best", "right"), [(20.0, 0), (10.05, 1), (9.0, 2)])
def test_uniform_choice_is_the_measure(snapshot, best, right):
    lane = snapshot.others[0]
    rows = lane.rows.copy()
    rows["best"] = 10.0
    snapshot = with_totals(snapshot, "best", best)._replace(others=(lane._replace(rows=rows),))
    assert versus_uniform()(snapshot).right == right


def test_a_run_that_cannot_tell_says_so(snapshot):
    assert choices_of("idle", (1.0, 2.0), "applications")(snapshot).right == -1
    assert gap_of_choices(("a", "b"), 1.0)(snapshot).right == -1
    assert versus_uniform()(snapshot._replace(others=())).right == -1


def test_every_lesson_offers_three_guesses_and_explains():
    for lesson in LESSONS.values():
        assert len(set(lesson.guesses)) == 3
        assert len(lesson.watch) > 60
        assert "selector" in lesson.values  # it does not depend on the page's default


def test_the_guess_is_answered_after_the_run(snapshot):
    controls = Controls(Settings(), lambda *_: None)
    assert controls.guess.value is None
    assert controls._answer.object == ""
    controls.guess.value = "flip-5"
    assert "Press Run" in controls._answer.object
    controls.answer(with_totals(snapshot, "applications", [90, 10]))
    assert "You guessed “flip-5”. It was “flip-1”." in controls._answer.object
    assert [button.label for button in controls.next] and controls.next.visible
    controls.next[0].clicks += 1
    assert controls.settings.seed == 2  # what the first button suggests
    controls.guess.value = "flip-1"
    assert "You guessed “flip-1”. It was “flip-1”." in controls._answer.object
    controls.answer(None)
    assert "Press Run" in controls._answer.object


def test_a_finished_run_keeps_the_answer_until_there_is_a_guess(snapshot):
    controls = Controls(Settings(), lambda *_: None)
    controls.answer(snapshot)
    assert "%" not in controls._answer.object
    controls.guess.value = "flip-1"
    assert "%" in controls._answer.object


def test_the_page_does_not_choose_for_its_reader(snapshot):
    settings = Settings()
    controls = Controls(settings, lambda *_: None)
    guess, rule = controls.guess.get_root(), controls.rule.get_root()
    controls.answer(snapshot)
    assert (controls.guess.value, guess.data.value) == (None, None)
    assert "%" not in controls._answer.object
    settings.selector = "ucb1"  # neither of the two buttons
    assert (controls.rule.value, rule.data.value) == (None, None)
    controls.rule.value = "eij-plus"
    assert settings.selector == "eij-plus"


def test_the_paper_s_rule_is_one_click_away():
    settings = Settings()
    controls = Controls(settings, lambda *_: None)
    assert (settings.selector, controls.rule.value) == ("eij-plus", "eij-plus")
    controls.rule.value = "eij"
    assert settings.selector == "eij"
    assert "alpha" in controls.pickers["selector"].widgets
    settings.selector = "uniform"
    assert controls.rule.value is None
