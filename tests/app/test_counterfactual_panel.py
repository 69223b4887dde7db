"""What another rule would have chosen, asked from the page."""

import time

import numpy as np
import pytest

from app.background.controller import Controller
from app.pages.run.counterfactual import MOST, CounterfactualPanel, describe
from app.pages.run.settings import Settings
from eij_core.records.counterfactual import Counterfactual
from tests.app import tiny


@pytest.fixture
def controller(tiny_trial):
    made = Controller(lambda: made.trial, Settings(pace=0.0, compare=False))
    made.trial = tiny_trial
    yield made
    made.stop()


def finish(controller):
    end = time.monotonic() + 60
    while not controller.job.over:
        assert time.monotonic() < end
        time.sleep(0.01)


def answer(view):
    view.start()
    end = time.monotonic() + 60
    while view.job is not None:
        assert time.monotonic() < end
        view.tick()
        time.sleep(0.01)
    return view.answer.object


def test_a_finished_run_is_shown_to_another_rule(controller, tiny_trial):
    controller.start()
    finish(controller)
    view = CounterfactualPanel(controller)
    view.rule.value = "uniform"
    words = answer(view)
    leader = controller.job.leader
    assert "uniform, if shown" in words and "eij, as recorded" in words
    assert "would have gone elsewhere" in words
    for name in leader.names:
        assert name in words


def test_the_rule_of_the_run_is_told_the_run_itself(controller, tiny_trial):
    from dataclasses import replace

    controller.trial = replace(tiny_trial, selector="static:operator=flip-1")
    controller.start()
    finish(controller)
    view = CounterfactualPanel(controller)
    view.rule.value = "static"
    words = answer(view)
    decisions = int(controller.job.leader.ledger.decisions[0])
    assert f"In {decisions:,} decisions the two agree in 100%" in words


def test_without_a_finished_run_it_says_so(controller):
    view = CounterfactualPanel(controller)
    view.start()
    assert "Finish a run first" in view.answer.object and view.job is None


def test_a_run_that_is_too_long_is_refused(controller, tiny_trial):
    controller.start()
    finish(controller)
    controller.job.leader.ledger.decisions[0] = MOST + 1
    view = CounterfactualPanel(controller)
    view.start()
    assert "at most" in view.answer.object and view.job is None


def test_names_are_shown_as_text():
    chosen = np.array([0, 0], np.int64)
    found = Counterfactual((tiny.PAYLOAD, "b"), chosen, chosen, np.ones(2), tiny.PAYLOAD)
    shown = describe(found, tiny.PAYLOAD, tiny.PAYLOAD)
    assert "<img" not in shown and "&lt;img" in shown
