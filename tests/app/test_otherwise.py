"""What another rule would have chosen, asked from the page."""

import time

import numpy as np
import pytest

from app.otherwise import MOST, Otherwise, told
from app.player import Player
from eij_core.counterfactual import Counterfactual
from tests.app import tiny


@pytest.fixture
def player(tiny_trial):
    made = Player()
    yield made
    made.stop()


def finish(player):
    end = time.monotonic() + 60
    while not player.job.over:
        assert time.monotonic() < end
        time.sleep(0.01)


def answer(view):
    view.start()
    end = time.monotonic() + 60
    while view._work is not None:
        assert time.monotonic() < end
        view.tick()
        time.sleep(0.01)
    return view._told.object


def test_a_finished_run_is_shown_to_another_rule(player, tiny_trial):
    player.start(tiny_trial)
    finish(player)
    view = Otherwise(player, "me")
    view.rule.value = "uniform"
    words = answer(view)
    leader = player.job.leader
    assert "uniform, if shown" in words and "eij, as recorded" in words
    assert "would have gone elsewhere" in words
    for name in leader.names:
        assert name in words


def test_the_rule_of_the_run_is_told_the_run_itself(player, tiny_trial):
    from dataclasses import replace

    player.start(replace(tiny_trial, selector="static:operator=flip-1"))
    finish(player)
    view = Otherwise(player, "me")
    view.rule.value = "static"
    words = answer(view)
    decisions = int(player.job.leader.ledger.decisions[0])
    assert f"In {decisions:,} decisions the two agree in 100%" in words


def test_without_a_finished_run_it_says_so(player):
    view = Otherwise(player, "me")
    view.start()
    assert "Finish a run first" in view._told.object and view._work is None


def test_a_run_that_is_too_long_is_refused(player, tiny_trial):
    player.start(tiny_trial)
    finish(player)
    player.job.leader.ledger.decisions[0] = MOST + 1
    view = Otherwise(player, "me")
    view.start()
    assert "at most" in view._told.object and view._work is None


def test_names_are_shown_as_text():
    chosen = np.array([0, 0], np.int64)
    found = Counterfactual((tiny.PAYLOAD, "b"), chosen, chosen, np.ones(2), tiny.PAYLOAD)
    shown = told(found, tiny.PAYLOAD, tiny.PAYLOAD)
    assert "<img" not in shown and "&lt;img" in shown
