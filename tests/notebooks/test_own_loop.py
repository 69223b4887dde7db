"""Widgets that follow a scheduler while somebody's own loop asks it; without a browser."""

import threading

import pytest

pytest.importorskip("panel")

from app import EijView, FitnessView, LiveRun
from eij_core import RunError, Scheduler

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


@pytest.fixture
def scheduler():
    return Scheduler(
        ["near", "far"], meter="model", budget="2 J", sense="min", compiled=False, every=1
    )


def go(scheduler, steps):
    for count, step in enumerate(scheduler, 1):
        step.gain, step.best = 1.0, 1000.0 - scheduler.run.ledger.decisions[0]
        if count == steps:
            return


def test_views_follow_a_loop_in_the_foreground(scheduler):
    live = LiveRun(scheduler)
    view = EijView(live)
    assert (live.stage, live.result, len(live.frame)) == ("idle", None, 0)
    live.__panel__()
    for steps in (1, 5, 20):
        go(scheduler, steps)
        scheduler.run.settle()
        assert live.stage == "running"
        assert len(live.frame) == len(scheduler.run.rows())
        live._look()
        assert len(view._snapshot.rows) == len(scheduler.run.rows())
        assert view._snapshot.tally.decisions == scheduler.run.ledger.decisions[0]
    assert live.result.meter.provenance == "simulated"
    go(scheduler, 10**6)
    assert live.wait(10).stage == "finished"
    assert live.result.digest == scheduler.result().digest
    assert view._snapshot.rows.tobytes() == scheduler.result().rows.tobytes()


def test_the_painter_looks_while_the_cell_is_busy(scheduler, monkeypatch):
    """What the browser test sees, in one process: the loop holds the main thread."""
    live = LiveRun(scheduler, views=("fitness",))
    seen = []
    view = live.views[0]
    show = view.show
    monkeypatch.setattr(view, "show", lambda snapshot, story: (seen.append((
        len(snapshot.rows), threading.current_thread().name)), show(snapshot, story)))  # fmt: skip
    live.__panel__()
    enough = threading.Event()
    for step in scheduler:
        step.gain = 1.0
        enough.wait(0.005)
        if len({rows for rows, _ in seen}) > 4:
            break
    assert {name for rows, name in seen if rows} == {"eij-painter"}


def test_stop_and_adjust_and_nothing_else(scheduler):
    live = LiveRun(scheduler)
    go(scheduler, 3)
    live.adjust(near_miss=0.25)
    assert scheduler.run.selector.near_miss == 0.25
    live.adjust(nonsense=1)
    assert "nonsense" in str(live.problem)
    for command in (live.pause, live.step, live._controller.resume):
        with pytest.raises(RunError, match="your own loop makes the steps"):
            command()
    live.stop()
    assert live.stage == "stopped"
    assert scheduler.ask() is None


def test_a_view_alone_shows_where_a_scheduler_stands(scheduler):
    view = FitnessView(scheduler)
    assert len(view._snapshot.rows) == 0
    go(scheduler, 4)
    scheduler.run.settle()
    view.bind(scheduler)
    assert len(view._snapshot.rows) == 5
